#include "tests/analysis/made_experiments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "framework/base/random.hpp"
#include "tests/analysis/time_units.hpp"

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
  run.processor_time = scaled(run.frames.back().end - run.frames.front().begin, 1.25);
  return run;
}

/// A pipeline of one CPU stage, which runs for `length` every 10 ms from `phase` on.
run_record periodic(const std::string& pipeline, const std::string& stage, nanoseconds phase,
                    nanoseconds length, double factor) {
  run_record run;
  run.pipeline = pipeline;
  run.epoch = 1'000;
  run.run.frames = 15;
  run.stages.resize(1);
  run.stages[0].name = stage;
  run.stages[0].on = side::cpu;
  for (nanoseconds due = phase; due < 150 * ms; due += 10 * ms) {
    const nanoseconds begin = scaled(due, factor);
    const nanoseconds end = scaled(due + length, factor);
    run.frames.push_back({begin, begin, end});
    run.stages[0].cpu.push_back({begin, end});
  }
  return run;
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

experiment_record made_chains(const std::vector<double>& factors, std::uint64_t seed) {
  experiment_record record;
  record.name = "chains";
  record.chains = {{"brake", {{"camera", "grab"}, {"control", "act"}}}};
  for (std::size_t c = 0; c < factors.size(); ++c) {
    const auto value = fmt::to_string(c + 1);
    record.configurations.push_back({"speed=" + value, {{"speed", value}}, {"camera", "control"}});
    for (std::size_t m = 0; c > 0 && m < 2; ++m) record.pairs.push_back({{c, m}, {0, m}});
  }
  for (std::size_t block = 0; block < 10; ++block) {
    for (std::size_t c = 0; c < factors.size(); ++c) {
      const double factor = factors[c] * (1 + 0.003 * wobble(seed, 100 * c + block));
      // The control loop reads what the camera published 3 ms before.
      record.trials.push_back({c,
                               block,
                               0,
                               {periodic("camera", "grab", 0, 2 * ms, factor),
                                periodic("control", "act", 5 * ms, 3 * ms, factor)}});
    }
  }
  return record;
}

experiment_summary figures_of(const experiment_record& record) {
  auto summary = summarize(record);
  summary.comparisons.clear();
  summary.stage_comparisons.clear();
  summary.machine = {};
  return summary;
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
      case figure::late:
        return of.deadline->misses.share();
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
  if (made.figure == figure::late) {
    result.difference_range = interval{made.low, made.high};
  } else {
    result.ratio = result.value / result.reference;
  }
  if (made.figure != figure::late && made.low > 0) {
    result.ratio_range = interval{made.low, made.high};
    result.difference_range =
        interval{(made.low - 1) * result.reference, (made.high - 1) * result.reference};
  }
  result.verdict = made.verdict;
  result.more_trials = made.more_trials;
  to.comparisons.push_back(result);
}

}  // namespace graphline::samples
