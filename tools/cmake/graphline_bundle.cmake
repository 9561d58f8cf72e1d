# The target `bundle` makes graphline-bundle.tar.xz in the build folder, to check Graphline on a
# machine with a GPU and nothing else installed. It unpacks anywhere into one folder with the
# command gpu_check. cuDNN, cuBLASLt and the driver come from that machine.

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

# Programs search the neighboring lib folder first, also for dependencies of libraries: DT_RPATH,
# since DT_RUNPATH applies only to the program's own.
set_target_properties(${programs} PROPERTIES
  BUILD_RPATH "$ORIGIN/../lib;${CMAKE_BUILD_RPATH}"
  INSTALL_RPATH "$ORIGIN/../lib")
foreach(program IN LISTS programs)
  target_link_options(${program} PRIVATE -Wl,--disable-new-dtags)
endforeach()

set(part COMPONENT bundle EXCLUDE_FROM_ALL)
install(TARGETS ${programs} RUNTIME_DEPENDENCY_SET bundled_libraries
  RUNTIME DESTINATION bin ${part})
# Every machine has its own C library and compiler runtime. This machine's could need a newer kernel
# or loader.
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
option(GRAPHLINE_BUNDLE_MODELS "Add the models of pipelines/ocr.yaml (16 MB) to the bundle" OFF)
if(GRAPHLINE_BUNDLE_MODELS)
  install(DIRECTORY build/models/ppocr_v4 DESTINATION build/models ${part})
endif()

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
