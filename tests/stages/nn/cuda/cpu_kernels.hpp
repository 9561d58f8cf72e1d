#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "stages/nn/cuda/kernel_forms.hpp"

namespace graphline::test {

using namespace nn;

/// The order in which one CPU thread simulates concurrent GPU work: items, blocks, and the threads
/// of a block between two barriers.
enum class thread_order { forward, backward, shuffled };

/// Runs a kernel on the CPU: the GPU's bodies and block sizes, one thread after the other. Shared
/// memory starts as NaN.
void run_on_cpu(const kernel_form& form, std::span<void* const> operands,
                thread_order order = thread_order::forward);

/// Runs it in every order; all must leave the same bytes in `written`, everything that the kernel
/// may write. A difference means a missing barrier.
void run_in_every_order(const kernel_form& form, std::span<void* const> operands,
                        const std::vector<std::span<std::byte>>& written);

}  // namespace graphline::test
