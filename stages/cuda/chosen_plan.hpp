#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "framework/base/clock.hpp"
#include "stages/cuda/cuda_library.hpp"
#include "stages/cuda/plan_choices.hpp"
#include "stages/cuda/tuning_cache.hpp"

namespace graphline {

/// How to choose among plans by trying them out.
struct tuning {
  tuning_cache& cache;
  std::string key;  ///< of this operation on this device
  std::span<const std::size_t> operand_bytes;
  graphline::precision precision;
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
                                                          const chosen_plan& chosen,
                                                          std::string owner);

}  // namespace graphline
