# Whether the cuda device is part of this build, said in one line.

find_package(CUDAToolkit QUIET)
if(CUDAToolkit_FOUND)
  message(STATUS "cuda device: left out (this version has no cuda backend yet)")
else()
  message(STATUS "cuda device: left out (no CUDA toolkit with nvcc was found)")
endif()
