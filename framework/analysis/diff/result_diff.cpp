#include "framework/analysis/diff/result_diff.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "framework/analysis/diff/source_diff.hpp"
#include "framework/base/error.hpp"

namespace graphline {

namespace {

/// The first of `entries` whose `name` is the one given, or null.
template <class T>
const T* find(const std::vector<T>& entries, const std::string T::*name,
              const std::string& wanted) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const T& entry) { return entry.*name == wanted; });
  return found == entries.end() ? nullptr : &*found;
}

std::vector<stage_change> paired(const std::vector<saved_stage>& before,
                                 const std::vector<saved_stage>& after) {
  std::vector<stage_change> result;
  for (const auto& stage : before) {
    auto& added = result.emplace_back(stage_change{stage.name, {stage, {}}});
    if (const auto* other = find(after, &saved_stage::name, stage.name))
      added.stages.after = *other;
  }
  for (const auto& stage : after) {
    if (find(before, &saved_stage::name, stage.name) == nullptr) {
      result.push_back({stage.name, {{}, stage}});
    }
  }
  return result;
}

/// By how much two outputs of one type differ in the values that were saved of both.
void add_distance(output_change& to, const saved_output& before, const saved_output& after) {
  // Other numbers of values stand for other elements.
  if (before.values.size() != after.values.size()) return;
  double largest_value = 0;
  for (std::size_t i = 0; i < before.values.size(); ++i) {
    const auto& [a, b] = std::pair(before.values[i], after.values[i]);
    if (!a || !b) continue;
    ++to.compared;
    to.largest = std::max(to.largest.value_or(0), std::abs(*b - *a));
    largest_value = std::max({largest_value, std::abs(*a), std::abs(*b)});
  }
  if (to.largest && largest_value > 0) to.relative = *to.largest / largest_value;
}

output_change compare(const saved_output& before, const saved_output& after) {
  using finding = output_change::finding;
  output_change result{.tensor = before.tensor, .finite = {before.finite, after.finite}};
  if (before.dtype != after.dtype || before.shape != after.shape) {
    result.found = finding::other_type;
  } else if (before.checksum != after.checksum) {
    result.found = finding::differs;
    add_distance(result, before, after);
  }
  return result;
}

std::vector<output_change> paired(const std::vector<saved_output>& before,
                                  const std::vector<saved_output>& after) {
  using finding = output_change::finding;
  std::vector<output_change> result;
  for (const auto& output : before) {
    const auto* other = find(after, &saved_output::tensor, output.tensor);
    if (other != nullptr) {
      result.push_back(compare(output, *other));
    } else {
      result.push_back({.tensor = output.tensor, .found = finding::only_before});
    }
  }
  for (const auto& output : after) {
    if (find(before, &saved_output::tensor, output.tensor) != nullptr) continue;
    result.push_back({.tensor = output.tensor, .found = finding::only_after});
  }
  return result;
}

std::optional<double> missed_part(const saved_run& run) {
  if (!run.missed_deadline || !run.end_to_end) return std::nullopt;
  return static_cast<double>(*run.missed_deadline) / static_cast<double>(run.end_to_end->count());
}

std::optional<double> as_double(const std::optional<nanoseconds>& ns) {
  return ns ? std::optional(static_cast<double>(*ns)) : std::nullopt;
}

/// The change of what `get` takes out of both samples that are there.
template <class Get>
figure_change change_of(const std::optional<distribution>& before,
                        const std::optional<distribution>& after, const Get& get) {
  const auto value = [&](const std::optional<distribution>& times) -> std::optional<double> {
    if (!times) return std::nullopt;
    return get(*times);
  };
  return {{value(before), value(after)}};
}

}  // namespace

std::optional<double> figure_change::relative() const noexcept {
  if (!before || !after || !(*before > 0)) return std::nullopt;
  return *after / *before - 1;
}

std::vector<fact_change> differences(const saved_facts& before, const saved_facts& after) {
  using fact = saved_facts::value_type;
  std::vector<fact_change> result;
  for (const auto& [name, text] : before) {
    const auto* other = find(after, &fact::first, name);
    if (other == nullptr) {
      result.push_back({name, {text, {}}});
    } else if (other->second != text) {
      result.push_back({name, {text, other->second}});
    }
  }
  for (const auto& [name, text] : after) {
    if (find(before, &fact::first, name) == nullptr) result.push_back({name, {{}, text}});
  }
  return result;
}

origin_diff compare(const saved_origin& before, const saved_origin& after) {
  origin_diff result{.origins = {before, after},
                     .device = differences(before.device, after.device),
                     .settings = differences(before.settings, after.settings),
                     .environment = differences(before.environment, after.environment),
                     .source = {},
                     .source_unknown = {}};
  if (!result.has_source()) return result;
  for (const auto* origin : {&before, &after}) {
    if (!origin->sources->empty()) continue;
    result.source_unknown = origin->file + " does not hold the text that it was made from";
    return result;
  }
  try {
    result.source = differences(*before.sources, *after.sources);
  } catch (const input_error& problem) {
    const std::string message = problem.what();
    result.source_unknown = message.substr(0, message.find('\n'));
  }
  return result;
}

figure_change stage_change::median() const {
  const auto value = [](const std::optional<saved_stage>& stage) -> std::optional<double> {
    if (!stage || !stage->times) return std::nullopt;
    return static_cast<double>(stage->times->median());
  };
  return {{value(stages.before), value(stages.after)}};
}

bool stage_change::same_measure() const noexcept {
  return stages.before && stages.after && stages.before->what == stages.after->what;
}

figure_change run_diff::mean() const {
  return change_of(end_to_end.before, end_to_end.after, [](const distribution& times) {
    return times.why_unsettled().empty() ? std::optional(times.mean()) : std::nullopt;
  });
}

figure_change run_diff::percentile(double p) const {
  return change_of(end_to_end.before, end_to_end.after,
                   [p](const distribution& times) { return as_double(times.percentile(p)); });
}

run_diff compare(const saved_run& before, const saved_run& after) {
  return {.origin = compare(before.origin, after.origin),
          .end_to_end = {before.end_to_end, after.end_to_end},
          .p50_ranges = {before.p50_range, after.p50_range},
          .throughput = {{before.throughput, after.throughput}},
          .device_peak_bytes = {{before.device_peak_bytes, after.device_peak_bytes}},
          .pinned_peak_bytes = {{before.pinned_peak_bytes, after.pinned_peak_bytes}},
          .missed = {{missed_part(before), missed_part(after)}},
          .stages = paired(before.stages, after.stages),
          .outputs = paired(before.outputs, after.outputs),
          .interrupted = {before.interrupted, after.interrupted},
          .failure = {before.failure, after.failure}};
}

}  // namespace graphline
