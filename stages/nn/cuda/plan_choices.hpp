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

/// Plans of a library for one operation, in the library's order of preference.
class plan_choices {
 public:
  virtual ~plan_choices() = default;

  virtual std::size_t size() const noexcept = 0;

  /// Unique among the plans, and stable for the same library, operation and kind of device.
  virtual std::string identity(std::size_t plan) const = 0;

  /// For reports: "cuDNN engine 8".
  virtual std::string describe(std::size_t plan) const = 0;

  /// Builds a plan. Returns false, with the reason, if that fails.
  virtual bool build(std::size_t plan, std::string& why_not) = 0;

  /// Workspace of a built plan.
  virtual std::size_t workspace_bytes(std::size_t plan) const = 0;

  /// Releases all built plans but this one.
  virtual void keep_only(std::size_t plan) = 0;

  /// Enqueues a built plan on the operands of its form. @throws run_error
  virtual void run(std::size_t plan, cudaStream_t stream, std::span<void* const> operands,
                   void* workspace) = 0;
};

/// Parameters of choosing a plan by timing.
struct tuning {
  tuning_cache& cache;
  std::string key;  ///< identifies operation and device
  std::span<const std::size_t> operand_bytes;
  dtype element;
  std::string owner;  ///< leads messages: "stage 'head'"
  /// Time for building and timing an operation's plans, once one runs. Some plans are compiled when
  /// built; the preferred plans come first.
  nanoseconds patience = 15'000'000'000;
};

/// The chosen plan and its measured time, if any.
struct chosen_plan {
  std::size_t plan = 0;
  std::optional<nanoseconds> time;
};

/// Chooses and builds a plan: without `how`, the first that builds; with it, the cached plan, or
/// else the fastest of all that build and run in time, which is then cached if all were tried.
/// Empty, with the reason of the preferred plan in `why_not`, if none works.
std::optional<chosen_plan> choose_plan(plan_choices& plans, const tuning* how,
                                       std::string& why_not);

/// An operation that runs the chosen plan; operations may share plans.
std::unique_ptr<library_operation> make_library_operation(std::shared_ptr<plan_choices> plans,
                                                          const chosen_plan& chosen);

}  // namespace graphline::nn
