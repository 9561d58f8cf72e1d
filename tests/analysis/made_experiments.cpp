#include "tests/analysis/made_experiments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "framework/analysis/analyze.hpp"
#include "framework/base/random.hpp"

namespace graphline::samples {

namespace {

constexpr std::size_t frames_of_a_trial = 20;

run_record trial_of(const made_configuration& of, std::size_t block) {
  std::vector<frame_times> frames(frames_of_a_trial, of.times);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const double factor = 1 + 0.002 * wobble(11, block) + 0.01 * wobble(12, 100 * block + i);
    auto& f = frames[i];
    f = {scaled(f.end_to_end, factor), scaled(f.backbone, factor), scaled(f.noise, factor),
         scaled(f.head, factor), f.launch};
  }
  auto run = run_of(of.timing, frames);
  run.outputs.front().values = {0.25};
  if (of.change) of.change(run);
  return run;
}

double throughput_of(const std::vector<const run_record*>& runs) {
  double frames = 0;
  double time = 0;
  for (const auto* run : runs) {
    frames += static_cast<double>(run->frames.size());
    time += static_cast<double>(run->frames.back().end - run->frames.front().begin);
  }
  return frames * 1e9 / time;
}

member_summary member_of(const std::string& name, const std::vector<const run_record*>& runs,
                         double tail) {
  member_summary result;
  result.name = name;
  result.trials = runs.size();
  if (runs.empty()) return result;
  std::vector<nanoseconds> all;
  std::vector<std::vector<nanoseconds>> stages(runs.front()->stages.size());
  for (const auto* run : runs) {
    const auto times = end_to_end_times(*run);
    all.insert(all.end(), times.begin(), times.end());
    result.trial_medians.push_back(static_cast<double>(distribution::of(times)->median()));
    result.due += times.size() + run->load.dropped.size();
    result.dropped += run->load.dropped.size();
    for (std::size_t i = 0; i < stages.size(); ++i) {
      const auto& stage = run->stages[i];
      const auto own = measures_of(stage.on, run->run);
      if (own.empty()) continue;
      const auto more = lengths(stamps_of(stage, own.front()));
      stages[i].insert(stages[i].end(), more.begin(), more.end());
    }
  }
  const auto& run = *runs.front();
  if (run.run.deadline) {
    std::vector<nanoseconds> late;
    for (const auto time : all) {
      if (time > *run.run.deadline) late.push_back(time - *run.run.deadline);
    }
    result.deadline = deadline_summary{*run.run.deadline, late.size(), {}, {}};
    if (const auto by = distribution::of(late)) {
      result.deadline->median_late = by->median();
      result.deadline->worst_late = by->max();
    }
  }
  result.end_to_end = distribution::of(std::move(all));
  result.tail = result.end_to_end->percentile(tail);
  result.throughput = throughput_of(runs);
  result.between_trials = stddev_of(result.trial_medians);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    auto times = distribution::of(std::move(stages[i]));
    std::optional<measure> what;
    if (times) what = measures_of(run.stages[i].on, run.run).front();
    result.stages.push_back({run.stages[i].name, run.stages[i].on, what, std::move(times)});
  }
  result.device_bytes = run.memory.device_peak_bytes;
  result.cores = 1.25;
  return result;
}

}  // namespace

frame_times taking(nanoseconds end_to_end) {
  frame_times times;
  times.end_to_end = end_to_end;
  return times;
}

made_configuration made_of(std::vector<std::pair<std::string, std::string>> assignments,
                           frame_times times) {
  made_configuration result;
  for (const auto& [key, value] : assignments) {
    result.name += (result.name.empty() ? "" : " ") + key + "=" + value;
  }
  result.assignments = std::move(assignments);
  result.times = times;
  return result;
}

experiment_record made_experiment(std::string name, const std::vector<made_configuration>& of,
                                  std::size_t blocks) {
  experiment_record record;
  record.name = std::move(name);
  for (std::size_t c = 0; c < of.size(); ++c) {
    record.configurations.push_back({of[c].name, of[c].assignments, {"two_models"}});
    if (c > 0) record.pairs.push_back({{c, 0}, {0, 0}});
  }
  for (std::size_t block = 0; block < blocks; ++block) {
    for (std::size_t c = 0; c < of.size(); ++c) {
      trial_record trial;
      trial.configuration = c;
      trial.block = block;
      trial.members.push_back(trial_of(of[c], block));
      record.trials.push_back(std::move(trial));
    }
  }
  return record;
}

experiment_record two_strategies() {
  return made_experiment("e", {made_of({{"strategy", "serial"}}), made_of({{"strategy", "async"}})},
                         3);
}

