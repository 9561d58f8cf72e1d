#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "framework/analysis/experiment/counted_trials.hpp"
#include "framework/analysis/run/disturbance.hpp"
#include "framework/report/json/experiment_parts_json.hpp"
#include "framework/report/json/record_json.hpp"
#include "framework/report/store/result_parts.hpp"
#include "framework/report/store/saved_readers.hpp"

namespace graphline {

namespace {

/// One pipeline's part of a trial, of which the frames and the machine's conditions are read.
run_record frames_of(const json_part& member) {
  const auto frames = member.at("frames");
  const auto due = frames.at("due").wholes<nanoseconds>();
  const auto begin = frames.at("begin").wholes<nanoseconds>();
  const auto end = frames.at("end").wholes<nanoseconds>();
  if (due.size() != end.size() || begin.size() != end.size()) {
    frames.fail("three columns of the same length");
  }
  run_record result;
  result.frames.reserve(end.size());
  for (std::size_t i = 0; i < end.size(); ++i) {
    result.frames.push_back({due[i], begin[i], end[i]});
  }
  if (const auto conditions = member.find("conditions")) {  // not in results of earlier versions
    result.conditions = conditions_from(*conditions);
  }
  result.interrupted = member.at("interrupted").boolean();
  if (const auto failure = member.find("failure")) result.failure = failure->text();
  return result;
}

/// What it takes to tell which trials count.
experiment_record record_of(const json_part& result) {
  experiment_record record;
  record.how = how_from(result.at("settings"));
  for (const auto& from : result.at("configurations").items()) {
    record.configurations.push_back(configuration_from(from));
  }
  for (const auto& from : result.at("trials").items()) {
    auto& trial = record.trials.emplace_back();
    trial.configuration = from.at("configuration").whole<std::size_t>();
    trial.block = from.at("block").whole<std::size_t>();
    for (const auto& member : from.at("members").items()) {
      trial.members.push_back(frames_of(member));
    }
  }
  return record;
}

/// As the experiment's own summary counts them.
counted_trials trials_of(const experiment_record& record, const json_part& result) {
  const counted_trials all(record);
  if (!record.how.repeat_affected) return all;
  return all.without(result.at("steadiness").at("affected_blocks").wholes<std::size_t>());
}

std::string name_of(const experiment_configuration& configuration, std::size_t member) {
  if (configuration.members.size() == 1) return configuration.name;
  return fmt::format("{}: {}", configuration.name, configuration.members[member]);
}

/// "3 of 12 trials, the first of them: other processes kept 1.70 of 2 cores busy"; empty for none.
std::string disturbed_text(const experiment_record& record) {
  const auto disturbed = disturbed_trials_of(record);
  if (disturbed.count == 0) return "";
  return fmt::format("{} of {} trials{}: {}", disturbed.count, record.trials.size(),
                     disturbed.count == 1 ? "" : ", the first of them", disturbed.first);
}

/// Settings of the runs that all configurations have in common; the others are in their names.
saved_facts common_settings(const json_part& result) {
  std::optional<saved_facts> common;
  for (const auto& configuration : result.at("configurations").items()) {
    for (const auto& member : configuration.at("members").items()) {
      const auto settings = member.find("settings");
      if (!settings) continue;
      const auto facts = facts_of(*settings);
      if (!common) common = facts;
      std::erase_if(*common, [&](const auto& fact) {
        return std::find(facts.begin(), facts.end(), fact) == facts.end();
      });
    }
  }
  return common.value_or(saved_facts());
}

}  // namespace

saved_experiment saved_experiment_of(const json_part& result) {
  const auto record = record_of(result);
  const auto counted = trials_of(record, result);
  saved_experiment experiment;
  experiment.origin = origin_of(result, "name");
  experiment.origin.disturbed = disturbed_text(record);
  for (auto& [name, text] : common_settings(result)) {
    experiment.origin.settings.emplace_back("run." + name, std::move(text));
  }
  auto& sources = experiment.origin.sources.emplace();
  if (const auto kept = result.find("sources")) {  // not in results of earlier versions
    for (const auto& source : kept->items()) sources.push_back(source_of(source));
  }
  // A checksum tells only that a file is another one; of texts it can be said in what.
  for (auto& [path, checksum] : result.at("files").pairs()) {
    if (std::ranges::find(sources, path, &source_record::file) != sources.end()) continue;
    experiment.origin.settings.emplace_back(std::move(path), std::move(checksum));
  }
  experiment.margin = record.how.margin;
  experiment.tail = record.how.tail;
  experiment.complete = !counted.blocks().empty();
  for (std::size_t c = 0; c < record.configurations.size(); ++c) {
    const auto& configuration = record.configurations[c];
    for (std::size_t m = 0; m < configuration.members.size(); ++m) {
      auto& added = experiment.configurations.emplace_back();
      added.name = name_of(configuration, m);
      added.who = {c, m};
      const auto runs = experiment.complete ? counted.of({c, m}) : measured_runs(record, {c, m});
      for (const auto* run : runs) added.trials.push_back(*run);
    }
  }
  experiment.declared = record.configurations;
  experiment.interrupted = result.at("interrupted").boolean();
  if (const auto failure = result.find("failure")) experiment.failure = failure->text();
  return experiment;
}

}  // namespace graphline
