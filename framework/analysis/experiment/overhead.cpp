#include "framework/analysis/experiment/overhead.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "framework/analysis/run/disturbance.hpp"

namespace graphline {

namespace {

bool ran_to_its_end(const overhead_trial& trial) {
  return !trial.record.frames.empty() && !trial.record.interrupted && !trial.record.failure;
}

std::optional<double> median_frame(std::vector<nanoseconds> times) {
  const auto all = distribution::of(std::move(times));
  if (!all) return std::nullopt;
  return static_cast<double>(all->median());
}

/// The trials of the complete blocks by block and method; without one, all that measured anything.
class trial_table {
 public:
  explicit trial_table(const overhead_record& record) {
    std::map<std::size_t, std::set<timing_method>> finished;
    for (const auto& trial : record.trials) {
      if (ran_to_its_end(trial)) finished[trial.block].insert(trial.record.run.timing);
    }
    for (const auto& [block, methods] : finished) {
      const bool complete =
          std::all_of(record.methods.begin(), record.methods.end(),
                      [&in = methods](timing_method m) { return in.contains(m); });
      if (complete) complete_.insert(block);
    }
    for (const auto& trial : record.trials) {
      const bool counts = complete_.empty()
                              ? !trial.record.frames.empty()
                              : complete_.contains(trial.block) && ran_to_its_end(trial);
      if (counts) {
        trials_[{trial.record.run.timing, trial.block}] = &trial.record;
      } else {
        ++left_out_;
      }
    }
  }

  std::size_t complete_blocks() const noexcept { return complete_.size(); }
  std::size_t left_out() const noexcept { return left_out_; }

  /// In order of the blocks.
  std::vector<const run_record*> of(timing_method method) const {
    std::vector<const run_record*> found;
    for (const auto& [key, record] : trials_) {
      if (key.first == method) found.push_back(record);
    }
    return found;
  }

 private:
  std::set<std::size_t> complete_;
  std::map<std::pair<timing_method, std::size_t>, const run_record*> trials_;
  std::size_t left_out_ = 0;
};

std::vector<method_summary::stage_time> stage_times(const std::vector<const run_record*>& trials,
                                                    timing_method method) {
  std::vector<method_summary::stage_time> result;
  if (trials.empty() || method == timing_method::none) return result;
  for (std::size_t i = 0; i < trials.front()->stages.size(); ++i) {
    const auto what = measures_of(trials.front()->stages[i].on, trials.front()->run).front();
    std::vector<double> medians;
    for (const auto* trial : trials) {
      if (const auto m = median_frame(times_of(trial->stages.at(i), what))) {
        medians.push_back(*m);
      }
    }
    result.push_back({what, trial_figure::of(std::move(medians))});
  }
  return result;
}

/// From the lower to the upper quartile, by nearest rank.
std::optional<double> spread_of(std::vector<double> values) {
  const std::size_t n = values.size();
  if (n < 4) return std::nullopt;
  std::sort(values.begin(), values.end());
  return values[(3 * n + 3) / 4 - 1] - values[(n + 3) / 4 - 1];
}

added_cost cost_of(const trial_figure& method, const trial_figure& baseline) {
  std::vector<double> differences(method.trials.size());
  std::transform(method.trials.begin(), method.trials.end(), baseline.trials.begin(),
                 differences.begin(), [](double with, double without) { return with - without; });
  return {median_of(differences), median_interval(differences), baseline.median};
}

/// That the machine was disturbed. Trials under `none` do not know which thread ran which stage.
std::optional<std::string> warning_of(const overhead_record& record) {
  if (record.trials.empty()) return std::nullopt;
  auto one = std::find_if(record.trials.begin(), record.trials.end(), [](const auto& trial) {
    return trial.record.run.timing != timing_method::none;
  });
  if (one == record.trials.end()) one = record.trials.begin();
  return disturbance_warning(record.conditions, one->record);
}

}  // namespace

std::optional<trial_figure> trial_figure::of(std::vector<double> trials) {
  if (trials.empty()) return std::nullopt;
  const double median = median_of(trials);
  const auto spread = spread_of(trials);
  return trial_figure{std::move(trials), median, spread};
}

const method_summary* overhead_summary::find(timing_method method) const noexcept {
  for (const auto& summary : methods) {
    if (summary.method == method) return &summary;
  }
  return nullptr;
}

overhead_summary summarize(const overhead_record& record) {
  const trial_table table(record);
  overhead_summary result;
  result.complete_blocks = table.complete_blocks();
  result.trials_left_out = table.left_out();
  if (!record.trials.empty()) {
    for (const auto& stage : record.trials.front().record.stages) {
      result.stages.push_back(stage.name);
      result.sides.push_back(stage.on);
    }
  }
  for (const auto method : record.methods) {
    const auto trials = table.of(method);
    method_summary summary;
    summary.method = method;
    std::vector<double> medians;
    for (const auto* trial : trials) {
      if (const auto m = median_frame(end_to_end_times(*trial))) medians.push_back(*m);
    }
    summary.end_to_end = trial_figure::of(std::move(medians));
    summary.stages = stage_times(trials, method);
    result.methods.push_back(std::move(summary));
  }
  if (auto warning = warning_of(record)) result.warnings.push_back(std::move(*warning));
  const auto* none = result.find(timing_method::none);
  if (result.complete_blocks > 0 && none != nullptr) {
    for (auto& summary : result.methods) {
      if (&summary != none) summary.cost = cost_of(*summary.end_to_end, *none->end_to_end);
    }
  }
  return result;
}

}  // namespace graphline
