#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/precision.hpp"
#include "stages/cuda/plan_choices.hpp"

namespace graphline {

/// Runs plans on memory of its own, filled with random elements, to see how long they take. The
/// memory is not the device's to account for: it is gone before the first frame.
class plan_timer {
 public:
  /// On the current device. Throws `run_error` when there is not enough memory; `owner` leads it.
  plan_timer(std::span<const std::size_t> operand_bytes, precision p, std::string owner);
  ~plan_timer();
  plan_timer(const plan_timer&) = delete;
  plan_timer& operator=(const plan_timer&) = delete;

  /// The median of nine runs on the device, after three more, in nanoseconds, or of nine times as
  /// many runs in a row as are long enough to be told from the steps of the device's clock; nothing
  /// for a plan that cannot run. Throws `run_error` when it took the device down with it.
  std::optional<nanoseconds> time(plan_choices& plans, std::size_t plan);

 private:
  static constexpr std::size_t warm_ups = 3;
  static constexpr std::size_t runs = 9;

  void release() noexcept;
  void* allocate(std::size_t bytes);
  void fill(void* to, std::size_t bytes, std::span<const std::byte> pattern);
  void make_room(std::size_t workspace_bytes);
  void enqueue(plan_choices& plans, std::size_t plan, std::size_t in_a_row);
  nanoseconds median();

  std::string owner_;
  std::vector<void*> operands_;
  void* workspace_ = nullptr;
  std::size_t workspace_bytes_ = 0;
  cudaStream_t stream_ = nullptr;
  std::array<cudaEvent_t, runs + 1> stamps_{};
};

}  // namespace graphline
