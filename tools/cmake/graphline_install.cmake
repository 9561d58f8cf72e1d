# Installation: the component `program` has the program, its manual page and completions;
# `development` has what find_package(graphline) provides: graphline::core, graphline::pipeline,
# graphline::devices with graphline::host and, if built, graphline::cuda, graphline::stages, and for
# plug-ins graphline::plugin, with their dependencies.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/graphline)

get_property(libraries GLOBAL PROPERTY GRAPHLINE_LIBRARIES)
install(TARGETS ${libraries} EXPORT graphline_targets ARCHIVE COMPONENT development)
install(EXPORT graphline_targets NAMESPACE graphline:: DESTINATION ${package_dir}
  COMPONENT development)

configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/graphline-config.cmake.in
  ${PROJECT_BINARY_DIR}/graphline-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/graphline-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/graphline-config.cmake
  ${PROJECT_BINARY_DIR}/graphline-config-version.cmake
  DESTINATION ${package_dir} COMPONENT development)

# Headers keep their paths, since they include each other by them.
set(include_dir ${CMAKE_INSTALL_INCLUDEDIR}/graphline)
install(DIRECTORY framework DESTINATION ${include_dir} COMPONENT development
  FILES_MATCHING PATTERN "*.hpp")
install(FILES stages/builtin.hpp DESTINATION ${include_dir}/stages COMPONENT development)

install(DIRECTORY pipelines DESTINATION ${CMAKE_INSTALL_DATADIR}/graphline COMPONENT program)
install(FILES LICENSE RENAME copyright
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/graphline COMPONENT program)

# The program prints its manual page and completions, so they have all its options.
set(page ${PROJECT_BINARY_DIR}/graphline.1)
set(completion ${PROJECT_BINARY_DIR}/graphline)
install(CODE "
  execute_process(COMMAND \"${PROJECT_BINARY_DIR}/bin/graphline\" manual
    OUTPUT_FILE \"${page}\" COMMAND_ERROR_IS_FATAL ANY)
  foreach(shell bash zsh fish)
    execute_process(COMMAND \"${PROJECT_BINARY_DIR}/bin/graphline\" manual --completion \${shell}
      OUTPUT_FILE \"${completion}.\${shell}\" COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  file(ARCHIVE_CREATE OUTPUT \"${page}.gz\" PATHS \"${page}\" FORMAT raw COMPRESSION GZip)"
  COMPONENT program)
install(FILES ${page}.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
install(FILES ${completion}.bash RENAME graphline
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
install(FILES ${completion}.zsh RENAME _graphline
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT program)
install(FILES ${completion}.fish RENAME graphline.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)

# `cpack` makes a Debian package of the program that depends on its linked libraries.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The Graphline project")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
if(PROJECT_IS_TOP_LEVEL)
  include(CPack)
endif()
