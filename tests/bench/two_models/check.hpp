#pragma once

#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <string>

/// Ends the program with a message unless `good`: a baseline that went wrong has no figure.
inline void require(bool good, const std::string& what) {
  if (good) return;
  std::fprintf(stderr, "error: %s\n", what.c_str());
  std::exit(1);
}

inline void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  require(false,
          std::string(call) + ": " + cudaGetErrorName(status) + ", " + cudaGetErrorString(status));
}
