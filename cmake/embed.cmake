# mansard_embed(TARGET): a library that holds every .yaml of hardware/ and frontend/ as the table of
# support/embedded.hpp. Adding a machine or a model is adding its file.
#
# The same file, run as a script, writes that table: cmake -D ROOT= -D LIST= -D OUTPUT= -P embed.cmake

function(mansard_embed target)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} hardware/*.yaml frontend/*.yaml)
  list(SORT files)
  set(list ${PROJECT_BINARY_DIR}/generated/embedded.txt)
  set(output ${PROJECT_BINARY_DIR}/generated/embedded.cpp)
  # Rewritten only when it differs, so that a file taken away makes a new table too.
  list(JOIN files "\n" lines)
  file(CONFIGURE OUTPUT ${list} CONTENT "${lines}\n" @ONLY)

  list(TRANSFORM files PREPEND ${PROJECT_SOURCE_DIR}/)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -D ROOT=${PROJECT_SOURCE_DIR} -D LIST=${list} -D OUTPUT=${output} -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    DEPENDS ${files} ${list} ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    COMMENT "Embedding machines and models")
  add_library(${target} STATIC ${output})
  add_library(mansard::data ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME data)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
endfunction()

function(write_table)
  file(STRINGS ${LIST} paths)
  list(LENGTH paths count)
  set(rows "")
  foreach(path IN LISTS paths)
    file(READ ${ROOT}/${path} text)
    string(APPEND rows "    EmbeddedFile{\"${path}\"sv, R\"yaml~(${text})yaml~\"sv},\n")
  endforeach()
  file(WRITE ${OUTPUT} "#include \"support/embedded.hpp\"

#include <array>
#include <string_view>

namespace mansard {
namespace {

using namespace std::string_view_literals;

// A literal with its length: finding it would take more steps than a constant expression may.
constexpr std::array<EmbeddedFile, ${count}> kFiles{
${rows}};

}  // namespace

std::span<const EmbeddedFile> embedded_files() { return kFiles; }

}  // namespace mansard
")
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  write_table()
endif()
