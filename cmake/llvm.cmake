# libmansard_llvm.so: all that stands on LLVM, opened by support/plugin.hpp when first needed. It exports only its
# extern "C" entries (mansard_*) and holds its own copy of our libraries that it uses.
find_package(LLVM 19.1 REQUIRED CONFIG)

file(GLOB_RECURSE sources CONFIGURE_DEPENDS model/compile/*.cpp frontend/llvm/*.cpp)
add_library(mansard_llvm SHARED ${sources})
target_compile_features(mansard_llvm PRIVATE cxx_std_20)
target_include_directories(mansard_llvm SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
target_compile_definitions(mansard_llvm PRIVATE ${LLVM_DEFINITIONS})
target_link_libraries(mansard_llvm PRIVATE mansard::model LLVM)
target_precompile_headers(mansard_llvm PRIVATE <llvm/IR/IRBuilder.h> <llvm/IR/Module.h> <fmt/format.h>)

set(exports ${CMAKE_CURRENT_LIST_DIR}/llvm.exports)
target_link_options(mansard_llvm PRIVATE -Wl,--version-script=${exports} -Wl,-Bsymbolic)
set_target_properties(mansard_llvm PROPERTIES LINK_DEPENDS ${exports})
install(TARGETS mansard_llvm LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
