# graphline_library(NAME [ONCE] SOURCES ... [ARITHMETIC ...] USES ... PRIVATE_USES ...)
#   A folder of the framework as a static library, graphline::NAME. ONCE: its code runs once per
#   command, not per frame, so -O1 suffices and compiles in a quarter less time than -O2.
#   ARITHMETIC: sources with OpenMP loops, or loops that are worth -O3. USES: libraries that its
#   headers need; PRIVATE_USES: those that only its sources need, beside fmt.
function(graphline_library name)
  cmake_parse_arguments(ARG "ONCE" "" "SOURCES;ARITHMETIC;USES;PRIVATE_USES" ${ARGN})
  add_library(graphline_${name} STATIC ${ARG_SOURCES} ${ARG_ARITHMETIC})
  add_library(graphline::${name} ALIAS graphline_${name})
  set_target_properties(graphline_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(graphline_${name} PUBLIC cxx_std_20)
  target_include_directories(graphline_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/framework>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/graphline>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/graphline/framework>)
  target_link_libraries(graphline_${name} PUBLIC ${ARG_USES}
    PRIVATE ${ARG_PRIVATE_USES} fmt::fmt $<BUILD_INTERFACE:graphline_warnings>)
  target_compile_options(graphline_${name} PRIVATE
    $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:$<IF:$<BOOL:${ARG_ONCE}>,-O1,-O2>>)
  # Sources with their own options are not part of unity builds. OpenMP's macro prevents gcc from
  # using precompiled headers. Loops with std::sqrt are vectorized only if it sets no errno.
  set_source_files_properties(${ARG_ARITHMETIC} PROPERTIES
    COMPILE_OPTIONS "${OpenMP_CXX_FLAGS};-fno-math-errno;$<$<CONFIG:Release>:-O3>"
    SKIP_PRECOMPILE_HEADERS ON)
  graphline_precompile(graphline_${name})
  graphline_compile_together(graphline_${name})
  set_property(GLOBAL APPEND PROPERTY GRAPHLINE_LIBRARIES graphline_${name})
endfunction()

# graphline_precompile(TARGET [HEADER])
#   Precompiles the headers that most sources include, once for all libraries; with HEADER, for
#   TARGET alone. Sources still include what they use: sanitizer builds do without.
function(graphline_precompile target)
  set(headers <algorithm> <functional> <map> <memory> <optional> <span> <string> <string_view>
    <utility> <variant> <vector> <fmt/format.h> ${ARGN})
  get_property(first GLOBAL PROPERTY GRAPHLINE_PRECOMPILED)
  if(GRAPHLINE_SANITIZE)
    return()
  endif()
  # ccache needs this option.
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
  if(ARGN)
    target_precompile_headers(${target} PRIVATE ${headers})
  elseif(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${headers})
    set_property(GLOBAL PROPERTY GRAPHLINE_PRECOMPILED ${target})
  endif()
endfunction()

# graphline_compile_together(TARGET)
#   A unity build of the target, which more than halves its build time; for frequent changes to one
#   source, set CMAKE_UNITY_BUILD_BATCH_SIZE to 4. File-local types and variables need unique names
#   within the target, and so do functions unless they overload each other. Sanitizer builds, which
#   run the same tests, do without and reveal missing includes and accidental uses of another
#   source's names.
function(graphline_compile_together target)
  if(NOT GRAPHLINE_SANITIZE)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON)
    if(NOT CMAKE_UNITY_BUILD_BATCH_SIZE)
      set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 24)
    endif()
    # It takes each source for a header that others could include too.
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# graphline_test(NAME [GPU] SOURCES ... USES ... [SECONDS N])
#   A GoogleTest program. Its tests are ctest's, with the prefix NAME and their folder of tests/ as
#   label. With sanitizers, a program of the folder stages is one test: starting it takes longer
#   than most of its tests, and these do not change the process, as others may. GPU: some of its
#   tests need a GPU and are skipped without one; all have the label `gpu`, and the program is in
#   the bundle. SECONDS: time limit of a test, 60 by default, which finds hangs soon; longer with
#   sanitizers.
function(graphline_test name)
  cmake_parse_arguments(ARG "GPU" "SECONDS" "SOURCES;USES" ${ARGN})
  if(GRAPHLINE_SANITIZE)
    set(ARG_SECONDS 300)
  elseif(NOT ARG_SECONDS)
    set(ARG_SECONDS 60)
  endif()
  add_executable(${name}_test ${ARG_SOURCES})
  target_link_libraries(${name}_test PRIVATE ${ARG_USES} GTest::gmock GTest::gtest_main
    graphline_warnings)
  target_compile_definitions(${name}_test PRIVATE
    GRAPHLINE_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    GRAPHLINE_TEST_DIR="${CMAKE_CURRENT_SOURCE_DIR}")
  # Shared headers take most of the compile time.
  set_target_properties(${name}_test PROPERTIES UNITY_BUILD ON)
  # Tests are not optimized, to build faster; the tested libraries are.
  target_compile_options(${name}_test PRIVATE
    $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR}/tests ${CMAKE_CURRENT_SOURCE_DIR})
  string(REGEX REPLACE "/.*" "" folder ${folder})
  if(GRAPHLINE_SANITIZE AND folder STREQUAL "stages")
    add_test(NAME ${name} COMMAND ${name}_test)
    set_tests_properties(${name} PROPERTIES LABELS ${folder} TIMEOUT 1800)
    return()
  endif()
  gtest_discover_tests(${name}_test TEST_PREFIX ${name}/ DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS ${folder} TIMEOUT ${ARG_SECONDS})
  if(ARG_GPU)
    set_property(GLOBAL APPEND PROPERTY GRAPHLINE_GPU_TESTS ${name}_test)
    # gtest_discover_tests accepts no list as a value; ctest reads this file after the tests.
    set(labels ${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake)
    file(WRITE ${labels}
      "set_tests_properties(\${${name}_test_TESTS} PROPERTIES LABELS \"${folder};gpu\")\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${labels})
  endif()
endfunction()
