# The target `bundle` makes graphline-bundle.tar.xz in the build folder: what checking Graphline
# takes on a machine with a GPU and nothing else installed. It unpacks anywhere, into one folder
# with the command gpu_check. cuDNN, cuBLASLt and the driver are not in it: they are found where it
# runs.

if(NOT GRAPHLINE_TESTS)
  return()
endif()

set(programs graphline)
get_property(gpu_tests GLOBAL PROPERTY GRAPHLINE_GPU_TESTS)
foreach(program IN ITEMS ${gpu_tests} host_conformance_test launch_cost_bench gpu_probe)
  if(TARGET ${program})
    list(APPEND programs ${program})
  endif()
endforeach()

# Programs look for libraries in the folder beside theirs first, for those that other libraries need
# as well: DT_RPATH, where DT_RUNPATH would only hold for the program's own.
set_target_properties(${programs} PROPERTIES
  BUILD_RPATH "$ORIGIN/../lib;${CMAKE_BUILD_RPATH}"
  INSTALL_RPATH "$ORIGIN/../lib")
foreach(program IN LISTS programs)
  target_link_options(${program} PRIVATE -Wl,--disable-new-dtags)
endforeach()

set(part COMPONENT bundle EXCLUDE_FROM_ALL)
install(TARGETS ${programs} RUNTIME_DEPENDENCY_SET bundled_libraries
  RUNTIME DESTINATION bin ${part})
# Every machine has the C library, which belongs with its kernel and its loader, and the compiler's
# libraries, which belong with that: this machine's may want a newer one than the other machine has.
install(RUNTIME_DEPENDENCY_SET bundled_libraries
  PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|resolv|util|anl)\\.so"
    "^lib(stdc\\+\\+|gcc_s)\\.so" "^libcuda\\.so"
  LIBRARY DESTINATION lib ${part}
  RUNTIME DESTINATION lib ${part}
  FRAMEWORK DESTINATION lib ${part})
install(PROGRAMS tools/gpu_check DESTINATION . ${part})
install(DIRECTORY tools/checking DESTINATION . ${part} FILES_MATCHING PATTERN "*.py")
install(DIRECTORY pipelines DESTINATION . ${part})
install(FILES tests/bench/two_models_torch.py DESTINATION bench ${part})
install(FILES tests/stages/references/cases.yaml DESTINATION references ${part})
install(DIRECTORY tests/stages/references/weights DESTINATION references ${part})
install(FILES LICENSE DESTINATION . ${part})

set(folder ${PROJECT_BINARY_DIR}/bundle)
add_custom_target(bundle
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${folder}
  COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --component bundle --strip
    --prefix ${folder}/graphline
  COMMAND ${CMAKE_COMMAND} -E chdir ${folder}
    ${CMAKE_COMMAND} -E tar cJf ${PROJECT_BINARY_DIR}/graphline-bundle.tar.xz graphline
  DEPENDS ${programs}
  COMMENT "graphline-bundle.tar.xz"
  VERBATIM)

if(TARGET project_tests_need)
  add_dependencies(project_tests_need ${programs})  # a test unpacks it
endif()
