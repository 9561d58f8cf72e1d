#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "framework/base/stage_activity.hpp"
#include "framework/plan/plan.hpp"
#include "framework/record/run_record.hpp"
#include "framework/stage/policy.hpp"

namespace graphline {

/// A pipeline that a policy schedules.
struct scheduled_pipeline {
  const plan* planned;
  std::vector<nanoseconds> expected;  ///< times of stages; empty if unknown
};

/// A policy as the executor of one pipeline uses it.
class pipeline_policy {
 public:
  pipeline_policy(const policy_kind& kind, const scheduling_policy& rule, const plan& p,
                  std::span<const policy_stage> stages);

  bool holds() const noexcept { return kind_.holds; }

  /// @throws run_error naming the policy if it throws
  policy_rank rank(std::uint32_t stage, std::int64_t frame, nanoseconds due,
                   std::uint64_t order) const {
    return ask(stage, frame, [&] { return rule_.rank({stages_[stage], frame, due, order}); });
  }

  /// Returns the host time until which a stage must not start. If that is later than `now`, adds
  /// the difference to `sum`, but at least 10 us.
  /// @throws run_error naming the policy if it throws, or if `sum` would exceed a second
  nanoseconds hold_until(std::uint32_t stage, std::int64_t frame, nanoseconds due, nanoseconds now,
                         nanoseconds& sum) const;

 private:
  /// Calls a function of the policy about a stage.
  template <class Function>
  std::invoke_result_t<Function> ask(std::uint32_t stage, std::int64_t frame,
                                     const Function& function) const {
    try {
      if (labels_.empty()) return function();
      const stage_scope scope({labels_[stage], frame});
      return function();
    } catch (...) {
      fail();
    }
  }
  [[noreturn]] void fail() const;

  const scheduling_policy& rule_;
  const policy_kind& kind_;
  std::span<const policy_stage> stages_;
  /// By stage, for a plug-in's policy: shown if it does not return.
  std::vector<const stage_label*> labels_;
};

/// The policy of a run with what it knows of the stages.
class run_policy {
 public:
  /// @pre `what.kind` is not null, and the plans outlive this object.
  /// @throws run_error naming the policy if it cannot be made
  run_policy(const planned_policy& what, std::uint64_t seed,
             const std::vector<scheduled_pipeline>& pipelines);

  const pipeline_policy& of(std::size_t pipeline) const { return pipelines_[pipeline]; }

 private:
  std::vector<policy_stage> stages_;
  std::unique_ptr<const scheduling_policy> rule_;
  std::deque<pipeline_policy> pipelines_;
};

/// Returns the median time of each stage in a run: on its core or the device; 0 for a stage that
/// did not run or was not timed.
std::vector<nanoseconds> median_times(const run_record& record);

}  // namespace graphline
