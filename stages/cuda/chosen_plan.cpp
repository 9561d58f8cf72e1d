#include "stages/cuda/chosen_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "framework/base/clock.hpp"
#include "framework/base/error.hpp"
#include "framework/base/units.hpp"
#include "framework/device/cuda/cuda_calls.hpp"
#include "stages/cuda/plan_timer.hpp"

namespace graphline {
namespace {

/// False where building failed for another cause than want of support too: another plan may do
/// without what this one lacked. `why_not` tells of the first that failed.
bool build_one(plan_choices& plans, std::size_t plan, std::string& why_not) {
  std::string reason;
  try {
    if (plans.build(plan, reason)) return true;
  } catch (const run_error& e) {
    reason = e.what();
  }
  if (why_not.empty()) why_not = fmt::format("{}: {}", plans.describe(plan), reason);
  return false;
}

std::optional<chosen_plan> first(plan_choices& plans, std::string& why_not) {
  for (std::size_t plan = 0; plan < plans.size(); ++plan) {
    if (build_one(plans, plan, why_not)) return chosen_plan{plan, std::nullopt};
  }
  return std::nullopt;
}

/// What the cache remembers, built; forgotten where this library does not offer it any more.
std::optional<chosen_plan> remembered(plan_choices& plans, const tuning& how) {
  const std::optional<tuned_plan> known = how.cache.find(how.key);
  if (!known) return std::nullopt;
  for (std::size_t plan = 0; plan < plans.size(); ++plan) {
    std::string reason;
    if (plans.identity(plan) == known->identity && build_one(plans, plan, reason)) {
      return chosen_plan{plan, known->time};
    }
  }
  how.cache.forget(how.key);
  return std::nullopt;
}

/// Each plan is timed as soon as it is built, so that whenever time is up, all that was built
/// counts.
std::optional<chosen_plan> fastest(plan_choices& plans, const tuning& how, std::string& why_not) {
  const nanoseconds until = now() + how.patience;
  std::optional<plan_timer> timer;  // which takes memory
  std::optional<chosen_plan> best;
  std::size_t tried = 0;
  while (tried < plans.size() && (!best || now() <= until)) {
    const std::size_t plan = tried++;
    if (!build_one(plans, plan, why_not)) continue;
    if (!timer) timer.emplace(how.operand_bytes, how.precision, how.owner);
    const std::optional<nanoseconds> time = timer->time(plans, plan);
    if (time && (!best || *time < *best->time)) best = chosen_plan{plan, time};
  }
  if (!best) {
    if (timer) why_not = "no plan that can be built runs";
    return std::nullopt;
  }
  // Of a search that was cut short nobody knows whether that is the fastest.
  if (tried == plans.size()) how.cache.store(how.key, {plans.identity(best->plan), *best->time});
  return best;
}

class planned_operation final : public library_operation {
 public:
  planned_operation(std::shared_ptr<plan_choices> plans, const chosen_plan& chosen,
                    std::string owner)
      : plans_(std::move(plans)), chosen_(chosen), owner_(std::move(owner)) {}

  std::string choice() const override {
    std::string text = plans_->describe(chosen_.plan);
    if (workspace_bytes() > 0)
      text += fmt::format(", {} workspace", format_bytes(workspace_bytes()));
    if (chosen_.time) {
      text += fmt::format(", {} when tuned", format_duration(static_cast<double>(*chosen_.time)));
    }
    return text;
  }

  std::optional<nanoseconds> time() const override { return chosen_.time; }

  std::size_t workspace_bytes() const override { return plans_->workspace_bytes(chosen_.plan); }

  void enqueue(void* cuda_stream, std::span<void* const> operands, void* workspace) override {
    for (const void* operand : operands) {
      if (reinterpret_cast<std::uintptr_t>(operand) % plans_->alignment() != 0) {
        throw run_error(fmt::format("{}: {} was given an operand that is not aligned to {} bytes",
                                    owner_, plans_->describe(chosen_.plan), plans_->alignment()));
      }
    }
    plans_->run(chosen_.plan, static_cast<cudaStream_t>(cuda_stream), operands, workspace);
  }

 private:
  std::shared_ptr<plan_choices> plans_;
  chosen_plan chosen_;
  std::string owner_;
};

}  // namespace

std::optional<chosen_plan> choose_plan(plan_choices& plans, const tuning* how,
                                       std::string& why_not) {
  why_not.clear();
  std::optional<chosen_plan> chosen;
  if (how != nullptr) {
    chosen = remembered(plans, *how);
    if (!chosen) chosen = fastest(plans, *how, why_not);
  } else {
    chosen = first(plans, why_not);
  }
  if (chosen) plans.keep_only(chosen->plan);
  return chosen;
}

std::unique_ptr<library_operation> make_library_operation(std::shared_ptr<plan_choices> plans,
                                                          const chosen_plan& chosen,
                                                          std::string owner) {
  return std::make_unique<planned_operation>(std::move(plans), chosen, std::move(owner));
}

}  // namespace graphline
