#include "stages/nn/cuda/plan_choices.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/error.hpp"
#include "framework/base/units.hpp"
#include "framework/device/cuda/cuda_calls.hpp"
#include "stages/nn/weights/float_conversion.hpp"
#include "stages/nn/weights/network_weights.hpp"

namespace graphline::nn {
namespace {

/// Fills `bytes` with random numbers in [-1, 1]; with zeros, a GPU draws less power and is faster.
std::vector<std::byte> random_elements(dtype element, std::size_t bytes) {
  std::vector<float> values(bytes / size_of(element));
  draw_uniform(values, 1.0, 1);
  std::vector<std::byte> elements(values.size() * size_of(element));
  write_elements(element, values, elements.data());
  return elements;
}

constexpr std::size_t pattern_bytes = std::size_t{4} << 20;

/// Runs and times plans on memory that is freed before the first frame, so it is not part of the
/// reported device memory.
class plan_timer {
 public:
  /// Uses the current device; to time plans, fills the memory with random elements. @throws
  /// run_error if memory is insufficient.
  explicit plan_timer(const plan_trial& how) : owner_(how.owner) {
    cudaStream_t made = nullptr;
    check(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    stream_.reset(made);
    for (unique_cuda<cudaEvent_t>& stamp : stamps_) {
      cudaEvent_t event = nullptr;
      check(cudaEventCreate(&event), "cudaEventCreate");
      stamp.reset(event);
    }
    for (const std::size_t bytes : how.operand_bytes) {
      blocks_.push_back(allocate(bytes));
      operands_.push_back(blocks_.back().get());
    }
    if (how.cache == nullptr) return;
    const std::size_t largest = *std::ranges::max_element(how.operand_bytes);
    const std::vector<std::byte> pattern =
        random_elements(how.element, std::min(largest, pattern_bytes));
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      fill(operands_[i], how.operand_bytes[i], pattern);
    }
    check(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize");
  }

  /// Runs a built plan once; returns false if that fails, and true if its workspace does not fit
  /// beside the operands. @throws run_error if the plan left the device unusable.
  bool runs(plan_choices& plans, std::size_t plan) {
    try {
      reserve_workspace(plans, plan);
    } catch (const run_error&) {
      return true;
    }
    return attempt(plans, plan,
                   [&] {
                     run(plans, plan);
                     check(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize");
                     return nanoseconds{0};
                   })
        .has_value();
  }

  /// Returns the median of nine runs after three warm-up runs, in nanoseconds of device time; empty
  /// if the plan cannot run. A plan whose second run takes twice `best` is not the fastest: it runs
  /// no more, and that time is returned. @throws run_error if the plan left the device unusable.
  std::optional<nanoseconds> time(plan_choices& plans, std::size_t plan,
                                  std::optional<nanoseconds> best) {
    return attempt(plans, plan, [&] {
      if (best) {
        run(plans, plan);
        const nanoseconds second = median_of<1>(plans, plan);
        if (second > 2 * *best) return second;
      }
      for (std::size_t i = best ? 2 : 0; i < warm_ups; ++i) run(plans, plan);
      return median_of<timed_runs>(plans, plan);
    });
  }

 private:
  static constexpr std::size_t warm_ups = 3;
  static constexpr std::size_t timed_runs = 9;
  using block = std::unique_ptr<void, cudaError_t (*)(void*)>;

  void reserve_workspace(const plan_choices& plans, std::size_t plan) {
    if (plans.workspace_bytes(plan) <= workspace_bytes_) return;
    workspace_bytes_ = 0;
    workspace_.reset();
    workspace_ = allocate(plans.workspace_bytes(plan));
    workspace_bytes_ = plans.workspace_bytes(plan);
  }

  template <class Measure>
  std::optional<nanoseconds> attempt(const plan_choices& plans, std::size_t plan,
                                     const Measure& measure) {
    try {
      reserve_workspace(plans, plan);
      return measure();
    } catch (const run_error&) {
      static_cast<void>(cudaGetLastError());  // clear the error for later calls
      // The device is usable if it still synchronizes.
      if (cudaStreamSynchronize(stream_.get()) != cudaSuccess) throw;
      return std::nullopt;
    }
  }

  void run(plan_choices& plans, std::size_t plan) const {
    plans.run(plan, stream_.get(), operands_, workspace_.get());
  }

  void check(cudaError_t status, std::string_view call) const { check_cuda(status, call, owner_); }

  block allocate(std::size_t bytes) const {
    void* data = nullptr;
    const cudaError_t status = cudaMalloc(&data, bytes);
    if (status == cudaErrorMemoryAllocation) {
      static_cast<void>(cudaGetLastError());  // clear the error for later calls
      throw run_error(fmt::format(
          "{}: the device has less than {} free for tuning plans; 'tune: off' needs none", owner_,
          format_bytes(bytes)));
    }
    check(status, "cudaMalloc");
    return {data, &cudaFree};
  }

  void fill(void* to, std::size_t bytes, std::span<const std::byte> pattern) const {
    for (std::size_t done = 0; done < bytes; done += pattern.size()) {
      const std::size_t more = std::min(pattern.size(), bytes - done);
      check(cudaMemcpyAsync(static_cast<std::byte*>(to) + done, pattern.data(), more,
                            cudaMemcpyDefault, stream_.get()),
            "cudaMemcpyAsync");
    }
  }

  /// Returns the median time of `Runs` runs. Does not synchronize between them, so that short
  /// kernels run back to back.
  template <std::size_t Runs>
  nanoseconds median_of(plan_choices& plans, std::size_t plan) const {
    const auto record = [&](const unique_cuda<cudaEvent_t>& stamp) {
      check(cudaEventRecord(stamp.get(), stream_.get()), "cudaEventRecord");
    };
    record(stamps_.front());
    for (std::size_t i = 1; i <= Runs; ++i) {
      run(plans, plan);
      record(stamps_[i]);
    }
    check(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize");

    std::array<float, Runs> milliseconds{};
    for (std::size_t i = 0; i < Runs; ++i) {
      check(cudaEventElapsedTime(&milliseconds[i], stamps_[i].get(), stamps_[i + 1].get()),
            "cudaEventElapsedTime");
    }
    const auto middle = milliseconds.begin() + Runs / 2;
    std::nth_element(milliseconds.begin(), middle, milliseconds.end());
    return std::llround(double{*middle} * 1e6);
  }

  std::string owner_;
  unique_cuda<cudaStream_t> stream_;
  std::array<unique_cuda<cudaEvent_t>, timed_runs + 1> stamps_;
  std::vector<block> blocks_;
  std::vector<void*> operands_;
  block workspace_{nullptr, &cudaFree};
  std::size_t workspace_bytes_ = 0;
};

/// Builds a plan; returns false on failure. `why_not` keeps the first failure.
bool build_one(plan_choices& plans, std::size_t plan, std::string& why_not) {
  std::string reason;
  if (plans.build(plan, reason)) return true;
  if (why_not.empty()) why_not = fmt::format("{}: {}", plans.describe(plan), reason);
  return false;
}

/// Takes the first plan that builds untried if the memory for a trial is insufficient.
std::optional<chosen_plan> first(plan_choices& plans, const plan_trial& how, std::string& why_not) {
  std::optional<plan_timer> timer;  // one for all plans, so that none runs on another's old stream
  for (std::size_t plan = 0; plan < plans.size(); ++plan) {
    if (!build_one(plans, plan, why_not)) continue;
    try {
      if (!timer) timer.emplace(how);
    } catch (const run_error&) {
      return chosen_plan{plan, std::nullopt};
    }
    if (timer->runs(plans, plan)) return chosen_plan{plan, std::nullopt};
    if (why_not.empty()) why_not = plans.describe(plan) + " can be built, but not run";
  }
  return std::nullopt;
}

/// Builds and returns the cached plan if the library still offers it; otherwise returns empty.
std::optional<chosen_plan> remembered(plan_choices& plans, const plan_trial& how) {
  const std::optional<tuned_plan> known = how.cache->find(how.key);
  if (!known) return std::nullopt;
  for (std::size_t plan = 0; plan < plans.size(); ++plan) {
    std::string reason;
    if (plans.identity(plan) == known->identity && build_one(plans, plan, reason)) {
      return chosen_plan{plan, known->time};
    }
  }
  return std::nullopt;
}

/// Times each plan as soon as it is built, so that the search can end at any time.
std::optional<chosen_plan> fastest(plan_choices& plans, const plan_trial& how,
                                   std::string& why_not) {
  const nanoseconds until = now() + how.patience;
  std::optional<plan_timer> timer;  // allocates memory
  std::optional<chosen_plan> best;
  std::size_t tried = 0;
  while (tried < plans.size() && (!best || now() <= until)) {
    const std::size_t plan = tried++;
    if (!build_one(plans, plan, why_not)) continue;
    if (!timer) timer.emplace(how);
    const std::optional<nanoseconds> time =
        timer->time(plans, plan, best ? best->time : std::nullopt);
    if (time && (!best || *time < *best->time)) best = chosen_plan{plan, time};
  }
  if (!best) {
    if (timer) why_not = "no plan that can be built runs";
    return std::nullopt;
  }
  how.cache->store(how.key, {plans.identity(best->plan), *best->time, tried == plans.size()});
  return best;
}

class planned_operation final : public library_operation {
 public:
  planned_operation(std::shared_ptr<plan_choices> plans, const chosen_plan& chosen)
      : plans_(std::move(plans)), chosen_(chosen) {}

  std::string choice() const override {
    std::string text = plans_->describe(chosen_.plan);
    if (workspace_bytes() > 0)
      text += fmt::format(", {} workspace", format_bytes(workspace_bytes()));
    if (chosen_.time) {
      text += fmt::format(", {} when tuned", format_duration(static_cast<double>(*chosen_.time)));
    }
    return text;
  }

  std::size_t workspace_bytes() const override { return plans_->workspace_bytes(chosen_.plan); }

  plan_speed speed() const override {
    return {chosen_.time, plans_->uses_tensor_cores(chosen_.plan)};
  }

  void enqueue(void* cuda_stream, std::span<void* const> operands, void* workspace) override {
    plans_->run(chosen_.plan, static_cast<cudaStream_t>(cuda_stream), operands, workspace);
  }

 private:
  std::shared_ptr<plan_choices> plans_;
  chosen_plan chosen_;
};

}  // namespace

std::optional<chosen_plan> choose_plan(plan_choices& plans, const plan_trial& how,
                                       std::string& why_not) {
  why_not.clear();
  std::optional<chosen_plan> chosen;
  if (how.cache != nullptr) {
    chosen = remembered(plans, how);
    if (!chosen) chosen = fastest(plans, how, why_not);
  } else {
    chosen = first(plans, how, why_not);
  }
  if (chosen) plans.keep_only(chosen->plan);
  return chosen;
}

std::unique_ptr<library_operation> make_library_operation(std::shared_ptr<plan_choices> plans,
                                                          const chosen_plan& chosen) {
  return std::make_unique<planned_operation>(std::move(plans), chosen);
}

}  // namespace graphline::nn
