#include "framework/run/execute/run_policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/units.hpp"

namespace graphline {
namespace {

constexpr nanoseconds longest_hold = 1'000'000'000;
/// Lets a policy that holds a stage again and again reach the limit.
constexpr nanoseconds shortest_hold = 10'000;

std::string subject_of(const policy_kind& kind) {
  return fmt::format("policy '{}'{}{}", kind.name, kind.origin.empty() ? "" : " of plug-in ",
                     kind.origin);
}

/// Adds a pipeline's stages. Fills paths and latest starts from the last stage to the first.
void add_stages(const scheduled_pipeline& of, std::vector<policy_stage>& to) {
  const plan& p = *of.planned;
  const std::size_t first = to.size();
  for (std::size_t s = 0; s < p.stages.size(); ++s) {
    const planned_stage& stage = p.stages[s];
    policy_stage view{.pipeline = p.pipeline, .name = stage.name, .on = stage.on};
    view.priority = stage.level;
    view.position = static_cast<std::uint32_t>(s);
    view.followers = stage.followers;
    if (const auto deadline = stage.deadline ? stage.deadline : p.run.deadline) {
      view.deadline = *deadline;
    }
    if (p.run.rate) view.period = static_cast<nanoseconds>(1e9 / *p.run.rate);
    if (!of.expected.empty()) view.expected = of.expected[s];
    to.push_back(view);
  }
  for (std::size_t s = p.stages.size(); s-- > 0;) {
    policy_stage& view = to[first + s];
    nanoseconds latest_end = view.deadline;
    for (const std::size_t f : view.followers) {
      view.path = std::max(view.path, to[first + f].path);
      latest_end = std::min(latest_end, to[first + f].latest_start);
    }
    view.path += view.expected;
    if (latest_end != policy_stage::never) view.latest_start = latest_end - view.expected;
  }
}

}  // namespace

pipeline_policy::pipeline_policy(const policy_kind& kind, const scheduling_policy& rule,
                                 const plan& p, std::span<const policy_stage> stages)
    : rule_(rule), kind_(kind), stages_(stages) {
  if (kind_.origin.empty()) return;
  for (const planned_stage& stage : p.stages) {
    labels_.push_back(stage_label_of(stage.name, "policy " + kind_.name, kind_.origin));
  }
}

void pipeline_policy::fail() const {
  throw run_error(fmt::format("{}: {}", subject_of(kind_), reason_of_caught()));
}

nanoseconds pipeline_policy::hold_until(std::uint32_t stage, std::int64_t frame, nanoseconds due,
                                        nanoseconds now, nanoseconds& sum) const {
  const ready_job job{stages_[stage], frame, due};
  const nanoseconds until = ask(stage, frame, [&] { return rule_.hold_until(job, now); });
  if (until <= now) return until;
  const nanoseconds more = std::max(until - now, shortest_hold);
  if (more <= longest_hold - sum) {
    sum += more;
    return until;
  }
  throw run_error(fmt::format("{} holds the stage back for {}; the limit is {}", subject_of(kind_),
                              format_duration(static_cast<double>(sum) + static_cast<double>(more)),
                              format_duration(static_cast<double>(longest_hold))));
}

run_policy::run_policy(const planned_policy& what, std::uint64_t seed,
                       const std::vector<scheduled_pipeline>& pipelines) {
  for (const scheduled_pipeline& of : pipelines) add_stages(of, stages_);
  try {
    rule_ = what.kind->make(what.arguments, stages_, seed);
  } catch (...) {
    throw run_error(fmt::format("{}: {}", subject_of(*what.kind), reason_of_caught()));
  }
  if (rule_ == nullptr) {
    throw run_error(fmt::format("{}: its 'make' returned null", subject_of(*what.kind)));
  }
  std::span<const policy_stage> rest = stages_;
  for (const scheduled_pipeline& of : pipelines) {
    const std::size_t count = of.planned->stages.size();
    pipelines_.emplace_back(*what.kind, *rule_, *of.planned, rest.first(count));
    rest = rest.subspan(count);
  }
}

std::vector<nanoseconds> median_times(const run_record& record) {
  std::vector<nanoseconds> medians;
  for (const stage_record& stage : record.stages) {
    const auto all = stage.on == side::cpu ? lengths(stage.cpu) : device_times(stage);
    std::vector<nanoseconds> times;
    for (std::size_t frame = 0; frame < all.size(); ++frame) {
      if (ran(stage, frame)) times.push_back(all[frame]);
    }
    const auto middle = times.begin() + (std::ssize(times) - 1) / 2;
    if (!times.empty()) std::ranges::nth_element(times, middle);
    medians.push_back(times.empty() ? 0 : *middle);
  }
  return medians;
}

}  // namespace graphline
