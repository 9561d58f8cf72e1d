#include "framework/analysis/ranks/ranks_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "framework/analysis/diff/output_diff.hpp"

namespace graphline {
namespace {

std::optional<distribution> times_of_all(const ranks_record& record, const ranks_analysis& of) {
  std::vector<nanoseconds> all;
  for (const rank_record& rank : record.ranks) {
    if (rank.run) std::ranges::copy(end_to_end_times(*rank.run), std::back_inserter(all));
  }
  auto pooled = distribution::of(std::move(all));
  for (const auto& rank : of.ranks) {
    if (!rank || !rank->summary.end_to_end) continue;
    if (const auto& why = rank->summary.end_to_end->why_unsettled(); !why.empty()) {
      return std::move(*pooled).unsettled(why);
    }
  }
  return pooled;
}

/// Sets the figures of a pipeline in parts, if no rank is lost and all clocks are known.
void add_whole_frames(const ranks_record& record, ranks_analysis& to) {
  run_record whole;
  nanoseconds error = 0;
  for (const rank_record& rank : record.ranks) {
    if (!rank.run || !has_begun(*rank.run)) return;
    const run_record& run = *rank.run;
    if (rank.rank == 0) {
      whole.run = run.run;
      whole.run.timing = timing_method::none;
      whole.epoch = run.epoch;
      whole.frames = run.frames;
      whole.load = run.load;
      whole.conditions = run.conditions;
      whole.failure = run.failure;
      whole.interrupted = run.interrupted;
    }
    whole.frames.resize(std::min(whole.frames.size(), run.frames.size()));
    const nanoseconds epoch = first_begin(run) - run.frames.front().begin;
    for (std::size_t f = 0; f < whole.frames.size(); ++f) {
      const auto clock = clock_of(rank, epoch + run.frames[f].end);
      if (!clock) return;
      error = std::max(error, clock->error);
      nanoseconds& end = whole.frames[f].end;
      end = std::max(end, clock->at - clock->offset - *whole.epoch);
    }
  }
  to.clock_error = error;
  to.whole_summary = analyze(whole).summary;
  to.end_to_end = to.whole_summary.end_to_end;
  to.throughput = to.whole_summary.throughput;
  to.whole = std::move(whole);
}

std::optional<double> sum_of_throughput(const ranks_analysis& of) {
  double sum = 0;
  for (const auto& rank : of.ranks) {
    if (!rank || !rank->summary.throughput) return std::nullopt;
    sum += *rank->summary.throughput;
  }
  return sum;
}

/// Returns the names of the stages of all ranks, in order.
std::vector<std::string> stage_names(const ranks_record& record) {
  std::vector<std::string> names;
  for (const rank_record& rank : record.ranks) {
    if (!rank.run) continue;
    for (const stage_record& stage : rank.run->stages) {
      if (std::ranges::find(names, stage.name) == names.end()) names.push_back(stage.name);
    }
  }
  return names;
}

/// Returns the stages that a rank of a pipeline in parts timed. Copies can have one name on several
/// ranks.
std::vector<pooled_stage> stages_in_parts(const ranks_record& record, const ranks_analysis& of) {
  std::vector<pooled_stage> stages;
  std::map<std::string, std::size_t> ranks_with;
  for (std::size_t r = 0; r < record.ranks.size(); ++r) {
    if (!of.ranks[r]) continue;
    const auto& summaries = of.ranks[r]->summary.stages;
    for (std::size_t s = 0; s < summaries.size(); ++s) {
      const auto& columns = summaries[s].columns;
      if (columns.empty() || !columns.front().times) continue;
      const std::string& name = record.ranks[r].run->stages[s].name;
      const auto& [what, times] = columns.front();
      stages.push_back({name, what, *times, r, *times});
      ++ranks_with[name];
    }
  }
  for (pooled_stage& stage : stages) {
    if (ranks_with[stage.name] == 1) continue;
    stage.name += fmt::format("@rank{}", record.ranks[stage.slowest].rank);
  }
  return stages;
}

/// Returns the stages that any rank timed, over all ranks.
std::vector<pooled_stage> pooled_stages(const ranks_record& record, const ranks_analysis& of) {
  std::vector<pooled_stage> stages;
  for (const std::string& name : stage_names(record)) {
    std::vector<nanoseconds> all;
    std::optional<std::size_t> slowest;
    const stage_summary::column* longest = nullptr;
    for (std::size_t r = 0; r < record.ranks.size(); ++r) {
      if (!of.ranks[r]) continue;
      const run_record& run = *record.ranks[r].run;
      const auto found = std::ranges::find(run.stages, name, &stage_record::name);
      if (found == run.stages.end()) continue;
      const auto& columns =
          of.ranks[r]->summary.stages[static_cast<std::size_t>(found - run.stages.begin())].columns;
      if (columns.empty() || !columns.front().times) continue;
      // A stage of a GPU and one of `host` may be timed differently.
      if (longest != nullptr && columns.front().what != longest->what) continue;
      const auto& times = *columns.front().times;
      std::ranges::copy(times.sorted(), std::back_inserter(all));
      if (slowest && times.median() <= longest->times->median()) continue;
      slowest = r;
      longest = &columns.front();
    }
    if (!slowest) continue;
    stages.push_back(
        {name, longest->what, *distribution::of(std::move(all)), *slowest, *longest->times});
  }
  return stages;
}

std::vector<std::optional<nanoseconds>> begins_of(const ranks_record& record) {
  std::vector<std::optional<nanoseconds>> begins;
  for (const rank_record& rank : record.ranks) {
    auto& begin = begins.emplace_back();
    if (!rank.run || !has_begun(*rank.run)) continue;
    const auto clock = clock_of(rank, first_begin(*rank.run));
    if (clock) begin = clock->at - clock->offset;
  }
  const auto first = begins.front();
  for (auto& begin : begins) {
    begin = begin && first ? std::optional(*begin - *first) : std::nullopt;
  }
  return begins;
}

// ---- Findings -----------------------------------------------------------------------------------

void add_failures(const ranks_record& record, std::vector<finding>& to) {
  for (const rank_record& rank : record.ranks) {
    if (!rank.lost.empty()) {
      to.push_back(finding{"rank_lost", finding_severity::failure, {name_of(rank)}}
                       .with("rank", name_of(rank))
                       .with("why", rank.lost));
    } else if (rank.run && rank.run->failure) {
      to.push_back(finding{"rank_failed", finding_severity::failure, {name_of(rank)}}
                       .with("rank", name_of(rank))
                       .with("failure", *rank.run->failure)
                       .with("done", rank.run->frames.size())
                       .with("frames", rank.run->run.frames));
    }
  }
  if (record.failure && to.empty()) {
    to.push_back(
        finding{"experiment_failed", finding_severity::failure}.with("failure", *record.failure));
  }
  if (record.interrupted) to.push_back({"experiment_interrupted", finding_severity::failure});
}

/// Adds the findings of the single runs that tell about validity. One that several ranks share
/// appears once, with their names.
void add_warnings_of_runs(const ranks_record& record, const ranks_analysis& of,
                          std::vector<finding>& to) {
  std::vector<std::pair<finding, std::vector<std::string>>> shared;
  for (std::size_t r = 0; r < record.ranks.size(); ++r) {
    if (!of.ranks[r]) continue;
    for (const finding& found : of.ranks[r]->summary.findings) {
      if (found.how == finding_severity::note) continue;
      auto known =
          std::ranges::find(shared, found, &std::pair<finding, std::vector<std::string>>::first);
      if (known == shared.end()) known = shared.insert(known, {found, {}});
      known->second.push_back(fmt::to_string(record.ranks[r].rank));
    }
  }
  for (auto& [found, ranks] : shared) {
    const bool all = ranks.size() == record.ranks.size();
    finding about{"of_ranks", found.how};
    if (!all && ranks.size() == 1) about.with("rank", ranks.front());
    if (!all && ranks.size() > 1) about.with("ranks", std::move(ranks));
    about.cases.push_back(std::move(found));
    to.push_back(std::move(about));
  }
}

/// Names the rank whose median lies above that of the others: its whole 95 % interval is above the
/// interval of every other rank.
void add_slowest(const ranks_record& record, const ranks_analysis& of, std::vector<finding>& to) {
  struct median {
    std::size_t rank;
    nanoseconds value;
    percentile_interval within;
  };
  std::vector<median> medians;
  for (std::size_t r = 0; r < of.ranks.size(); ++r) {
    if (!of.ranks[r]) continue;
    const auto& intervals = of.ranks[r]->intervals;
    const auto found = std::ranges::find(intervals, 0.5, &percentile_interval::p);
    if (found == intervals.end() || !found->low || !found->high) continue;
    medians.push_back({r, of.ranks[r]->summary.end_to_end->median(), *found});
  }
  if (medians.size() < 2) return;
  std::ranges::sort(medians, {}, &median::value);
  const median& slowest = medians.back();
  const median& next = medians[medians.size() - 2];
  nanoseconds highest = 0;
  for (const median& m : medians) {
    if (m.rank != slowest.rank) highest = std::max(highest, *m.within.high);
  }
  if (*slowest.within.low <= highest) {
    to.push_back(finding{"no_slowest_rank"});
    return;
  }
  const double more = static_cast<double>(slowest.value) / static_cast<double>(next.value) - 1;
  to.push_back(
      finding{"slowest_rank", finding_severity::note, {name_of(record.ranks[slowest.rank])}}
          .with("time", quantity{static_cast<double>(slowest.value), unit::duration})
          .with("more", quantity{more, unit::change})
          .with("next", quantity{static_cast<double>(next.value), unit::duration}));
}

/// Warns if ranks measured for different times: the sum of their rates then is no rate at which all
/// of them worked.
void compare_lengths(const ranks_record& record, std::vector<finding>& to) {
  std::vector<nanoseconds> lengths;
  for (const rank_record& rank : record.ranks) {
    if (rank.run && !rank.run->frames.empty()) lengths.push_back(running_time(*rank.run));
  }
  if (lengths.size() < 2) return;
  const auto [shortest, longest] = std::ranges::minmax(lengths);
  if (static_cast<double>(longest) <= 1.05 * static_cast<double>(shortest)) return;
  to.push_back(finding{"ranks_ended_apart", finding_severity::warning}
                   .with("shortest", quantity{static_cast<double>(shortest), unit::duration})
                   .with("longest", quantity{static_cast<double>(longest), unit::duration}));
}

void compare_outputs(const ranks_record& record, std::vector<finding>& to) {
  const run_record& first = first_run(record);
  bool same = !first.outputs.empty();
  for (const rank_record& rank : record.ranks) {
    if (!rank.run || rank.run->failure || rank.run->interrupted) return;
    for (const output_change& output : compare(first.outputs, rank.run->outputs)) {
      if (output.found == output_fate::same) continue;
      same = false;
      to.push_back(finding{"rank_output_differs", finding_severity::warning, {name_of(rank)}}
                       .with("tensor", output.tensor)
                       .with("largest", output.largest, unit::none));
      break;
    }
  }
  if (same) to.push_back(finding{"ranks_same_outputs"});
}

/// Returns for each rank with a reference the output that differs most from it.
void compare_references(const ranks_record& record, std::vector<finding>& to) {
  for (const rank_record& rank : record.ranks) {
    if (!rank.run) continue;
    const output_record* most = nullptr;
    for (const output_record& output : rank.run->outputs) {
      if (output.error && (most == nullptr || *output.error > *most->error)) most = &output;
    }
    if (most == nullptr) continue;
    to.push_back(finding{"rank_reference", finding_severity::note, {name_of(rank)}}
                     .with("tensor", most->tensor)
                     .with("error", *most->error, unit::none));
  }
}

}  // namespace

ranks_analysis analyze(const ranks_record& record) {
  ranks_analysis made;
  for (const rank_record& rank : record.ranks) {
    made.ranks.push_back(rank.run ? std::optional(analyze(*rank.run)) : std::nullopt);
  }
  if (record.parts) {
    add_whole_frames(record, made);
  } else {
    made.end_to_end = times_of_all(record, made);
    made.throughput = sum_of_throughput(made);
  }
  made.stages = record.parts ? stages_in_parts(record, made) : pooled_stages(record, made);
  made.began = begins_of(record);
  add_failures(record, made.findings);
  const bool whole = made.findings.empty();  // else all ended when one did
  for (std::size_t r = 1; r < record.ranks.size() && whole; ++r) {
    if (!record.ranks[r].run || record.ranks[r].clock.size() >= 2) continue;
    made.findings.push_back(
        {"rank_clock_unknown", finding_severity::warning, {name_of(record.ranks[r])}});
  }
  add_warnings_of_runs(record, made, made.findings);
  if (record.parts) return made;
  if (whole) compare_lengths(record, made.findings);
  compare_outputs(record, made.findings);
  compare_references(record, made.findings);
  if (record.ranks.size() > 1) add_slowest(record, made, made.findings);
  return made;
}

}  // namespace graphline
