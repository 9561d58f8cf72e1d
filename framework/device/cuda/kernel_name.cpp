#include "framework/device/cuda/kernel_name.hpp"

#include <cuda.h>
#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace graphline {
namespace {

/// A function of the driver, which is there once a device is open; null when it has none of that
/// name. Asked for each time, since a graph is listed once and never where time counts. The program
/// is not linked with the driver, so that it starts where there is none.
template <class Function>
Function driver_function(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion(name, &found, 12030, cudaEnableDefault, &result);
  if (status != cudaSuccess || result != cudaDriverEntryPointSuccess) {
    static_cast<void>(cudaGetLastError());
    return nullptr;
  }
  return reinterpret_cast<Function>(found);
}

using get_params = CUresult (*)(CUgraphNode, CUDA_KERNEL_NODE_PARAMS*);
using get_function_name = CUresult (*)(const char**, CUfunction);
using get_kernel_name = CUresult (*)(const char**, CUkernel);

/// By the driver, which also knows the kernels that libraries launched.
const char* name_from_driver(cudaGraphNode_t node) {
  const auto params_of = driver_function<get_params>("cuGraphKernelNodeGetParams");
  const auto function_name = driver_function<get_function_name>("cuFuncGetName");
  const auto name_of_kernel = driver_function<get_kernel_name>("cuKernelGetName");
  CUDA_KERNEL_NODE_PARAMS params{};
  if (params_of == nullptr || params_of(node, &params) != CUDA_SUCCESS) return nullptr;
  const char* name = nullptr;
  if (params.func != nullptr) {
    if (function_name != nullptr) static_cast<void>(function_name(&name, params.func));
  } else if (name_of_kernel != nullptr && params.kern != nullptr) {
    static_cast<void>(name_of_kernel(&name, params.kern));
  }
  return name;
}

/// By the runtime, which knows the kernels of this program.
const char* name_from_runtime(cudaGraphNode_t node) {
  cudaKernelNodeParams params{};
  const char* name = nullptr;
  if (cudaGraphKernelNodeGetParams(node, &params) != cudaSuccess ||
      cudaFuncGetName(&name, params.func) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return nullptr;
  }
  return name;
}

}  // namespace

std::string kernel_name(cudaGraphNode_t node) {
  const char* name = name_from_driver(node);
  if (name == nullptr) name = name_from_runtime(node);
  return name == nullptr ? "kernel" : demangled(name);
}

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  if (status != 0 || text == nullptr) return name;
  std::string whole = text.get();
  // The parameter list is the last bracket on the outside.
  int depth = 0;
  for (std::size_t i = whole.size(); i-- > 0;) {
    if (whole[i] == ')') ++depth;
    if (whole[i] == '(' && --depth == 0) {
      whole.resize(i);
      break;
    }
  }
  return whole;
}

}  // namespace graphline
