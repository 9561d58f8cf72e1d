#include "framework/analysis/experiment/experiment_summary.hpp"

#include <algorithm>
#include <utility>

#include "framework/analysis/experiment/comparisons.hpp"
#include "framework/analysis/experiment/counted_trials.hpp"
#include "framework/analysis/run/frame_period.hpp"

namespace graphline {
namespace {

using run_list = std::vector<const run_record*>;

void append(std::vector<nanoseconds>& to, const std::vector<nanoseconds>& times) {
  to.insert(to.end(), times.begin(), times.end());
}

void add_frames(member_summary& to, const run_list& runs, double tail) {
  std::vector<nanoseconds> all;
  nanoseconds running = 0;
  completed_frames done;
  nanoseconds processor = 0;
  for (const auto* run : runs) {
    auto times = end_to_end_times(*run);
    append(all, times);
    running += running_time(*run);
    const auto completed = completions_of(*run);
    done.count += completed.count;
    done.time += completed.time;
    processor += run->processor_time;
    to.due += frames_due(*run);
    to.dropped += run->load.dropped.size();
    to.device_bytes = std::max(to.device_bytes, run->memory.device_bytes);
    if (!times.empty()) {
      to.trial_medians.push_back(static_cast<double>(lower_median(std::move(times))));
    }
  }
  to.overload = overload_of(runs);
  if (to.latency_grows()) to.trial_medians.clear();
  to.between_trials = stddev_of(to.trial_medians);
  if (done.time > 0) to.throughput = done.count * 1e9 / done.time;
  // A processor time of 0 means that none was recorded.
  if (running > 0 && processor > 0) {
    to.cores = static_cast<double>(processor) / static_cast<double>(running);
  }
  if (!runs.empty() && runs.front()->run.deadline) {
    to.deadline = compare_with_deadline(*runs.front()->run.deadline, runs);
  }
  to.end_to_end = distribution::of(std::move(all));
  if (to.end_to_end && to.latency_grows()) {
    to.end_to_end = std::move(*to.end_to_end).unsettled(latency_grows_with_length);
  }
  if (to.end_to_end) to.tail = to.end_to_end->percentile(tail);
}

void add_rows(member_summary::stage& to, const run_list& runs) {
  double frames = 0;
  double ran = 0;
  double rows = 0;
  for (const auto* run : runs) {
    const auto stage = std::ranges::find(run->stages, to.name, &stage_record::name);
    const auto found = stage == run->stages.end() ? std::nullopt : rows_of(*stage, run->run);
    if (!found) continue;
    frames += static_cast<double>(stage->rows.size());
    ran += static_cast<double>(found->ran);
    rows += static_cast<double>(found->rows);
  }
  if (frames > 0) to.ran = ran / frames;
  if (rows > 0) to.mean_rows = rows / ran;
}

void add_stage(member_summary& to, const stage_record& first, const run_list& runs) {
  auto& stage = to.stages.emplace_back();
  stage.name = first.name;
  stage.on = first.on;
  add_rows(stage, runs);
  const auto measures = measures_of(first.on, runs.front()->run);
  if (measures.empty()) return;
  stage.what = measures.front();
  std::vector<nanoseconds> all;
  for (const auto& times : stage_times(runs, first.name, *stage.what)) append(all, times);
  stage.times = distribution::of(std::move(all));
}

/// Metrics that no run provides are empty.
member_summary summarize_member(std::string name, const run_list& runs, double tail) {
  member_summary result;
  result.name = std::move(name);
  result.trials = runs.size();
  add_frames(result, runs, tail);
  if (runs.empty()) return result;
  for (const auto& stage : runs.front()->stages) add_stage(result, stage, runs);
  result.stage_deadlines = stage_deadlines_of(runs);
  return result;
}

/// Adds the waits for workers and for the window to the pipelines of a configuration.
void add_waits(configuration_summary& to, const std::vector<const trial_record*>& trials,
               sharing share, const std::vector<std::string>& names) {
  std::vector<run_list> runs;
  for (const trial_record* trial : trials) {
    auto& list = runs.emplace_back();
    for (const run_record& run : trial->members) list.push_back(&run);
  }
  for (contention& of : contention_of(runs, share, names)) {
    const auto member = std::ranges::find(to.members, of.name, &member_summary::name);
    member->waits.push_back(std::move(of));
  }
}

std::vector<rank_of_experiment> ranks_of(const experiment_record& record,
                                         const counted_trials& trials) {
  const auto baseline = record.pairs.empty() ? configuration_member{} : record.pairs[0].reference;
  std::vector<rank_of_experiment> ranks;
  for (const auto& blocks : trials.by_rank()) {
    const auto& of_baseline = trials.of(baseline.configuration);
    const trial_record& first = *of_baseline[blocks.front()];
    std::vector<nanoseconds> times;
    for (const std::size_t b : blocks) {
      append(times, end_to_end_times(of_baseline[b]->members[baseline.member]));
    }
    ranks.push_back({first.place, blocks.size(), first.members.front().device.name,
                     distribution::of(std::move(times))});
  }
  std::ranges::sort(ranks, {}, &rank_of_experiment::place);
  if (!ranks.empty() && !ranks.back().place) ranks.clear();
  return ranks;
}

}  // namespace

std::string figure_name(figure what, double tail) {
  if (what == figure::late) return "late frames";
  return what == figure::tail ? percentile_name(tail) : std::string(to_word(what));
}

std::string_view verdict_word(verdict what, figure of) noexcept {
  if (of != figure::late) return to_word(what);
  if (what == verdict::faster) return "fewer";
  return what == verdict::slower ? "more" : to_word(what);
}

const comparison* find_comparison(const experiment_summary& summary, const compared_pair& pair,
                                  figure what) noexcept {
  for (const auto& found : summary.comparisons) {
    if (found.figure == what && found.pair == pair) return &found;
  }
  return nullptr;
}

experiment_summary summarize(const experiment_record& record) {
  experiment_summary result;
  result.machine = steadiness_of(record);
  const counted_trials trials(record, result.machine.affected_blocks);
  result.ranks = ranks_of(record, trials);
  result.complete_blocks = trials.complete_blocks();
  result.counted_blocks = trials.blocks().size();
  result.needed_blocks = blocks_needed(std::max<std::size_t>(1, trials.by_rank().size()));
  result.trials_left_out = record.trials.size() - trials.size();
  for (std::size_t c = 0; c < record.configurations.size(); ++c) {
    const auto& configuration = record.configurations[c];
    auto& summary = result.configurations.emplace_back();
    for (std::size_t m = 0; m < configuration.members.size(); ++m) {
      summary.members.push_back(
          summarize_member(configuration.members[m], trials.of({c, m}), record.how.tail));
    }
    add_waits(summary, trials.of(c), record.how.share, configuration.members);
  }
  result.comparisons = compare_figures(trials, record);
  result.stage_comparisons = compare_stages(trials, record, result.configurations);
  result.chains = chains_of(record, trials);
  result.chain_comparisons = compare_chains(trials, record, result.chains);
  return result;
}

bool narrow_enough(const experiment_record& record, double narrow_to) {
  const counted_trials trials(record, steadiness_of(record).affected_blocks);
  const auto comparisons = compare_figures(trials, record);
  const auto narrow = std::ranges::count_if(comparisons, [&](const comparison& c) {
    return c.figure == figure::p50 && c.ratio_range &&
           c.ratio_range->high <= c.ratio * (1 + narrow_to) &&
           c.ratio_range->low >= c.ratio * (1 - narrow_to);
  });
  return narrow > 0 && std::cmp_equal(narrow, record.pairs.size());
}

}  // namespace graphline
