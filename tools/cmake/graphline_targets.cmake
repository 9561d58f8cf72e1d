# graphline_library(NAME [ONCE] SOURCES ... [ARITHMETIC ...] USES ... PRIVATE_USES ...)
#   One folder of the framework as a static library, graphline::NAME. ONCE: what it does is done
#   once for a command and not for each frame, so that -O1 is enough, which takes a quarter less
#   time to compile than -O2. ARITHMETIC: sources whose loops OpenMP shares among threads or are
#   worth the time that -O3 takes to compile. USES: libraries its headers need; PRIVATE_USES: those
#   that only its sources need, beside fmt.
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
  # A source with options of its own is compiled by itself. OpenMP defines a macro that keeps gcc
  # from using the precompiled headers.
  set_source_files_properties(${ARG_ARITHMETIC} PROPERTIES
    COMPILE_OPTIONS "${OpenMP_CXX_FLAGS};$<$<CONFIG:Release>:-O3>" SKIP_PRECOMPILE_HEADERS ON)
  graphline_precompile(graphline_${name})
  graphline_compile_together(graphline_${name})
  set_property(GLOBAL APPEND PROPERTY GRAPHLINE_LIBRARIES graphline_${name})
endfunction()

# graphline_precompile(TARGET [HEADER])
#   Compiles the headers that most sources include once: for all libraries, in the first that asks;
#   with HEADER, for TARGET alone. Sources include what they use all the same: sanitized builds go
#   without.
function(graphline_precompile target)
  set(headers <algorithm> <functional> <map> <memory> <optional> <span> <string> <string_view>
    <utility> <variant> <vector> <fmt/format.h> ${ARGN})
  get_property(first GLOBAL PROPERTY GRAPHLINE_PRECOMPILED)
  if(GRAPHLINE_SANITIZE)
    return()
  endif()
  # ccache asks for this option.
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
#   Compiles its sources many at a time, which more than halves the time to build: to change one
#   over and over, set CMAKE_UNITY_BUILD_BATCH_SIZE to 4. So types and variables that are local to a
#   file have names of their own in the target, and functions too, or they overload each other.
#   Sanitized builds, which run the same tests, go without: they show where a source takes another
#   one's name for its own or lacks an include.
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
#   A GoogleTest program; each of its tests becomes one of ctest's, prefixed with NAME and labelled
#   with its folder of tests/. GPU: its tests need a GPU, or some do, and are skipped without one;
#   they also have the label `gpu`, and the bundle has the program. SECONDS: what a test may take,
#   60 unless it is given, so that one that never ends is found soon; sanitizers slow all of them
#   down.
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
  # Most of the time goes to the headers that tests share.
  set_target_properties(${name}_test PROPERTIES UNITY_BUILD ON)
  # What is tested is optimized as always; optimizing the tests too would only cost time to build.
  target_compile_options(${name}_test PRIVATE
    $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR}/tests ${CMAKE_CURRENT_SOURCE_DIR})
  string(REGEX REPLACE "/.*" "" folder ${folder})
  gtest_discover_tests(${name}_test TEST_PREFIX ${name}/ DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS ${folder} TIMEOUT ${ARG_SECONDS})
  if(ARG_GPU)
    set_property(GLOBAL APPEND PROPERTY GRAPHLINE_GPU_TESTS ${name}_test)
    # The call above takes no list as a value; ctest reads this file after it has the tests.
    set(labels ${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake)
    file(WRITE ${labels}
      "set_tests_properties(\${${name}_test_TESTS} PROPERTIES LABELS \"${folder};gpu\")\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${labels})
  endif()
endfunction()
