#include "stages/cuda/chosen_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/error.hpp"
#include "framework/base/units.hpp"
#include "framework/device/cuda/cuda_status.hpp"
#include "stages/cuda/plan_timer.hpp"

namespace graphline {
namespace {

/// How long one operation's plans may take to be built and tried out. Some are compiled when they
/// are built; the library's best guesses come first.
constexpr nanoseconds patience = 15'000'000'000;

/// False, and the reason, also where building failed for another cause than want of support:
/// another plan may do without what this one lacked.
bool build_one(plan_choices& plans, std::size_t plan, std::string& reason) {
  try {
    return plans.build(plan, reason);
  } catch (const run_error& e) {
    reason = e.what();
    return false;
  }
}

/// The plans that can be built, built; at most `enough` of them, and none after `until` once there
/// is one. Where there is none, the reason of the best one.
std::vector<std::size_t> build(plan_choices& plans, std::size_t enough, nanoseconds until,
                               std::string& why_not) {
  std::vector<std::size_t> built;
  for (std::size_t plan = 0; plan < plans.size() && built.size() < enough; ++plan) {
    if (!built.empty() && now() > until) break;
    std::string reason;
    if (build_one(plans, plan, reason)) {
      built.push_back(plan);
    } else if (why_not.empty()) {
      why_not = fmt::format("{}: {}", plans.describe(plan), reason);
    }
  }
  return built;
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

std::optional<chosen_plan> fastest(plan_choices& plans, const tuning& how, std::string& why_not) {
  const nanoseconds until = now() + patience;
  const std::vector<std::size_t> built = build(plans, plans.size(), until, why_not);
  if (built.empty()) return std::nullopt;
  std::size_t workspace = 0;
  for (const std::size_t plan : built) {
    workspace = std::max(workspace, plans.workspace_bytes(plan));
  }
  plan_timer timer(how.operand_bytes, workspace, how.precision, how.owner);
  std::optional<chosen_plan> best;
  for (const std::size_t plan : built) {
    if (best && now() > until) break;
    const std::optional<nanoseconds> time = timer.time(plans, plan);
    if (time && (!best || *time < *best->time)) best = chosen_plan{plan, time};
  }
  if (best) {
    how.cache.store(how.key, {plans.identity(best->plan), *best->time});
  } else {
    why_not = "no plan that can be built runs";
  }
  return best;
}

class planned_operation final : public library_operation {
 public:
  planned_operation(std::unique_ptr<plan_choices> plans, const chosen_plan& chosen,
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
  std::unique_ptr<plan_choices> plans_;
  chosen_plan chosen_;
  std::string owner_;
};

}  // namespace

std::optional<chosen_plan> choose_plan(plan_choices& plans, const tuning* how,
                                       std::string& why_not) {
  why_not.clear();
  std::optional<chosen_plan> chosen;
  if (how == nullptr) {
    const std::vector<std::size_t> built = build(plans, 1, 0, why_not);
    if (!built.empty()) chosen = chosen_plan{built.front(), std::nullopt};
  } else {
    chosen = remembered(plans, *how);
    if (!chosen) chosen = fastest(plans, *how, why_not);
  }
  if (chosen) plans.keep_only(chosen->plan);
  return chosen;
}

std::unique_ptr<library_operation> make_library_operation(std::unique_ptr<plan_choices> plans,
                                                          const chosen_plan& chosen,
                                                          std::string owner) {
  return std::make_unique<planned_operation>(std::move(plans), chosen, std::move(owner));
}

}  // namespace graphline
