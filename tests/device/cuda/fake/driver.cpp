// What the runtime hands out of the driver under it: the functions that name kernels, of which it
// finds no others. A name is its kernel's handle, as everywhere in the fake.

#include <cuda.h>

#include <cstring>

#include "tests/device/cuda/fake/api.hpp"
#include "tests/device/cuda/fake/objects.hpp"

using namespace fake_cuda;

namespace {

/// As `api`; the driver has the same numbers for statuses, and the runtime does not keep them.
template <class Body>
CUresult driver_call(const char* name, const Body& body) {
  const locked lock(the_machine().mutex);
  const auto refused = begin_call(name, call_kind::ordinary);
  return static_cast<CUresult>(refused ? *refused : body());
}

CUresult get_params(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* params) {
  return driver_call("cuGraphKernelNodeGetParams", [&] {
    if (node->what->type != cudaGraphNodeTypeKernel) return cudaErrorInvalidValue;
    *params = {};
    if (node->what->by_driver) {
      params->kern = static_cast<CUkernel>(node->what->kernel.func);
    } else {
      params->func = static_cast<CUfunction>(node->what->kernel.func);
    }
    return cudaSuccess;
  });
}

cudaError_t give_name(const char** name, const void* handle) {
  *name = static_cast<const std::string*>(handle)->c_str();
  return cudaSuccess;
}

CUresult get_function_name(const char** name, CUfunction function) {
  return driver_call("cuFuncGetName", [&] { return give_name(name, function); });
}

CUresult get_kernel_name(const char** name, CUkernel kernel) {
  return driver_call("cuKernelGetName", [&] { return give_name(name, kernel); });
}

void* function_named(const char* symbol) {
  if (std::strcmp(symbol, "cuGraphKernelNodeGetParams") == 0) {
    return reinterpret_cast<void*>(&get_params);
  }
  if (std::strcmp(symbol, "cuFuncGetName") == 0) {
    return reinterpret_cast<void*>(&get_function_name);
  }
  if (std::strcmp(symbol, "cuKernelGetName") == 0) return reinterpret_cast<void*>(&get_kernel_name);
  return nullptr;
}

}  // namespace

// The first of these functions came with CUDA 10.0, the other two with 12.3 (cuda.h).
cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                             unsigned long long /*flags*/,
                                             cudaDriverEntryPointQueryResult* result) {
  return api("cudaGetDriverEntryPointByVersion", [&](locked&) {
    *function = version < 12030 ? nullptr : function_named(symbol);
    *result = version < 12030        ? cudaDriverEntryPointVersionNotSufficent
              : *function == nullptr ? cudaDriverEntryPointSymbolNotFound
                                     : cudaDriverEntryPointSuccess;
    return cudaSuccess;
  });
}
