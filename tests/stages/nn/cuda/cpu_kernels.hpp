#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "stages/nn/cuda/kernel_forms.hpp"

namespace graphline::test {

using namespace nn;

/// How one thread of a CPU goes through what a GPU does at the same time: the items, the blocks,
/// and the threads of a block between two barriers.
enum class thread_order { forward, backward, shuffled };

/// Carries out a kernel on the CPU: the same bodies as on a GPU, with as many threads to a block,
/// one thread after the other. Shared memory starts as NaNs.
void run_on_cpu(const kernel_form& form, std::span<void* const> operands,
                thread_order order = thread_order::forward);

/// The same in every order, each of which must leave the same bytes in `written`, all that the
/// kernel may write: one thread that reads what another writes has no barrier to wait for it at.
void run_in_every_order(const kernel_form& form, std::span<void* const> operands,
                        const std::vector<std::span<std::byte>>& written);

}  // namespace graphline::test
