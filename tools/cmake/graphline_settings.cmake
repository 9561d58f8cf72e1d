# Compiler settings of all targets.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(GRAPHLINE_CCACHE ccache)
if(GRAPHLINE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without these, ccache skips sources with precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${GRAPHLINE_CCACHE})
endif()

# In unity builds, a local name may shadow a file-local one of another source.
set(shadow $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>)
add_library(graphline_warnings INTERFACE)
target_compile_options(graphline_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wconversion ${shadow} -Werror>
  # GCC 12 falsely reports overlapping copies in "text" + std::string (GCC bug 105651).
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-restrict -Wno-maybe-uninitialized>
  # GCC's -Wconversion for C++ does not include it.
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:Clang>>:-Wno-sign-conversion>
  $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings -Xcompiler=-Wall,-Wextra,-Werror>)

if(GRAPHLINE_SANITIZE)
  # -g1 suffices for lines in stack traces, and compiles in half the time of -g.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${GRAPHLINE_SANITIZE}>
    $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer> $<$<COMPILE_LANGUAGE:CXX>:-g1>)
  add_link_options(-fsanitize=${GRAPHLINE_SANITIZE})
endif()
