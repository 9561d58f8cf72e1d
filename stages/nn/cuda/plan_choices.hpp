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

/// The plans by which a library could carry out one operation, best first as the library guesses.
class plan_choices {
 public:
  virtual ~plan_choices() = default;

  virtual std::size_t size() const noexcept = 0;

  /// Tells a plan from the others, and is the same whenever the same library is asked for the same
  /// operation on the same kind of device.
  virtual std::string identity(std::size_t plan) const = 0;

  /// For reports: "cuDNN engine 8".
  virtual std::string describe(std::size_t plan) const = 0;

  /// Makes a plan ready to run, or returns false and tells why it cannot be.
  virtual bool build(std::size_t plan, std::string& why_not) = 0;

  /// Of a built plan.
  virtual std::size_t workspace_bytes(std::size_t plan) const = 0;

  /// Gives up all built plans but this one.
  virtual void keep_only(std::size_t plan) = 0;

  /// Enqueues a built plan with the operands of its form. Throws `run_error`.
  virtual void run(std::size_t plan, cudaStream_t stream, std::span<void* const> operands,
                   void* workspace) = 0;
};

/// How to choose among plans by trying them out.
struct tuning {
  tuning_cache& cache;
  std::string key;  ///< of this operation on this device
  std::span<const std::size_t> operand_bytes;
  dtype element;
  std::string owner;  ///< leads messages: "stage 'head'"
  /// How long an operation's plans may take to be built and tried out, once one of them runs. Some
  /// are compiled when they are built; the library's best guesses come first.
  nanoseconds patience = 15'000'000'000;
};

/// Which plan, and how long it took when it was tried out, if it was.
struct chosen_plan {
  std::size_t plan = 0;
  std::optional<nanoseconds> time;
};

/// Chooses a plan and builds it: without `how` the first that builds; else the one that the cache
/// remembers; else the fastest of all that build and run, which the cache then remembers, or of
/// those for which there was time. Nothing, and the reason of the best plan in `why_not`, when none
/// can be had.
std::optional<chosen_plan> choose_plan(plan_choices& plans, const tuning* how,
                                       std::string& why_not);

/// The operation that carries out the chosen plan of those, which operations may share.
std::unique_ptr<library_operation> make_library_operation(std::shared_ptr<plan_choices> plans,
                                                          const chosen_plan& chosen);

}  // namespace graphline::nn
