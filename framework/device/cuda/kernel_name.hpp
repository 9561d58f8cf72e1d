#pragma once

#include <cuda_runtime_api.h>

#include <string>

namespace graphline {

/// The name of a kernel node's kernel, as one would write it; "kernel" when CUDA does not tell.
std::string kernel_name(cudaGraphNode_t node);

/// A mangled name as one would write it, without parameters: "void scale<float>" for
/// "_Z5scaleIfEvPT_"; unchanged when it is none.
std::string demangled(const char* name);

}  // namespace graphline