void for_runs_of(experiment_record& record, std::size_t configuration,
                 const std::function<void(run_record&)>& change) {
  for (auto& trial : record.trials) {
    if (trial.configuration != configuration) continue;
    for (auto& run : trial.members) change(run);
  }
}

void put_in_a_row(run_record& run) {
  auto& backbone = run.stages[0].device;
  auto& noise = run.stages[1].cpu;
  auto& head = run.stages[2].device;
  for (std::size_t i = 0; i < run.frames.size(); ++i) {
    noise[i] = {backbone[i].end, backbone[i].end + noise[i].length()};
    head[i] = {noise[i].end, noise[i].end + head[i].length()};
  }
}

std::size_t add_together(experiment_record& to, std::string name,
                         const std::vector<std::pair<std::string, made_configuration>>& members) {
  const std::size_t blocks = to.trials.empty() ? 10 : to.trials.back().block + 1;
  const std::size_t index = to.configurations.size();
  auto& configuration = to.configurations.emplace_back();
  configuration.name = std::move(name);
  for (const auto& [member, made] : members) configuration.members.push_back(member);
  for (std::size_t block = 0; block < blocks; ++block) {
    trial_record trial;
    trial.configuration = index;
    trial.block = block;
    for (const auto& [member, made] : members) {
      trial.members.push_back(trial_of(made, block));
      trial.members.back().pipeline = member;
    }
    to.trials.push_back(std::move(trial));
  }
  return index;
}

experiment_summary figures_of(const experiment_record& record) {
  experiment_summary summary;
  summary.complete_blocks = record.trials.empty() ? 0 : record.trials.back().block + 1;
  summary.counted_blocks = summary.complete_blocks;
  for (std::size_t c = 0; c < record.configurations.size(); ++c) {
    const auto& of = record.configurations[c];
    auto& to = summary.configurations.emplace_back();
    to.name = of.name;
    for (std::size_t m = 0; m < of.members.size(); ++m) {
      std::vector<const run_record*> runs;
      for (const auto& trial : record.trials) {
        const bool counts = trial.configuration == c && !trial.members[m].frames.empty();
        if (counts) runs.push_back(&trial.members[m]);
      }
      to.members.push_back(member_of(of.members[m], runs, record.how.tail));
    }
  }
  return summary;
}

namespace {

std::string shown(const finding& of) {
  std::string text(of.key);
  if (!of.subjects.empty()) text += fmt::format("({})", fmt::join(of.subjects, ", "));
  for (const auto& [name, value] : of.figures) {
    struct {
      std::string operator()(const quantity& number) const { return to_text(number); }
      std::string operator()(const std::string& words) const { return words; }
      std::string operator()(const std::vector<std::string>& list) const {
        return fmt::format("{}", fmt::join(list, "; "));
      }
      std::string operator()(const std::vector<finding_item>&) const { return "items"; }
    } in_words;
    text += fmt::format(" {}={}", name, std::visit(in_words, value));
  }
  for (const auto& one : of.cases) text += fmt::format(" [{}]", shown(one));
  return text;
}

}  // namespace

std::vector<std::string> findings(const experiment_record& record,
                                  const experiment_summary& summary) {
  std::vector<std::string> texts;
  for (const auto& one : analyze(record, summary).findings) texts.push_back(shown(one));
  return texts;
}

std::vector<std::string> findings(const experiment_record& record) {
  return findings(record, figures_of(record));
}

void add_comparison(experiment_summary& to, const experiment_record& record,
                    const made_comparison& made) {
  const auto value = [&](const configuration_member& who) {
    const auto& of = to.configurations[who.configuration].members[who.member];
    switch (made.figure) {
      case figure::p50:
        return static_cast<double>(of.end_to_end->median());
      case figure::tail:
        return static_cast<double>(of.tail.value_or(1));
      case figure::throughput:
        break;
    }
    return *of.throughput;
  };
  comparison result;
  result.pair = record.pairs[made.pair];
  result.figure = made.figure;
  result.value = value(result.pair.what);
  result.reference = value(result.pair.reference);
  result.difference = result.value - result.reference;
  result.ratio = result.value / result.reference;
  if (made.low > 0) {
    result.ratio_range = interval{made.low, made.high};
    result.difference_range =
        interval{(made.low - 1) * result.reference, (made.high - 1) * result.reference};
  }
  result.verdict = made.verdict;
  result.more_trials = made.more_trials;
  to.comparisons.push_back(result);
}

}  // namespace graphline::samples
