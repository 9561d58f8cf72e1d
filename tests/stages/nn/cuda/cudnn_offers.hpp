#pragma once

// What cuDNN offers for GPUs that need not be present.

#include <dlfcn.h>

#include <fstream>
#include <iterator>
#include <string>

#include "framework/base/error.hpp"
#include "stages/nn/cuda/cudnn_graph.hpp"

namespace graphline::nn {

/// Returns why cuDNN cannot be asked on this machine; empty if it can.
inline std::string why_no_cudnn() {
  // cuDNN only needs the driver library to be loaded; the toolkit's stub suffices and, once loaded
  // from any path, is found by name.
  if (dlopen("libcuda.so.1", RTLD_NOW) == nullptr &&
      dlopen(GRAPHLINE_CUDA_DRIVER_LIBRARY, RTLD_NOW) == nullptr) {
    return "there is neither libcuda.so.1 nor the toolkit's stub";
  }
  try {
    cudnn_version();
  } catch (const run_error& e) {
    return e.what();
  }
  return "";
}

/// Returns the properties of a GPU: devices/NAME.json.
inline std::string device_properties_of(const std::string& name) {
  std::ifstream file(std::string(GRAPHLINE_CUDNN_DEVICES "/") + name + ".json");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace graphline::nn
