include(CMakePackageConfigHelpers)

set(libraries data support ir hardware frontend traces model validate)
add_library(mansard_all INTERFACE)
add_library(mansard::mansard ALIAS mansard_all)
set_target_properties(mansard_all PROPERTIES EXPORT_NAME mansard)
list(TRANSFORM libraries PREPEND mansard_ OUTPUT_VARIABLE targets)
target_link_libraries(mansard_all INTERFACE ${targets})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/mansard)
install(TARGETS ${targets} mansard_all EXPORT mansard-targets FILE_SET HEADERS DESTINATION ${MANSARD_INCLUDE_DIR})
install(EXPORT mansard-targets NAMESPACE mansard:: DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/mansard-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/mansard-config.cmake ${PROJECT_BINARY_DIR}/mansard-config-version.cmake DESTINATION ${package_dir})

install(TARGETS mansard)
set(completion_dir ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(CODE "
  set(completion \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${completion_dir}/mansard\")
  message(STATUS \"Installing: \${completion}\")
  file(MAKE_DIRECTORY \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${completion_dir}\")
  execute_process(COMMAND $<TARGET_FILE:mansard> completion bash OUTPUT_FILE \"\${completion}\" COMMAND_ERROR_IS_FATAL ANY)
")
