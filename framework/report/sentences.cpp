#include "framework/report/sentences.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <span>

#include "framework/analysis/experiment/experiment_labels.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/render/heading.hpp"

namespace graphline::report {

namespace {

// Placeholders: {name} is a figure, {name noun} a number with its noun ("1 frame"). {subject} is
// the first subject, quoted; {subjects} are all of them, {others} all but the first. {cases} are
// the sentences of the finding's cases. {@key} is a text that several sentences share. Text in
// brackets is omitted if a name in the brackets is unknown.
constexpr std::pair<std::string_view, std::string_view> sentences[] = {
    {"", "{text}"},
    {"of_result", "{file}: {why}"},
    {"failed", "FAILED after {done} of {frames}{under}: {failure}"},
    {"interrupted", "INTERRUPTED after {done} of {frames}{under}"},
    {"deadline_missed",
     "deadline of {deadline} missed by {missed} of {frames frame}[, {dropped} of "
     "them dropped][ ({cut_short} cut short)]"},
    {"slow_frames", "the slowest 1 % of frames took {more} more than a typical one[: {pieces}]"},
    {"critical_path", "critical path[ of {of}] {path}; {@lower_bound}"},
    {"cpu_cores", "{says} the {cores core} for CPU stages{@busy_for}: {subjects}; {@lower_bound}"},
    {"device",
     "{says} the device, which executes one operation at a time{@busy_for}: {subjects}; "
     "{@lower_bound}"},
    {"stage", "limited by {subjects}{@busy_for}; {@lower_bound}"},
    {"host_thread",
     "limited by the host thread, which runs CPU stages and launches{@busy_for}; {@lower_bound}"},
    {"busy_for", "[, busy for {busy} of the frame period of {period}]"},
    {"lower_bound",
     "a frame took {running} on average[ without its {without}], [{above} above][{ratio}] the "
     "lower "
     "bound of [{bound} for these stage times][{bound_of_schedule} for these stage times in this "
     "schedule ({bound_of_any} in any)]"},
    {"overlap_hid", "overlap hid {hidden} per frame: {pieces} (% of the stage's time)"},
    {"trial_failed",
     "FAILED in block {block}: {configuration} after {done} of {frames}: {failure}"},
    {"experiment_failed", "FAILED: {failure}"},
    {"experiment_interrupted", "INTERRUPTED"},
    {"rank_failed", "FAILED: {rank} after {done} of {frames frame}: {failure}"},
    {"rank_lost", "FAILED: {rank} was lost: {why}"},
    {"rank_clock_unknown",
     "the clock of {subjects} could not be placed on that of rank 0: its frames cannot be aligned "
     "with those of other ranks"},
    {"ranks_ended_apart",
     "ranks measured for {shortest} to {longest}: the throughput is the sum of their rates, and "
     "ranks that ended late had the machine to themselves at the end"},
    {"of_ranks", "[rank {rank}: ][ranks {ranks}: ]{cases}"},
    {"rank_output_differs",
     "output '{tensor}' of {subjects} differs from that of rank 0[ by {largest} at most]"},
    {"rank_reference",
     "{subject}: output '{tensor}' differs from the reference by {error} at most"},
    {"ranks_same_outputs", "all ranks computed the same outputs (last frame of each)"},
    {"slowest_rank", "slowest is {subject}: p50 {time}, {more} against the next, {next}"},
    {"no_slowest_rank", "no rank is slower than all others beyond doubt"},
    {"ended_early", "ended early: {why}"},
    {"no_trials", "no trial was measured"},
    {"trials_left_out", "left out: {trials} of incomplete or disturbed blocks"},
    {"no_complete_block",
     "no block is complete: tables show the trials that were measured, and nothing is compared"},
    {"too_few_blocks", "{blocks}: too few for intervals and verdicts, which need {needed}"},
    {"no_roofline",
     "no roofline: this result has no calibration with a bandwidth and a rate; run 'graphline "
     "calibrate' on the device, then 'graphline roofline' again"},
    {"rows_above_capacity",
     "{subjects} computed only the first {capacity row} in [{frames frame}][{batches} of the "
     "batches], which had up to {most}: raise the first extent of the tensors with rows[, or "
     "lower batch_frames: {batch_frames}]"},
    {"padding",
     "{padding} of the rows that {subjects} computed were padding; for the rows of this run, "
     "'buckets: {buckets}' would make it {better}"},
    {"disturbed", "disturbed (machine noise): {by}"},
    {"device_waits_for_host",
     "the device waits for the host for {idle} of a frame ({share}): enqueueing stage {subject} "
     "takes {enqueue}, and the device works on it for {device}[, the worst of {stages stage}]"},
    {"device_time_may_hold_waits",
     "stage {subject}: enqueueing takes {enqueue}, its device time is {device}[, the worst of "
     "{stages stage}]; the device may have waited for the host, so the device time says little "
     "about the stage"},
    {"overloaded",
     "overloaded: completed {rates}[; {dropped frame} dropped][; latency grows by {growth} per "
     "second of load]"},
    {"overloaded_in", "overloaded: completed {cases}"},
    {"rates_of", "{rates} in {configurations}"},
    {"timing_adds_time",
     "{method} adds {cost} to a frame ({change}), 95 % interval {low} to {high}"},
    {"timing_cost_of_few_blocks",
     "{method}: {cost} ({change}); no interval and no verdict from {blocks} of at least {needed} "
     "complete blocks"},
    {"timing_cost_not_visible",
     "{method}: {cost} ({change}), 95 % interval {low} to {high} includes zero: no cost visible; "
     "more than {high} ({largest_change}) would show"},
    {"timing_shortens_frame",
     "{method}: {cost} ({change}), 95 % interval {low} to {high}: shorter than untimed, which no "
     "timing can cause by itself; it changes how the work is scheduled or what the processor does "
     "while it waits"},
    {"sync_serializes_overlap",
     "work that overlapped is serialized under sync: its stages add up to {stages}, the untimed "
     "frame takes {untimed}"},
    {"host_times_launch",
     "host reports {launch} for {subject}: the time to launch it, not the {time} it takes "
     "({method})"},
    {"fastest",
     "fastest is {configuration}: p50 {p50}, {change} against {reference}, 95 % interval {low} to "
     "{high}"},
    {"none_faster", "no configuration has a lower p50 than {reference} beyond doubt"},
    {"search_none_better", "no candidate is conclusively better than the file's settings"},
    {"search_none_measured", "no other candidate was measured; a longer --time-limit reaches some"},
    {"search_ties", "these {count} cannot be told apart: {names}; the simplest is '{simplest}'"},
    {"search_infeasible",
     "no confirmed candidate meets every constraint with confidence; the nearest is "
     "'{nearest}'"},
    {"search_unconfirmed",
     "nothing is confirmed: too few trials or frames, or an overload; '{nearest}' is the best so "
     "far, by few trials and with selection bias; use a longer --time-limit or a lower rate"},
    {"search_interrupted",
     "interrupted before the confirmation; '{nearest}' is the best so far, by few trials and with "
     "selection bias"},
    {"no_outputs", "no outputs to compare: the pipeline has no output tensor"},
    {"same_outputs",
     "all configurations computed the same outputs as their baseline (last frame of {runs run})"},
    {"values_differ",
     "outputs of {configurations} differ from those of {reference}: '{tensor}' by {largest} at "
     "most in {compared}[, {relative} of the largest]"},
    {"rows_differ",
     "outputs of {configurations} differ from those of {reference}: '{tensor}' has {rows row}, not "
     "{reference_rows}"},
    {"checksums_differ",
     "outputs of {configurations} differ from those of {reference}: '{tensor}' by its checksum[, "
     "though not in {compared}]"},
    {"outputs_not_comparable",
     "outputs of {configurations} cannot be compared with those of {reference}: {why}"},
    {"outputs_vary",
     "outputs of {configurations} differ from trial to trial: '{tensor}' has several checksums"},
    {"output_not_finite", "output {subject} holds NaN or infinity"},
    {"not_finite", "'{tensor}' holds NaN or infinity in {configurations}"},
    {"priorities_took_effect",
     "priorities took effect, {configurations} {effect}: {@with_priorities}"},
    {"priorities_changed_nothing",
     "priorities changed nothing for {configurations}: {@with_priorities}"},
    {"priorities_inconclusive",
     "no effect of priorities is visible for {configurations}, inconclusive: {@with_priorities}"},
    {"with_priorities",
     "{percentile} {with} with them, {without} without ({change}, 95 % interval {low} to {high})"},
    {"setting_took_effect", "{setting} took effect: {cases}"},
    {"effect_against", "{configurations} {effect} ({percentile} {with}, with {@against}"},
    {"against", "{reference} {without}: {change}, 95 % interval {low} to {high})"},
    {"chains_changed", "chains changed: {cases}"},
    {"chain_changed",
     "{time} of {subject} {effect} in {configurations} ({percentile} {with}, in {@against}"},
    {"chains_exceed_bounds", "chains exceed their bounds: {cases}"},
    {"chain_exceeds_bound",
     "{time} of {subject} in {configurations} ({late} of {times} times beyond {bound})"},
    {"policy_decided", "policy {policy} differs from oldest_frame {@decided}"},
    {"policies_decided", "policies differ from oldest_frame: {cases}"},
    {"decided_in", "{configurations} {@decided}"},
    {"decided",
     "in {decided} of {starts start}[ (most often {first} before {second}: {times})]"
     "[, {held} of them held back]"},
    {"policy_never_decided",
     "policy {policy} had no effect on the order: oldest_frame would have started the same stages"},
    {"policies_never_decided",
     "policies had no effect on the order, oldest_frame would have started the same stages: "
     "{cases}"},
    {"never_decided_in", "{configurations}"},
    {"priority_inversions", "priority inversions: [{cases}][{subjects} {@inverted}]"},
    {"inversions_of", "{configurations} {@inverted}"},
    {"inverted",
     "waited {times time} while a stage of {order} started, up to {longest} in one wait[, beyond "
     "the bound of {bound}]"},
    {"ran_concurrently", "of each frame, stages ran concurrently for {cases}"},
    {"overlap_of", "{overlap} of [{frame}][{period} frame period] in {configurations}"},
    {"no_overlap", "overlap did not happen in {cases}"},
    {"stages_in_a_row",
     "{configurations} (stages add up to {stages}, [a frame takes {frame}][a frame is done every "
     "{period}])"},
    {"machine_drifted",
     "the machine drifted: from the first block to the last, the p50 of the baseline changed by "
     "{change}; each block holds a trial of every configuration, so the drift affects all alike"},
    {"disturbed_blocks",
     "machine noise disturbed {blocks}, where the baseline was far from the neighboring blocks; "
     "{consequence}"},
    {"stood_still_blocks",
     "left out: {blocks}, in which the process stood still (SIGSTOP, suspend, a frozen container "
     "or "
     "a paused virtual machine)"},
    {"disturbed_trials",
     "disturbed trials (machine noise): {disturbed} of {trials}; the first by: {by}"},
    {"trial_warning", "{text} ({configurations})"},
    {"capacity",
     "{percentile} stays within {bound} up to {rate}[ (95 % interval {low} to {high})], from "
     "{runs run} together, {frames frame}"},
    {"capacity_of_set",
     "{percentile} of each pipeline stays within {bound} up to {rate} times the rates of the file[ "
     "(95 % "
     "interval {low} to {high})], from {runs run} together, {frames frame}[; above that, {first} "
     "is "
     "late first]"},
    {"capacity_interrupted", "INTERRUPTED: the capacity may lie elsewhere"},
    {"interval_of_few_runs", "too few runs were made for this interval to be relied on"},
    {"interval_too_wide",
     "the interval is {width} wide, not {within}[; for an interval about that narrow, use "
     "--frames {frames}]"},
    {"runs_unsteady",
     "in more than two fifths of the runs, frames took longer, queueing aside: all runs count, but "
     "the machine may have been disturbed"},
    {"runs_disturbed",
     "disturbed runs left out and repeated: {runs}; the process stood still, or their frames took "
     "longer than those of other runs, queueing aside (machine noise)"},
    {"runs_failed_below",
     "{failed} of {runs} runs at rates below {below} failed, the lowest at {lowest}: the machine "
     "was disturbed[, frames waited up to {batch_wait} for others of their batch], or the capacity "
     "is "
     "lower"},
    {"predicted_runs_failed_below",
     "{failed} of {runs} runs at rates below {below} failed, the lowest at {lowest}: the frames "
     "that runs draw from the sources differ, or the capacity is lower"},
    {"low_rates_wait",
     "at low rates, {percentile} may exceed {bound}: a frame waits up to {wait} for others of its "
     "batch"},
    {"share_of_closed_loop", "this is {share} of the {closed_loop} of the closed loop"},
    {"runs_too_short",
     "the rate may be too high: with large batches, or under a bound that is long compared with a "
     "frame, a queue takes longer than {frames frame} to build up; to rule this out, use "
     "--frames {needed}"},
    {"no_rate_possible",
     "no rate keeps {percentile} within {bound}: for frames with no other beside them and no queue "
     "before them, {late} of {frames} are late[, and {percentile} is {alone}]"},
    {"no_rate_judged", "no rate was judged"},
    {"no_rate_held",
     "no rate was found at which {percentile} is within {bound}; the lowest that was judged is "
     "{lowest}[; at lower rates, a frame waits up to {wait} for others of its batch]"},
    {"every_rate_held",
     "{percentile} is within {bound} at every rate that was judged, up to {highest}"},
    {"search_ended_early",
     "the search ended before there were runs to estimate the capacity from; the highest rate that "
     "held is {held}"},
    {"flops_not_known", "the total leaves out the MACs and FLOPs of {subjects}: not known"},
    {"bytes_not_known", "the total leaves out the parameters and bytes of {subjects}: not known"},
    {"calibration_interrupted", "INTERRUPTED: the calibration is incomplete and is not kept"},
    {"stale_calibration",
     "the calibration[ of device '{device}'] may no longer hold: {why}; 'graphline calibrate' "
     "measures again"},
    {"noisy_calibration",
     "the machine was busy during calibration[ of device '{device}']: times vary by more than "
     "{limit}: {ceilings}; 'graphline calibrate' measures again"},
    {"far_from_roofline", "look at {subject} first: {@distance_from_roofline}"},
    {"also_far_from_roofline", "then at {subject}: {@distance_from_roofline}"},
    {"distance_from_roofline",
     "measured {measured}, {bound} bound {roofline_time}, {ratio} roofline; "
     "{share_of_critical_path} of the critical path[; most of the excess of its parts is in "
     "'{part}': measured {part_measured}, {part_bound} bound {part_roofline_time}]"},
    {"launch_bound",
     "{subject} is launch-bound: its roofline time of {roofline_time} is below the {launch} that a "
     "launch takes; larger batches or fewer operations help, faster ones do not"},
    {"below_roofline",
     "{subject} took {measured}, less than its {bound} bound of {roofline_time}: it computes with "
     "fewer FLOPs than are counted (as Winograd's convolutions do), its bytes stay in a cache, or "
     "the calibration was made beside other work or is out of date; 'graphline calibrate' measures "
     "again[; so did {others}]"},
    {"rate_not_calibrated", "no roofline time of {subjects}: no {precision} rate was calibrated"},
};

std::string in_quotes(std::span<const std::string> names) {
  std::vector<std::string> quoted;
  for (const auto& name : names) quoted.push_back(quote(name));
  return listed(quoted);
}

std::string in_a_row(std::span<const std::string> items) {
  constexpr std::size_t most_shown = 5;
  auto text = fmt::format("{}", fmt::join(items.first(std::min(items.size(), most_shown)), "; "));
  if (items.size() > most_shown) text += fmt::format("; and {} more", items.size() - most_shown);
  return text;
}

/// Returns "6.00 ms (60 %) device time of 'net'".
std::string text_of(const finding_item& of) {
  auto text = to_text(of.amount);
  if (of.part) text += fmt::format(" ({})", to_text({*of.part, unit::share}));
  if (!of.what.empty()) text += ' ' + of.what;
  if (!of.subject.empty()) text += " of " + quote(of.subject);
  return text;
}

/// Returns the stages of a path as "'a' -> 'b'".
std::string path_of(std::span<const std::string> stages) {
  std::string text;
  for (const auto& stage : stages) text += (text.empty() ? "" : " -> ") + quote(stage);
  return text;
}

std::string text_of(const finding::figure& value) {
  if (const auto* items = std::get_if<finding_items>(&value)) {
    std::string text;
    for (const auto& item : *items) text += (text.empty() ? "" : ", ") + text_of(item);
    return text;
  }
  if (const auto* number = std::get_if<quantity>(&value)) return to_text(*number);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return in_a_row(std::get<std::vector<std::string>>(value));
}

std::optional<std::string> sentence_by(std::string_view key, const finding& of);

/// Returns the text for {name}; empty if the finding lacks it.
std::optional<std::string> value_of(const finding& of, std::string_view name) {
  const std::span<const std::string> subjects(of.subjects);
  if (name == "subject" && !subjects.empty()) return quote(subjects.front());
  if (name == "subjects") return in_quotes(subjects);
  if (name == "path") return path_of(subjects);
  if (name == "others") {
    if (subjects.size() < 2) return std::nullopt;
    return in_quotes(subjects.subspan(1));
  }
  if (name.starts_with('@')) return sentence_by(name.substr(1), of);
  if (const auto space = name.find(' '); space != name.npos) {
    const auto* number = of.find(name.substr(0, space));
    if (number == nullptr || !std::holds_alternative<quantity>(*number)) return std::nullopt;
    const auto count = std::get<quantity>(*number).value;
    return counted(static_cast<std::int64_t>(count), name.substr(space + 1));
  }
  if (name == "cases") return in_a_row(sentences_of(of.cases));
  const auto* figure = of.find(name);
  return figure == nullptr ? std::nullopt : std::optional(text_of(*figure));
}

/// Returns the pattern with all placeholders replaced; empty if a name outside brackets is unknown.
std::optional<std::string> filled(std::string_view pattern, const finding& of) {
  std::string text;
  while (!pattern.empty()) {
    const char first = pattern.front();
    if (first != '{' && first != '[') {
      const auto plain = pattern.substr(0, pattern.find_first_of("{["));
      text += plain;
      pattern.remove_prefix(plain.size());
      continue;
    }
    const auto end = pattern.find(first == '{' ? '}' : ']');
    const auto within = pattern.substr(1, end - 1);
    pattern.remove_prefix(end + 1);
    const auto value = first == '{' ? value_of(of, within) : filled(within, of);
    if (!value && first == '{') return std::nullopt;
    text += value.value_or("");
  }
  return text;
}

std::optional<std::string> sentence_by(std::string_view key, const finding& of) {
  const auto* pattern =
      std::ranges::find(sentences, key, [](const auto& one) { return one.first; });
  return pattern == std::end(sentences) ? std::nullopt : filled(pattern->second, of);
}

}  // namespace

std::string sentence(const finding& of) {
  return sentence_by(of.key, of).value_or(std::string(of.key));
}

std::vector<std::string> sentences_of(const std::vector<finding>& list) {
  std::vector<std::string> texts;
  for (const auto& one : list) texts.push_back(sentence(one));
  return texts;
}

std::string sentence(const gate_result& of) {
  auto text = fmt::format("{}: {}", of.condition.text, to_word(of.outcome));
  if (of.value) {
    // Shows the time in nanoseconds if it would otherwise look equal to the limit.
    const bool is_time = of.value->in == unit::duration;
    const auto shown = to_text(*of.value);
    const bool alike = is_time && shown == to_text({of.condition.limit, unit::duration});
    text += ", " + (alike ? fmt::format("{:.15g} ns", of.value->value) : shown);
  }
  return of.why.empty() ? text : text + ": " + printable(of.why);
}

}  // namespace graphline::report
