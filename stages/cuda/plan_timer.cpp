#include "stages/cuda/plan_timer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "framework/base/units.hpp"
#include "framework/device/cuda/cuda_calls.hpp"
#include "stages/cuda/random_elements.hpp"

namespace graphline {
namespace {

constexpr std::size_t pattern_bytes = std::size_t{4} << 20;

/// Of which the steps of a device's clock, a microsecond at most, are a small part.
constexpr nanoseconds long_enough = 50'000;

}  // namespace

plan_timer::plan_timer(std::span<const std::size_t> operand_bytes, precision p, std::string owner)
    : owner_(std::move(owner)) {
  try {
    check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
               "cudaStreamCreateWithFlags", owner_);
    for (cudaEvent_t& stamp : stamps_) {
      check_cuda(cudaEventCreate(&stamp), "cudaEventCreate", owner_);
    }
    const std::size_t largest = *std::max_element(operand_bytes.begin(), operand_bytes.end());
    const std::vector<std::byte> pattern = random_elements(p, std::min(largest, pattern_bytes));
    for (const std::size_t bytes : operand_bytes) {
      operands_.push_back(allocate(bytes));
      fill(operands_.back(), bytes, pattern);
    }
    check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize", owner_);
  } catch (...) {
    release();
    throw;
  }
}

plan_timer::~plan_timer() {
  release();
}

void plan_timer::release() noexcept {
  for (void* operand : operands_) static_cast<void>(cudaFree(operand));
  static_cast<void>(cudaFree(workspace_));
  for (cudaEvent_t stamp : stamps_) {
    if (stamp != nullptr) static_cast<void>(cudaEventDestroy(stamp));
  }
  if (stream_ != nullptr) static_cast<void>(cudaStreamDestroy(stream_));
}

void* plan_timer::allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  void* data = nullptr;
  const cudaError_t status = cudaMalloc(&data, bytes);
  if (status == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());  // it would be reported again by a later call
    throw run_error(fmt::format(
        "{}: the device has not {} left to try plans out on; 'tune: off' needs none of it", owner_,
        format_bytes(bytes)));
  }
  check_cuda(status, "cudaMalloc", owner_);
  return data;
}

/// Repeats the pattern, each copy as long as all that is there already.
void plan_timer::fill(void* to, std::size_t bytes, std::span<const std::byte> pattern) {
  std::size_t done = std::min(bytes, pattern.size());
  check_cuda(cudaMemcpyAsync(to, pattern.data(), done, cudaMemcpyHostToDevice, stream_),
             "cudaMemcpyAsync", owner_);
  while (done < bytes) {
    const std::size_t more = std::min(done, bytes - done);
    check_cuda(cudaMemcpyAsync(static_cast<std::byte*>(to) + done, to, more,
                               cudaMemcpyDeviceToDevice, stream_),
               "cudaMemcpyAsync", owner_);
    done += more;
  }
}

/// For plans that are timed one after another: nothing is at work.
void plan_timer::make_room(std::size_t workspace_bytes) {
  if (workspace_bytes <= workspace_bytes_) return;
  static_cast<void>(cudaFree(std::exchange(workspace_, nullptr)));
  workspace_bytes_ = 0;
  workspace_ = allocate(workspace_bytes);
  workspace_bytes_ = workspace_bytes;
}

/// Nothing waits in between, so that short kernels follow each other on the device too.
void plan_timer::enqueue(plan_choices& plans, std::size_t plan, std::size_t in_a_row) {
  for (std::size_t i = 0; i < warm_ups; ++i) plans.run(plan, stream_, operands_, workspace_);
  check_cuda(cudaEventRecord(stamps_.front(), stream_), "cudaEventRecord", owner_);
  for (std::size_t i = 1; i < stamps_.size(); ++i) {
    for (std::size_t n = 0; n < in_a_row; ++n) plans.run(plan, stream_, operands_, workspace_);
    check_cuda(cudaEventRecord(stamps_[i], stream_), "cudaEventRecord", owner_);
  }
  check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize", owner_);
}

nanoseconds plan_timer::median() {
  std::array<float, runs> milliseconds{};
  for (std::size_t i = 0; i < runs; ++i) {
    check_cuda(cudaEventElapsedTime(&milliseconds[i], stamps_[i], stamps_[i + 1]),
               "cudaEventElapsedTime", owner_);
  }
  const auto middle = milliseconds.begin() + runs / 2;
  std::nth_element(milliseconds.begin(), middle, milliseconds.end());
  return std::llround(double{*middle} * 1e6);
}

std::optional<nanoseconds> plan_timer::time(plan_choices& plans, std::size_t plan) {
  try {
    make_room(plans.workspace_bytes(plan));
    enqueue(plans, plan, 1);
    const nanoseconds once = median();
    if (once >= long_enough) return once;
    const nanoseconds in_a_row = long_enough / std::max<nanoseconds>(once, 1'000);
    enqueue(plans, plan, static_cast<std::size_t>(in_a_row));
    return median() / in_a_row;
  } catch (const run_error&) {
    static_cast<void>(cudaGetLastError());  // it would be reported again by a later call
    // A device that still answers is none the worse for it.
    if (cudaStreamSynchronize(stream_) != cudaSuccess) throw;
    return std::nullopt;
  }
}

}  // namespace graphline
