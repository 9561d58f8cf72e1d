#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/tensor_type.hpp"
#include "stages/nn/cuda/cuda_library.hpp"
#include "stages/nn/cuda/tuning_cache.hpp"

namespace graphline::nn {

/// Plans of a library for an operation, in the library's order of preference.
class plan_choices {
 public:
  virtual ~plan_choices() = default;

  virtual std::size_t size() const noexcept = 0;

  /// Returns a text that is unique among the plans, and the same in every run with the same
  /// library, operation and kind of device.
  virtual std::string identity(std::size_t plan) const = 0;

  /// Returns the plan for reports: "cuDNN engine 8".
  virtual std::string describe(std::size_t plan) const = 0;

  virtual bool uses_tensor_cores(std::size_t plan) const = 0;

  /// Builds a plan. Returns false, with the reason in `why_not`, if that fails.
  virtual bool build(std::size_t plan, std::string& why_not) = 0;

  virtual std::size_t workspace_bytes(std::size_t plan) const = 0;

  /// Releases all built plans except `plan`.
  virtual void keep_only(std::size_t plan) = 0;

  /// Enqueues a built plan on the operands of its form. @throws run_error
  virtual void run(std::size_t plan, cudaStream_t stream, std::span<void* const> operands,
                   void* workspace) = 0;
};

/// How to choose a plan.
struct plan_trial {
  tuning_cache* cache = nullptr;  ///< if set, plans are timed
  std::string key;                ///< identifies operation and device
  std::span<const std::size_t> operand_bytes;
  dtype element;
  std::string owner;  ///< leads messages: "stage 'head'"
  /// Limits the search, because some plans are compiled when built. Until one plan runs, the search
  /// continues.
  nanoseconds patience = 15'000'000'000;
};

struct chosen_plan {
  std::size_t plan = 0;
  std::optional<nanoseconds> time;
};

/// Chooses and builds a plan. Without a cache, this is the first plan that builds and runs. With a
/// cache, it is the cached plan. If there is none, it is the fastest plan found within
/// `how.patience`, which is cached, so that later processes choose the same. Returns empty, with
/// the reason in `why_not`, if no plan works.
std::optional<chosen_plan> choose_plan(plan_choices& plans, const plan_trial& how,
                                       std::string& why_not);

/// Returns an operation that runs the chosen plan; operations may share plans.
std::unique_ptr<library_operation> make_library_operation(std::shared_ptr<plan_choices> plans,
                                                          const chosen_plan& chosen);

}  // namespace graphline::nn
