#include "framework/report/describe/experiment_view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "framework/analysis/run/frame_period.hpp"
#include "framework/analysis/stats/distribution.hpp"
#include "framework/base/utf8.hpp"
#include "framework/record/timing_protocol.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/heading.hpp"

namespace graphline::report {

experiment_view::experiment_view(const experiment_record& of, const experiment_analysis& with)
    : record(of), analysis(with), summary(with.summary), labels(of.configurations) {
  several_at_once = std::ranges::any_of(of.configurations, [](const auto& configuration) {
    return configuration.members.size() > 1;
  });
}

bool experiment_view::is_baseline(const configuration_member& who) const {
  return std::ranges::find(record.pairs, who, &compared_pair::reference) != record.pairs.end();
}

std::vector<compared_member> experiment_view::compared() const {
  std::vector<compared_member> result;
  std::vector<compared_member> others;
  for (const auto& who : labels.all()) {
    if (is_baseline(who)) {
      result.push_back({who, nullptr, !result.empty()});
      for (const auto& pair : record.pairs) {
        if (pair.reference == who) result.push_back({pair.what, &pair});
      }
    } else if (std::ranges::find(record.pairs, who, &compared_pair::what) == record.pairs.end()) {
      others.push_back({who});
    }
  }
  if (!others.empty()) others.front().apart = !result.empty();
  result.insert(result.end(), others.begin(), others.end());
  return result;
}

member_columns experiment_view::names() const {
  using m = const compared_member&;
  member_columns columns;
  if (several_at_once) {
    columns.push_back({{"pipeline", "pipeline"}, [this](m x) {
                         return record.configurations[x.who.configuration].members[x.who.member];
                       }});
  }
  if (labels.by_id()) {
    columns.push_back(
        {{"id", "id"}, [](m x) { return experiment_labels::id(x.who.configuration); }});
  } else if (labels.named()) {
    columns.push_back({{"configuration", "configuration"},
                       [this](m x) { return labels.name(x.who.configuration); }});
  } else {
    for (std::size_t i = 0; i < labels.keys().size(); ++i) {
      const auto& key = labels.keys()[i];
      columns.push_back(
          {{key, key}, [this, i](m x) { return labels.values(x.who.configuration)[i]; }});
    }
  }
  return columns;
}

bool experiment_view::has_figures(const table& made) const {
  const auto first = static_cast<std::ptrdiff_t>(names().size());
  return std::ranges::any_of(made.rows, [first](const row& line) {
    return std::any_of(line.cells.begin() + first, line.cells.end(), [](const cell& one) {
      return one.number() || std::holds_alternative<span_of>(one.value) ||
             std::holds_alternative<judgment>(one.value);
    });
  });
}

std::string experiment_view::short_name(const configuration_member& who) const {
  const auto cells = row_of({who}, names()).cells;
  std::string text;
  for (std::size_t i = several_at_once ? 1 : 0; i < cells.size(); ++i) {
    text += (text.empty() ? "" : " ") + shown_value(cells[i]);
  }
  return text;
}

table id_table(const experiment_labels& labels, const std::vector<compared_pair>& pairs) {
  table made{"ids", "Configurations", "id", "", {{"id", "id"}}, {}, shown};
  if (labels.named()) made.columns.push_back({"name", "configuration"});
  for (const auto& key : labels.keys()) made.columns.push_back({key, key});
  made.columns.push_back({"compared_with", "compared with"});
  for (std::size_t c = 0; c < labels.size(); ++c) {
    row line{{experiment_labels::id(c)}};
    if (labels.named()) line.cells.push_back(labels.name(c));
    for (const auto& value : labels.values(c)) line.cells.push_back(unless_empty(value));
    std::vector<std::string> references;
    bool baseline = false;
    for (const auto& [what, reference] : pairs) {
      auto id = experiment_labels::id(reference.configuration);
      const bool is_new = std::ranges::find(references, id) == references.end();
      if (what.configuration == c && is_new) references.push_back(std::move(id));
      baseline = baseline || reference.configuration == c;
    }
    line.cells.push_back(!references.empty() ? cell(fmt::format("{}", fmt::join(references, ", ")))
                         : baseline          ? cell("baseline")
                                             : cell());
    made.rows.push_back(std::move(line));
  }
  return made;
}

unit unit_of(figure what) {
  if (what == figure::late) return unit::share;
  return what == figure::throughput ? unit::frames_per_second : unit::duration;
}

cell change_cell(const std::optional<interval>& range) {
  return range ? cell(span_of{range->low, range->high, unit::change}) : cell();
}

cell verdict_cell(verdict what, figure of) {
  const auto is = what == verdict::faster   ? judgment::kind::good
                  : what == verdict::slower ? judgment::kind::bad
                                            : judgment::kind::faint;
  return judgment{std::string(verdict_word(what, of)), is};
}

namespace {

// ---- What ran -----------------------------------------------------------------------------------

/// Returns the runs of the first trial of each configuration.
std::vector<member_runs> runs_by_member(const experiment_record& record) {
  std::vector<member_runs> result;
  for (std::size_t c = 0; c < record.configurations.size(); ++c) {
    const auto first = std::ranges::find(record.trials, c, &trial_record::configuration);
    if (first == record.trials.end()) continue;
    const auto& names = record.configurations[c].members;
    for (std::size_t m = 0; m < std::min(names.size(), first->members.size()); ++m) {
      auto known = std::ranges::find(result, names[m], &member_runs::first);
      if (known == result.end()) known = result.insert(known, {names[m], {}});
      known->second.push_back(&first->members[m]);
    }
  }
  return result;
}

/// Returns the facts that are the same in all runs. `of` returns the facts of one run.
template <class Get>
std::vector<fact> shared(const std::vector<const run_record*>& runs, Get of) {
  auto list = of(*runs.front());
  for (const auto* run : runs) {
    const auto own = of(*run);
    std::erase_if(list, [&](const fact& one) {
      const auto same = std::ranges::find(own, one.key, &fact::key);
      return same == own.end() || shown_value(same->value) != shown_value(one.value);
    });
  }
  return list;
}

/// Returns a text for each setting that headings mention.
std::vector<fact> aspects_of(const run_record& record) {
  const auto& run = record.run;
  name_texts list = {{"strategy", std::string(to_word(run.strategy))},
                     {"graphs", fmt::format("graphs={}", to_word(run.graphs))},
                     {"timing", fmt::format("timing={}", to_word(run.timing))},
                     {"in_flight", fmt::format("{} in flight", counted(run.in_flight, "frame"))},
                     {"wait", fmt::format("wait={}", to_word(run.wait))}};
  if (!run.priorities) list.emplace_back("priorities", "priorities=off");
  std::ranges::copy(special_settings(run), std::back_inserter(list));
  if (auto workers = workers_of(run, record.cpu_cores); !workers.empty()) {
    list.emplace_back("workers", std::move(workers));
  }
  if (run.arrival != arrival::closed) list.emplace_back("arrival", arrival_of(run));
  if (run.deadline) {
    list.emplace_back("deadline",
                      "deadline " + to_text({static_cast<double>(*run.deadline), unit::duration}));
  }
  return facts_of(list);
}

std::string joined(std::vector<std::string> parts) {
  std::erase(parts, "");
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// Returns the settings that all runs share, except `varied`: "async, graphs=stage; batch=1".
std::string way_of(const std::vector<const run_record*>& runs,
                   const std::set<std::string>& varied) {
  std::vector<std::string> words;
  for (const auto& one : shared(runs, aspects_of)) {
    if (!varied.contains(one.key)) words.push_back(shown_value(one.value));
  }
  name_texts parameters;
  const auto all = [](const run_record& run) { return facts_of(run.parameters); };
  for (const auto& one : shared(runs, all)) {
    if (!varied.contains(one.key)) parameters.emplace_back(one.key, shown_value(one.value));
  }
  return joined({fmt::format("{}", fmt::join(words, ", ")), parameters_of(parameters)});
}

/// Returns "45 frames after 5 warm-up"; empty if the runs differ in these numbers.
std::string frames_of(const std::vector<const run_record*>& runs) {
  const auto& first = runs.front()->run;
  const bool same = std::ranges::all_of(runs, [&](const run_record* run) {
    return run->run.frames == first.frames && run->run.warmup == first.warmup;
  });
  if (!same) return "";
  return fmt::format("{} after {} warm-up", counted(first.frames, "frame"), first.warmup);
}

}  // namespace

std::vector<std::string> set_heading(const std::vector<member_runs>& members, sharing share,
                                     std::optional<nanoseconds> horizon,
                                     const std::set<std::string>& varied) {
  std::vector<std::string> lines = {joined(
      {device_of(members.front().second.front()->device),
       share == sharing::none ? "" : fmt::format("share={}", to_word(share)),
       horizon ? "horizon=" + to_text({static_cast<double>(*horizon), unit::duration}) : ""})};
  for (const auto& [name, runs] : members) {
    const auto& pipeline = runs.front()->pipeline;
    lines.push_back(fmt::format("{}: {}", name,
                                joined({pipeline == name ? "" : pipeline, way_of(runs, varied),
                                        varied.contains("frames") ? "" : frames_of(runs)})));
  }
  return lines;
}

namespace {

/// Returns "10 blocks of 3 trials in random order; a trial: 20 frames after 5 warm-up".
std::string extent_of(const experiment_record& record, const std::vector<member_runs>& members) {
  std::set<std::size_t> blocks;
  for (const auto& trial : record.trials) blocks.insert(trial.block);
  const auto configurations = record.configurations.size();
  auto text = fmt::format("{} of {} in random order", counted(blocks.size(), "block"),
                          counted(configurations, "trial"));
  if (record.trials.size() < blocks.size() * configurations) {
    text += fmt::format(", {} of them measured", record.trials.size());
  }
  std::set<std::pair<std::string, std::int64_t>> ranks;
  for (const auto& trial : record.trials) {
    if (trial.place) ranks.emplace(trial.place->host, trial.place->rank);
  }
  if (!ranks.empty()) text += ", on " + counted(ranks.size(), "rank");
  if (members.size() == 1) {
    const auto frames = frames_of(members.front().second);
    if (!frames.empty()) text += fmt::format("; a trial: {}", frames);
  }
  return text;
}

std::vector<std::string> heading_of(const experiment_record& record) {
  std::vector<std::string> lines = {record.name};
  if (!record.description.empty()) lines.front() += ": " + record.description;
  const auto members = runs_by_member(record);
  if (members.empty()) return lines;
  std::set<std::string> varied;  // settings that configurations assign
  for (const auto& configuration : record.configurations) {
    for (const auto& [key, value] : configuration.assignments) varied.insert(key);
  }
  const auto& first = members.front().second;
  if (members.size() == 1) {
    lines.push_back(subject_of(*first.front()));
    lines.push_back(way_of(first, varied));
  } else {
    std::ranges::move(set_heading(members, record.how.share, record.how.horizon, varied),
                      std::back_inserter(lines));
  }
  lines.push_back(extent_of(record, members));
  if (record.prediction) {
    lines.push_back(predicted_from(*record.prediction));
    lines.emplace_back(what_intervals_omit);
  }
  std::erase(lines, "");
  return lines;
}

// ---- What went wrong ----------------------------------------------------------------------------

finding warning(std::string_view key) {
  return {key, finding_severity::warning};
}

void add_failures(document& to, const experiment_view& of) {
  const auto& record = of.record;
  const auto before = to.findings.size();
  for (const auto& trial : record.trials) {
    for (std::size_t m = 0; m < trial.members.size(); ++m) {
      const auto& run = trial.members[m];
      if (!run.failure) continue;
      to.findings.push_back(finding{"trial_failed", finding_severity::failure}
                                .with("block", std::to_string(trial.block + 1))
                                .with("configuration", of.labels.of({trial.configuration, m}))
                                .with("done", std::to_string(run.frames.size()))
                                .with("frames", counted(run.run.frames, "frame"))
                                .with("failure", *run.failure));
    }
  }
  if (record.failure && to.findings.size() == before) {
    to.findings.push_back(
        finding{"experiment_failed", finding_severity::failure}.with("failure", *record.failure));
  }
  if (record.interrupted) {
    to.findings.push_back({"experiment_interrupted", finding_severity::failure});
  }
  // The findings above already contain the reason.
  if (!record.stopped.empty() && !record.interrupted && !record.failure) {
    to.findings.push_back(warning("ended_early").with("why", record.stopped));
  }
}

/// Adds warnings if the tables do not cover the whole experiment.
void add_restrictions(document& to, const experiment_view& of) {
  const auto& summary = of.summary;
  if (summary.trials_left_out > 0 && summary.complete_blocks > 0) {
    to.findings.push_back(
        warning("trials_left_out").with("trials", counted(summary.trials_left_out, "trial")));
  }
  const bool to_compare = !of.record.pairs.empty();
  if (summary.complete_blocks == 0) {
    to.findings.push_back(warning("no_complete_block"));
  } else if (to_compare && summary.counted_blocks < summary.needed_blocks) {
    to.findings.push_back(warning("too_few_blocks")
                              .with("blocks", counted(summary.counted_blocks, "block"))
                              .with("needed", std::to_string(summary.needed_blocks)));
  }
}

/// Adds the fastest configuration if all configurations are compared with the same baseline. Does
/// nothing for sweeps, or if configurations differ only in their timing method.
void add_winner(document& to, const experiment_view& of) {
  const auto& pairs = of.record.pairs;
  const bool only_timing = of.labels.keys() == std::vector<std::string>{"timing"};
  if (pairs.empty() || of.several_at_once || of.analysis.swept || only_timing) return;
  const auto& reference = pairs.front().reference;
  const comparison* best = nullptr;
  bool judged = false;
  for (const auto& one : of.summary.comparisons) {
    if (one.figure != figure::p50) continue;
    if (!(one.pair.reference == reference)) return;
    judged = judged || one.ratio_range;
    const bool faster = one.ratio_range && one.verdict == verdict::faster;
    if (faster && (best == nullptr || one.ratio < best->ratio)) best = &one;
  }
  if (!judged) return;
  if (best == nullptr) {
    to.findings.push_back(finding{"none_faster"}.with("reference", of.labels.of(reference)));
    return;
  }
  to.findings.push_back(finding{"fastest"}
                            .with("configuration", of.labels.of(best->pair.what))
                            .with("p50", best->value, unit::duration)
                            .with("change", best->ratio - 1, unit::change)
                            .with("reference", of.labels.of(reference))
                            .with("low", best->ratio_range->low - 1, unit::change)
                            .with("high", best->ratio_range->high - 1, unit::change));
}

// ---- Notes --------------------------------------------------------------------------------------

template <class Predicate>
bool any_member(const experiment_summary& summary, Predicate holds) {
  return std::ranges::any_of(summary.configurations, [&](const auto& configuration) {
    return std::ranges::any_of(configuration.members, holds);
  });
}

void add_notes(document& to, const experiment_view& of) {
  const auto& record = of.record;
  const auto& summary = of.summary;
  std::string missing;
  const auto add = [&](const std::string& what, std::size_t needed) {
    missing += fmt::format("{}{} needs {} frames", missing.empty() ? "" : ", ", what, needed);
  };
  for (const auto p : {0.5, record.how.tail}) {
    const auto lacks = [p](const member_summary& m) {
      return m.end_to_end && !m.latency_grows() && !m.end_to_end->percentile(p);
    };
    if (any_member(summary, lacks)) add(percentile_name(p), samples_needed(p));
  }
  std::string text;
  if (!missing.empty()) text = "percentiles of too few frames are not shown: " + missing + '\n';
  if (any_member(summary, [](const member_summary& m) { return m.latency_grows(); })) {
    text += fmt::format("{}\n", latency_grows_with_length);
  }
  text += "times: over the frames of all trials of a configuration";
  std::set<timing_method> methods;
  for (const auto& trial : record.trials) {
    for (const auto& run : trial.members) methods.insert(run.run.timing);
  }
  for (const auto method : methods) {
    text += fmt::format("\ntiming {}: {}", to_word(method), traits_of(method).meaning);
  }
  to.parts.push_back(note{std::move(text)});
}

// ---- How it was made ----------------------------------------------------------------------------

/// Returns the settings and parameters that are equal in all runs.
std::vector<fact> settings_of_all(const experiment_record& record) {
  std::vector<const run_record*> runs;
  for (const auto& [name, of] : runs_by_member(record))
    runs.insert(runs.end(), of.begin(), of.end());
  return shared(runs, [](const run_record& run) {
    auto list = settings_facts(run.run);
    for (const auto& [name, value] : run.parameters) {
      list.push_back({"params." + name, "params." + name, value});
    }
    return list;
  });
}

void add_origin(document& to, const experiment_record& record) {
  const auto add = [&](const char* key, const char* title, std::vector<fact> list,
                       unsigned where = not_in_text) {
    to.parts.push_back(facts{key, title, std::move(list), where, true});
  };
  add("settings", "Settings of the experiment", settings_facts(record.how));
  if (!record.files.empty()) add("files", "Checksums", facts_of(record.files));
  if (record.trials.empty()) return;
  const auto& first = record.trials.front().members.front();
  add("run", "Settings of all runs", settings_of_all(record));
  add_machine(to, first.device, first.environment);
  if (record.calibration) {
    add("calibration", "Calibration",
        {{"date", "date", record.calibration->date},
         {"stale", "stale", record.calibration->stale}});
  }
  std::vector<fact> sources;
  for (const auto& [file, text] : record.sources) sources.push_back({file, file, text});
  add("sources", "Files", std::move(sources), in_page);
}

}  // namespace

document describe(const experiment_record& record, const experiment_analysis& analysis) {
  document made{"experiment", record.name, record.description, {}, {}, {}, "", "", "name"};
  made.predicted = record.prediction.has_value();
  made.lines = heading_of(record);
  const experiment_view of(record, analysis);
  add_failures(made, of);
  add_search(made, of);
  if (record.trials.empty()) {
    made.findings.push_back(warning("no_trials"));
  } else {
    add_answer(made, of);
    add_comparisons_chart(made, of);
    add_sweep(made, of);
    add_stages(made, of);
    add_waits(made, of);
    add_rows(made, of);
    add_chains(made, of);
    add_costs(made, of);
    add_ranks(made, of);
    add_notes(made, of);
    add_trials_chart(made, of);
    add_restrictions(made, of);
  }
  add_data(made, of);
  if (!record.trials.empty() && !record.search) add_winner(made, of);
  made.findings.insert(made.findings.end(), analysis.findings.begin(), analysis.findings.end());
  add_origin(made, record);
  return made;
}

// ---- What an experiment will do -----------------------------------------------------------------

namespace {

/// Returns a rounded-up duration: "45 s", "1 min 20 s", "2 h 5 min", "3 h".
std::string rough_duration(double ns) {
  const auto seconds = static_cast<std::int64_t>(std::ceil(ns / 1e9));
  if (seconds < 60) return fmt::format("{} s", seconds);
  const auto in_two = [](std::int64_t large, const char* unit, std::int64_t small,
                         const char* rest) {
    const auto text = fmt::format("{} {}", large, unit);
    return small == 0 ? text : fmt::format("{} {} {}", text, small, rest);
  };
  if (seconds < 3600) return in_two(seconds / 60, "min", seconds % 60, "s");
  return in_two(seconds / 3600, "h", seconds % 3600 / 60, "min");
}

/// Returns the number of blocks that begin before the time limit, at least 1. `block`: duration of
/// a block.
std::int64_t blocks_in_time(const experiment_plan& planned, nanoseconds block,
                            std::int64_t ranks = 1) {
  const auto limit = planned.how.time_limit;
  if (!limit || block == 0) return planned.how.trials;
  return std::min(planned.how.trials, ranks * ((*limit - 1) / block + 1));
}

std::string rules(const experiment_settings& how) {
  std::string text = fmt::format("{} of each configuration, in random order (seed {})",
                                 counted(how.trials, "trial"), how.seed);
  if (how.narrow_to) {
    text += fmt::format("; fewer when every interval is within {:.3g} %", 100 * *how.narrow_to);
  }
  if (how.time_limit) {
    text +=
        fmt::format("; none begins after {}", rough_duration(static_cast<double>(*how.time_limit)));
  }
  if (how.repeat_affected) text += "; disturbed blocks are repeated";
  return text;
}

}  // namespace

std::vector<std::string> forewarnings(const experiment_plan& planned, std::size_t ranks) {
  std::vector<std::string> texts;
  const auto trials = planned.how.trials;
  const auto blocks = static_cast<std::int64_t>(blocks_needed(ranks));
  if (!planned.pairs.empty() && trials < blocks) {
    texts.push_back(fmt::format("trials: {} gives no intervals and no verdicts, which need {}",
                                trials, blocks));
  }
  const auto needed = static_cast<std::int64_t>(samples_needed(planned.how.tail));
  std::optional<std::int64_t> fewest;
  for (const auto& configuration : planned.configurations) {
    for (const auto& member : configuration.members) {
      fewest = std::min(fewest.value_or(member.run.frames), member.run.frames);
    }
  }
  if (fewest && trials * *fewest < needed) {
    const auto tail = percentile_name(planned.how.tail);
    texts.push_back(fmt::format(
        "tail: {} needs {} frames of a configuration, and {} of {} are {}: no {} and no "
        "verdict on it; {} give one, or {} a trial",
        tail, needed, counted(trials, "trial"), counted(*fewest, "frame"), trials * *fewest, tail,
        counted((needed + *fewest - 1) / *fewest, "trial"),
        counted((needed + trials - 1) / trials, "frame")));
  }
  return texts;
}

std::string in_brief(const experiment_plan& planned, const std::vector<nanoseconds>& trial_times,
                     std::size_t ranks) {
  const auto block = std::accumulate(trial_times.begin(), trial_times.end(), nanoseconds{0});
  const auto at_once = static_cast<std::int64_t>(ranks);
  const auto blocks = blocks_in_time(planned, block, at_once);
  const auto rounds = (blocks + at_once - 1) / at_once;
  return fmt::format("{}: {}, {}{} each{}: about {}", printable(planned.name),
                     counted(planned.configurations.size(), "configuration"),
                     blocks < planned.how.trials ? "at most " : "",
                     counted(planned.how.trials, "trial"),
                     ranks > 1 ? ", on " + counted(ranks, "rank") : "",
                     rough_duration(static_cast<double>(block) * static_cast<double>(rounds)));
}

document describe(const experiment_plan& planned, const std::vector<nanoseconds>& trial_times,
                  std::size_t ranks) {
  document made{"experiment", planned.name, planned.description, {}, {}, {}, ""};
  made.lines = {in_brief(planned, trial_times, ranks), planned.description};
  std::erase(made.lines, "");
  std::vector<experiment_configuration> configurations;
  for (const auto& one : planned.configurations) configurations.push_back(one.what);
  auto rows = id_table(experiment_labels(configurations), planned.pairs);
  rows.columns.insert(rows.columns.end() - 1, {"trial", "a trial", unit::duration});
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    auto& cells = rows.rows[i].cells;
    cells.insert(cells.end() - 1, cell(trial_times[i], unit::duration));
  }
  made.parts.push_back(std::move(rows));
  made.parts.push_back(note{rules(planned.how)});
  add_warnings(made.findings, forewarnings(planned, ranks));
  return made;
}

}  // namespace graphline::report
