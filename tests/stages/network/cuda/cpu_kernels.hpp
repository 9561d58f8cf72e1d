#pragma once

#include <span>

#include "stages/cuda/kernel_forms.hpp"

namespace graphline::test {

/// Carries out a kernel on the CPU: the same bodies as on a GPU, with as many threads to a block,
/// one thread after the other. Shared memory starts as NaNs.
void run_on_cpu(const kernel_form& form, std::span<void* const> operands);

}  // namespace graphline::test
