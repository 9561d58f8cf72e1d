#include "framework/analysis/experiment/counted_trials.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "framework/analysis/run/disturbance.hpp"

namespace graphline {
namespace {

bool belongs(const trial_record& trial, const experiment_record& record) {
  return trial.configuration < record.configurations.size() &&
         trial.members.size() == record.configurations[trial.configuration].members.size();
}

bool measured_anything(const run_record& run) {
  return !run.frames.empty();
}

bool ran_to_its_end(const run_record& run) {
  return measured_anything(run) && !run.interrupted && !run.failure;
}

}  // namespace

counted_trials::counted_trials(const experiment_record& record,
                               std::span<const std::size_t> affected)
    : trials_(record.configurations.size()) {
  std::map<std::size_t, std::vector<const trial_record*>> finished;  // by block and configuration
  for (const auto& trial : record.trials) {
    const bool whole = !trial.members.empty() && std::ranges::all_of(trial.members, ran_to_its_end);
    if (!whole || !belongs(trial, record)) continue;
    auto& block = finished[trial.block];
    block.resize(trials_.size());
    block[trial.configuration] = &trial;
  }
  std::vector<std::optional<trial_place>> ranks;
  const auto in_one_that_stood_still = [](const trial_record* trial) {
    return std::ranges::any_of(trial->members, stood_still);
  };
  for (const auto& [number, block] : finished) {
    if (std::ranges::find(block, nullptr) != block.end()) continue;
    const auto& place = block.front()->place;
    if (std::ranges::any_of(block, [&](const auto* one) { return one->place != place; })) continue;
    ++complete_blocks_;
    if (std::ranges::any_of(block, in_one_that_stood_still)) {
      stood_still_.push_back(number);
      continue;
    }
    const bool disturbed = std::ranges::find(affected, number) != affected.end();
    if (disturbed && record.how.repeat_affected) continue;
    const auto rank = std::ranges::find(ranks, place) - ranks.begin();
    if (rank == std::ssize(ranks)) {
      ranks.push_back(place);
      by_rank_.emplace_back();
    }
    by_rank_[static_cast<std::size_t>(rank)].push_back(blocks_.size());
    blocks_.push_back(number);
    for (std::size_t c = 0; c < block.size(); ++c) trials_[c].push_back(block[c]);
  }
  if (!blocks_.empty()) return;
  for (const auto& trial : record.trials) {
    if (!belongs(trial, record) || std::ranges::none_of(trial.members, measured_anything)) continue;
    trials_[trial.configuration].push_back(&trial);
  }
}

std::size_t counted_trials::size() const noexcept {
  std::size_t count = 0;
  for (const auto& of_one : trials_) count += of_one.size();
  return count;
}

std::vector<const run_record*> counted_trials::of(const configuration_member& member) const {
  std::vector<const run_record*> runs;
  for (const auto* trial : trials_[member.configuration]) {
    const auto& run = trial->members[member.member];
    if (measured_anything(run)) runs.push_back(&run);
  }
  return runs;
}

std::vector<std::vector<nanoseconds>> stage_times(const std::vector<const run_record*>& runs,
                                                  std::string_view name, measure what) {
  std::vector<std::vector<nanoseconds>> times;
  for (const auto* run : runs) {
    const auto stage = std::ranges::find(run->stages, name, &stage_record::name);
    auto& own = times.emplace_back();
    if (stage != run->stages.end()) own = times_of(*stage, what);
  }
  return times;
}

}  // namespace graphline
