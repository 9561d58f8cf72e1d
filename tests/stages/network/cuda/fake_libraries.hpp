#pragma once

#include <cstddef>

namespace graphline::test {

// In place of the project's kernels and of cuDNN and cuBLASLt, for programs that link the fake CUDA
// runtime: work that is enqueued on its streams and carried out on the CPU when its turn comes.

/// How often a kernel or an operation was enqueued so far.
std::size_t enqueued_operations();

}  // namespace graphline::test
