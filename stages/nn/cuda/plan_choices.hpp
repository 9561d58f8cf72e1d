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

  /// Returns a text unique among the plans, stable for a library, operation and kind of device.
  virtual std::string identity(std::size_t plan) const = 0;

  /// Returns the plan for reports: "cuDNN engine 8".
  virtual std::string describe(std::size_t plan) const = 0;

  virtual bool uses_tensor_cores(std::size_t plan) const = 0;

  /// Builds a plan. Returns false, with the reason in `why_not`, if that fails.
  virtual bool build(std::size_t plan, std::string& why_not) = 0;

  /// Returns the bytes of workspace that a built plan needs.
  virtual std::size_t workspace_bytes(std::size_t plan) const = 0;

  /// Releases all built plans except `plan`.
  virtual void keep_only(std::size_t plan) = 0;

  /// Enqueues a built plan on the operands of its form. @throws run_error
  virtual void run(std::size_t plan, cudaStream_t stream, std::span<void* const> operands,
                   void* workspace) = 0;
};

/// Parameters of choosing a plan.
struct plan_trial {
  tuning_cache* cache = nullptr;  ///< if set, plans are timed
  std::string key;                ///< identifies operation and device
  std::span<const std::size_t> operand_bytes;
  dtype element;
  std::string owner;  ///< leads messages: "stage 'head'"
  /// Time for building and timing an operation's plans; until one plan runs, the search continues.
  /// Some plans are compiled when built, so the preferred plans come first.
  nanoseconds patience = 15'000'000'000;
};

/// The chosen plan and its measured time, if any.
struct chosen_plan {
  std::size_t plan = 0;
  std::optional<nanoseconds> time;
};

/// Chooses and builds a plan: without a cache, the first plan that builds and runs; otherwise the
/// cached plan or else the fastest plan that builds and runs in time, which is cached, so that
/// later processes choose the same. Returns empty, with the preferred plan's failure in `why_not`,
/// if no plan works.
std::optional<chosen_plan> choose_plan(plan_choices& plans, const plan_trial& how,
                                       std::string& why_not);

/// Returns an operation that runs the chosen plan; operations may share plans.
std::unique_ptr<library_operation> make_library_operation(std::shared_ptr<plan_choices> plans,
                                                          const chosen_plan& chosen);

}  // namespace graphline::nn
