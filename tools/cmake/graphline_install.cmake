# Installing, and what find_package(graphline) finds afterwards: graphline::core, graphline::devices
# with graphline::host and, where it was built, graphline::cuda, graphline::stages, and for plug-ins
# graphline::plugin, with the libraries that the static ones need.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/graphline)

get_property(libraries GLOBAL PROPERTY GRAPHLINE_LIBRARIES)
install(TARGETS ${libraries} EXPORT graphline_targets ARCHIVE)
install(EXPORT graphline_targets NAMESPACE graphline:: DESTINATION ${package_dir})

configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/graphline-config.cmake.in
  ${PROJECT_BINARY_DIR}/graphline-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/graphline-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/graphline-config.cmake
  ${PROJECT_BINARY_DIR}/graphline-config-version.cmake
  DESTINATION ${package_dir})

# The headers keep their paths, so that they find each other as they do in the source tree.
set(include_dir ${CMAKE_INSTALL_INCLUDEDIR}/graphline)
install(DIRECTORY framework DESTINATION ${include_dir} FILES_MATCHING PATTERN "*.hpp")
install(FILES stages/builtin.hpp DESTINATION ${include_dir}/stages)

install(DIRECTORY pipelines DESTINATION ${CMAKE_INSTALL_DATADIR}/graphline)
