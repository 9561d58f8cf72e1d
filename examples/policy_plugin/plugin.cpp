// A plug-in with the policy my.reservation: earliest deadline first (EDF), with a time after each
// due frame in which background stages do not start.

#include <framework/stage/plugin.hpp>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

using namespace graphline;

class reservation final : public scheduling_policy {
 public:
  reservation(const arguments& given, std::span<const policy_stage> stages)
      : stages_(stages), background_(stages.size()), reserve_(given.duration("reserve")) {
    for (const node& name : given.tree("background").items()) {
      const auto found = std::ranges::find(stages, name.text(), &policy_stage::name);
      if (found == stages.end()) throw std::runtime_error("no stage is named " + name.text());
      if (found->period == policy_stage::never)
        throw std::runtime_error("it needs arrival: constant");
      background_[static_cast<std::size_t>(found - stages.begin())] = true;
    }
  }

  policy_rank rank(const ready_job& job) const override { return {job.due + job.stage.deadline}; }

  nanoseconds hold_until(const ready_job& job, nanoseconds now) const override {
    const policy_stage& stage = job.stage;
    if (!background_[static_cast<std::size_t>(&stage - stages_.data())]) return now;
    const nanoseconds since_due = (now - job.due) % stage.period;  // of the latest due frame
    if (since_due < reserve_) return now - since_due + reserve_;
    const bool never_fits = reserve_ + stage.expected > stage.period;
    if (never_fits || since_due + stage.expected <= stage.period) return now;
    return now - since_due + stage.period + reserve_;
  }

 private:
  std::span<const policy_stage> stages_;
  std::vector<bool> background_;  ///< by stage
  nanoseconds reserve_;
};

GRAPHLINE_PLUGIN(registry) {
  policy_kind kind{.name = "my.reservation", .description = "EDF with time for urgent stages."};
  kind.parameters = {
      {"background", parameter_type::tree, "Stages that are held back, as a list.", {}, true},
      {"reserve", parameter_type::duration, "Time after each due frame without them.", {}, true}};
  kind.needs_times = kind.needs_deadline = kind.holds = true;
  kind.uses_priorities = false;
  kind.make = [](const arguments& given, std::span<const policy_stage> stages, std::uint64_t) {
    return std::make_unique<reservation>(given, stages);
  };
  registry.add(std::move(kind));
}
