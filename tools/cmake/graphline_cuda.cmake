# Decides whether the build includes the cuda device, and reports it in one line. Sets
# GRAPHLINE_CUDA and, if it does, the CUDA language, CUDA::* and the target cudnn_frontend (headers
# of cuDNN and of its frontend).

set(GRAPHLINE_WITH_CUDA "AUTO" CACHE STRING "Build the cuda device: AUTO, ON or OFF")
set_property(CACHE GRAPHLINE_WITH_CUDA PROPERTY STRINGS AUTO ON OFF)

# tools/setup/cuda downloads a toolkit to this folder, with the libraries that programs load.
set(fetched ${PROJECT_SOURCE_DIR}/build/cuda)
if(EXISTS ${fetched}/bin/nvcc AND NOT CUDAToolkit_ROOT)
  set(CUDAToolkit_ROOT ${fetched})
  set(CMAKE_BUILD_RPATH ${fetched}/lib)
endif()

# CMake 3.25 fails if CUDA, like CUDA 13, no longer has this deprecated target.
if(CMAKE_VERSION VERSION_LESS 3.26 AND NOT TARGET CUDA::nvToolsExt)
  add_library(CUDA::nvToolsExt INTERFACE IMPORTED)
endif()

# The missing part, in words; empty if all are present.
function(graphline_missing_for_cuda out)
  find_package(CUDAToolkit 12.8 QUIET)
  if(NOT CUDAToolkit_FOUND OR NOT CUDAToolkit_NVCC_EXECUTABLE)
    set(${out} "no CUDA toolkit 12.8 or newer with nvcc was found; tools/setup/cuda yes \
brings one" PARENT_SCOPE)
    return()
  endif()
  find_path(CUDNN_INCLUDE_DIR cudnn_version.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  # tools/setup/cudnn_frontend downloads it to the first folder.
  find_path(CUDNN_FRONTEND_INCLUDE_DIR cudnn_frontend_version.h
    HINTS ${PROJECT_SOURCE_DIR}/build/cudnn_frontend/include)
  if(NOT CUDNN_INCLUDE_DIR)
    set(${out} "cuDNN's headers were not found; say where with -DCUDNN_INCLUDE_DIR" PARENT_SCOPE)
  elseif(NOT CUDNN_FRONTEND_INCLUDE_DIR)
    set(${out} "the headers of cuDNN's frontend were not found; tools/setup/cudnn_frontend brings \
them" PARENT_SCOPE)
  else()
    set(${out} "" PARENT_SCOPE)
  endif()
endfunction()

set(GRAPHLINE_CUDA OFF)
if(GRAPHLINE_WITH_CUDA STREQUAL "OFF")
  message(STATUS "cuda device: left out (GRAPHLINE_WITH_CUDA is OFF)")
  return()
endif()
graphline_missing_for_cuda(missing)
if(missing)
  if(GRAPHLINE_WITH_CUDA STREQUAL "ON")
    message(FATAL_ERROR "cuda device: ${missing}")
  endif()
  message(STATUS "cuda device: left out (${missing})")
  return()
endif()

set(GRAPHLINE_CUDA ON)
find_package(CUDAToolkit 12.8 REQUIRED)
if(NOT CMAKE_CUDA_COMPILER)
  set(CMAKE_CUDA_COMPILER ${CUDAToolkit_NVCC_EXECUTABLE})
endif()
if(NOT CMAKE_CUDA_ARCHITECTURES)
  # Machine code from Turing, the oldest of CUDA 13, to Hopper, and PTX for what comes after.
  set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 89-real 90)
  if(DEFINED ENV{CUDAARCHS})
    set(CMAKE_CUDA_ARCHITECTURES $ENV{CUDAARCHS})
  endif()
endif()
enable_language(CUDA)
if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  # nvcc knows C++20 since CUDA 12.0, but CMake 3.25 does not know that.
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)
# Libraries are loaded on first use or linked statically, so the same program also runs without a
# GPU and without CUDA.
set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
if(GRAPHLINE_CCACHE AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${GRAPHLINE_CCACHE})
endif()

add_library(cudnn_frontend INTERFACE)
target_include_directories(cudnn_frontend SYSTEM INTERFACE
  ${CUDNN_FRONTEND_INCLUDE_DIR} ${CUDNN_INCLUDE_DIR} ${CUDAToolkit_INCLUDE_DIRS})
# cuDNN is loaded on first use, by stages/nn/cuda.
target_compile_definitions(cudnn_frontend INTERFACE NV_CUDNN_FRONTEND_USE_DYNAMIC_LOADING)
target_link_libraries(cudnn_frontend INTERFACE ${CMAKE_DL_LIBS})

message(STATUS "cuda device: with CUDA ${CUDAToolkit_VERSION}")
