#include "framework/analysis/experiment/counted_trials.hpp"

#include <algorithm>
#include <map>

namespace graphline {
namespace {

bool belongs(const trial_record& trial, const experiment_record& record) {
  return trial.configuration < record.configurations.size() &&
         trial.members.size() == record.configurations[trial.configuration].members.size();
}

bool ran_to_its_end(const trial_record& trial) {
  return !trial.members.empty() &&
         std::all_of(trial.members.begin(), trial.members.end(), [](const run_record& run) {
           return !run.frames.empty() && !run.interrupted && !run.failure;
         });
}

}  // namespace

counted_trials::counted_trials(const experiment_record& record)
    : configurations_(record.configurations.size()) {
  std::map<std::size_t, std::vector<const trial_record*>> finished;  // by block
  for (const auto& trial : record.trials) {
    if (!belongs(trial, record) || !ran_to_its_end(trial)) continue;
    auto& block = finished[trial.block];
    block.resize(configurations_);
    block[trial.configuration] = &trial;
  }
  for (const auto& [block, trials] : finished) {
    if (std::find(trials.begin(), trials.end(), nullptr) != trials.end()) continue;
    blocks_.push_back(block);
    trials_.insert(trials_.end(), trials.begin(), trials.end());
  }
}

std::vector<const run_record*> counted_trials::of(const configuration_member& member) const {
  std::vector<const run_record*> runs;
  for (std::size_t i = member.configuration; i < trials_.size(); i += configurations_) {
    runs.push_back(&trials_[i]->members[member.member]);
  }
  return runs;
}

counted_trials counted_trials::without(std::span<const std::size_t> blocks) const {
  counted_trials result = *this;
  result.blocks_.clear();
  result.trials_.clear();
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    if (std::find(blocks.begin(), blocks.end(), blocks_[b]) != blocks.end()) continue;
    result.blocks_.push_back(blocks_[b]);
    const auto first = trials_.begin() + static_cast<std::ptrdiff_t>(b * configurations_);
    result.trials_.insert(result.trials_.end(), first,
                          first + static_cast<std::ptrdiff_t>(configurations_));
  }
  return result;
}

std::vector<const run_record*> measured_runs(const experiment_record& record,
                                             const configuration_member& member) {
  std::vector<const run_record*> runs;
  for (const auto& trial : record.trials) {
    if (trial.configuration != member.configuration || !belongs(trial, record)) continue;
    const auto& run = trial.members[member.member];
    if (!run.frames.empty()) runs.push_back(&run);
  }
  return runs;
}

std::size_t measured_trials(const experiment_record& record) {
  const auto count =
      std::count_if(record.trials.begin(), record.trials.end(), [&](const trial_record& trial) {
        return belongs(trial, record) &&
               std::any_of(trial.members.begin(), trial.members.end(),
                           [](const run_record& run) { return !run.frames.empty(); });
      });
  return static_cast<std::size_t>(count);
}

}  // namespace graphline
