include(GNUInstallDirs)
set(MANSARD_INCLUDE_DIR ${CMAKE_INSTALL_INCLUDEDIR}/mansard-${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

# mansard_library(FOLDER [PUBLIC target...] [PRIVATE target...])
# The static library mansard_FOLDER, also called mansard::FOLDER, of every .cpp (but main.cpp) and .hpp below the
# current folder. Headers are included from the root of the tree: "ir/expr.hpp".
function(mansard_library folder)
  cmake_parse_arguments(arg "" "" "PUBLIC;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS *.hpp)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  if(NOT sources)
    set(sources ${CMAKE_CURRENT_BINARY_DIR}/empty.cpp)
    file(CONFIGURE OUTPUT ${sources} CONTENT "")
  endif()

  add_library(mansard_${folder} STATIC ${sources})
  add_library(mansard::${folder} ALIAS mansard_${folder})
  set_target_properties(mansard_${folder} PROPERTIES EXPORT_NAME ${folder})
  target_compile_features(mansard_${folder} PUBLIC cxx_std_20)
  target_sources(mansard_${folder} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${headers})
  target_link_libraries(mansard_${folder} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})
endfunction()
