#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "framework/analysis/run/summary.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/describe/experiment_view.hpp"
#include "framework/report/json/json_text.hpp"

namespace graphline::report {

namespace {

using enum unit;

bool in_any_table(const member_summary&) {
  return true;
}

/// Returns a table for the text and page reports, with a row for each pipeline that `has_row`
/// accepts.
table member_table(const experiment_view& of, std::string key, std::string title,
                   const member_columns& columns,
                   bool (*has_row)(const member_summary&) = in_any_table) {
  table made{std::move(key), std::move(title), "configuration", "", columns_of(columns), {}, shown};
  made.titled = true;
  for (const auto& member : of.compared()) {
    if (!has_row(of.of(member.who))) continue;
    made.rows.push_back(row_of(member, columns));
    made.rows.back().apart = member.apart;
  }
  return made;
}

// ---- The answer ---------------------------------------------------------------------------------

cell value_of(figure what, const member_summary& of) {
  switch (what) {
    case figure::p50:
      return {p50_of(of.end_to_end), duration};
    case figure::tail:
      return {of.tail, duration};
    case figure::throughput:
      return {of.throughput, frames_per_second};
    case figure::late:
      break;
  }
  if (!of.deadline || of.deadline->misses.frames == 0) return {};
  return {of.deadline->misses.share(), share};
}

std::string title_of(figure what, double tail) {
  if (what == figure::late) return "late %";
  return what == figure::throughput ? "frame/s" : figure_name(what, tail);
}

const comparison* comparison_of(const experiment_view& of, const compared_member& member,
                                figure what) {
  return member.pair == nullptr ? nullptr : find_comparison(of.summary, *member.pair, what);
}

/// Adds a metric, its change and its verdict as columns. A main metric also has an interval.
void add_metric(member_columns& to, const experiment_view& of, figure what, bool main = false) {
  using m = const compared_member&;
  const std::string key(to_word(what));
  const bool points = what == figure::late;
  // Rows without a comparison have blank cells, because "-" means unknown.
  const auto otherwise = [](m x) { return x.pair ? cell() : cell(""); };
  const auto grows = [&of, what](const configuration_member& who) {
    return what != figure::throughput && of.of(who).latency_grows();
  };
  const auto withheld = [=](m x) {
    return (what == figure::p50 || what == figure::tail) && grows(x.who);
  };
  const auto judged = [&of, what](m x) {
    const auto* found = comparison_of(of, x, what);
    return found != nullptr && found->change_range() ? found : nullptr;
  };
  const auto is_open = [=](m x) { return grows(x.who) || (x.pair && grows(x.pair->reference)); };
  to.push_back({{key, title_of(what, of.record.how.tail), unit_of(what)},
                [=, &of](m x) { return withheld(x) ? cell("") : value_of(what, of.of(x.who)); }});
  to.push_back({{key + "_change", points ? "points" : "change %", change, main ? 0 : 1,
                 !main    ? ""
                 : points ? "change in late frames against the baseline, in percentage points"
                          : "against the baseline"},
                [=, &of](m x) {
                  if (const auto* found = comparison_of(of, x, what))
                    return cell(found->change(), change);
                  const bool baseline = main && !of.summary.comparisons.empty() && !x.pair;
                  if (baseline && of.is_baseline(x.who)) return cell("baseline");
                  return is_open(x) ? cell("") : otherwise(x);
                }});
  if (main) {
    to.push_back({{key + "_interval", "95 % interval", change, 2,
                   fmt::format("of the change, by bootstrap over {} blocks; simultaneous 95 % "
                               "intervals of all comparisons",
                               of.summary.counted_blocks)},
                  [=](m x) {
                    const auto* found = judged(x);
                    if (found) return change_cell(found->change_range());
                    return is_open(x) ? cell("") : otherwise(x);
                  }});
  }
  const double margin = 100 * of.record.how.margin;
  const auto within = points ? fmt::format("lies from -{0:g} to +{0:g}", margin)
                             : fmt::format("is within {:g} %", margin);
  const auto help =
      fmt::format("same: the whole interval {}; inconclusive: more trials needed", within);
  to.push_back({{key + "_verdict", "verdict", {}, 0, main ? help : ""}, [=](m x) {
                  const auto* found = judged(x);
                  const bool decided = found && found->verdict != verdict::inconclusive;
                  if (!decided && grows(x.who)) {
                    return cell(judgment{"overloaded", judgment::kind::bad});
                  }
                  if (!decided && x.pair && grows(x.pair->reference)) {
                    return cell(judgment{"baseline overloaded", judgment::kind::faint});
                  }
                  return found ? verdict_cell(found->verdict, what) : otherwise(x);
                }});
}

table answer(const experiment_view& of) {
  using m = const compared_member&;
  auto columns = of.names();
  add_metric(columns, of, figure::p50, true);
  columns.push_back({{"more_trials", "more trials", none, 3,
                      "estimated further trials of each configuration for a verdict"},
                     [&of](m x) {
                       const auto* found = comparison_of(of, x, figure::p50);
                       const bool asked = found && found->change_range() && found->more_trials;
                       return asked ? cell(*found->more_trials) : cell("");
                     }});
  columns.push_back(
      {{.key = "histogram",
        .title = "histogram",
        .rank = 10,
        .help = "of end-to-end times, fastest on the left, all rows on one scale",
        .where = of.labels.many() ? in_page : everywhere,  // text has no room for many histograms
        .shared_scale = true},
       [&of](m x) { return samples_of(of.of(x.who).end_to_end); }});
  return member_table(of, "answer", "Median end-to-end time", columns);
}

table slow_frames_and_throughput(const experiment_view& of) {
  auto columns = of.names();
  add_metric(columns, of, figure::tail);
  add_metric(columns, of, figure::throughput);
  return member_table(of, "slow_frames", "Tail latency and throughput", columns);
}

table late_frames(const experiment_view& of) {
  auto columns = of.names();
  add_metric(columns, of, figure::late, true);
  return member_table(of, "late_frames", "Late frames: deadline missed or frame dropped", columns,
                      [](const member_summary& x) { return x.deadline.has_value(); });
}

// ---- Stages -------------------------------------------------------------------------------------

/// Returns true if a stage became faster or slower by at least 1 % of the frame's median.
bool matters(const experiment_view& of, const comparison& found) {
  constexpr double least_part = 0.01;
  if (found.verdict != verdict::faster && found.verdict != verdict::slower) return false;
  const auto& frame = of.of(found.pair.reference).end_to_end;
  return !frame || std::abs(found.difference) >= least_part * static_cast<double>(frame->median());
}

/// Returns a table of a pipeline's stages, with a column for each configuration that timed stages.
table stage_table(const experiment_view& of, const std::string& pipeline, std::size_t number) {
  std::vector<column_of<std::string>> columns = {
      {{"stage", "stage"}, [](const std::string& name) { return name; }}};
  std::vector<std::string> stages;  // configurations may have different stages
  for (const auto& who : of.labels.all()) {
    const auto& member = of.of(who);
    const auto is_timed = [](const auto& stage) { return p50_of(stage.times).has_value(); };
    if (member.name != pipeline || std::ranges::none_of(member.stages, is_timed)) continue;
    columns.push_back(
        {{fmt::format("{}", columns.size()), of.short_name(who), duration},
         [&member](const std::string& name) {
           const auto found = std::ranges::find(member.stages, name, &member_summary::stage::name);
           return found == member.stages.end() ? cell() : cell(p50_of(found->times), duration);
         }});
    for (const auto& stage : member.stages) {
      if (is_timed(stage) && std::ranges::find(stages, stage.name) == stages.end()) {
        stages.push_back(stage.name);
      }
    }
  }
  auto made = table_of(
      {fmt::format("stages_{}", number),
       of.several_at_once ? "Median stage times of " + pipeline : "Median stage times", "stage"},
      columns, stages);
  made.where = shown;
  made.titled = true;
  return made;
}

/// Returns the columns that name the compared pair; they come first in JSON and CSV.
std::vector<column_of<comparison>> pair_columns(const experiment_record& record) {
  std::vector<column_of<comparison>> list;
  const auto add = [&](const char* name, const char* member,
                       configuration_member compared_pair::*which) {
    list.push_back({data_column(name), [&record, which](const comparison& x) {
                      return record.configurations[(x.pair.*which).configuration].name;
                    }});
    list.push_back({data_column(member), [&record, which](const comparison& x) {
                      const auto& who = x.pair.*which;
                      return record.configurations[who.configuration].members[who.member];
                    }});
  };
  add("configuration", "member", &compared_pair::what);
  add("reference", "reference_member", &compared_pair::reference);
  return list;
}

cell range_cell(const std::optional<interval>& range, double size = 1) {
  return range ? cell(span_of{range->low / size, range->high / size, none}) : cell();
}

/// Returns the comparisons of stages, largest difference first. JSON and CSV contain all of them;
/// text and page show those that matter.
table stage_comparisons(const experiment_view& of) {
  using c = const comparison&;
  const auto stage_of = [&of](c x) -> const auto& {
    return of.of(x.pair.what).stages[x.stage];
  };
  std::vector<column_of<comparison>> columns = {
      {{"stage", "stage"}, [=](c x) { return stage_of(x).name; }},
      {{"what", "configuration", {}, 0, "", shown},
       [&of](c x) { return of.labels.of(x.pair.what); }},
      {{"against", "against", {}, 0, "", shown},
       [&of](c x) { return of.labels.of(x.pair.reference); }},
      {{"p50", "p50", duration, 0, "", shown},
       [=](c x) { return cell(p50_of(stage_of(x).times), duration); }},
      {{"change", "change %", change, 0, "", shown}, [](c x) { return cell(x.ratio - 1, change); }},
      {{"interval", "95 % interval", change, 2, "", shown},
       [](c x) { return change_cell(x.change_range()); }},
      {{"verdict", "verdict"}, [](c x) { return verdict_cell(x.verdict); }},
      {data_column("difference_ms"), [](c x) { return x.difference / 1e6; }},
      {data_column("ratio"), [](c x) { return x.ratio; }},
      {data_column("ratio_interval"), [](c x) { return range_cell(x.ratio_range); }}};
  const auto pairs = pair_columns(of.record);
  columns.insert(columns.end(), pairs.begin(), pairs.end());
  auto found = of.summary.stage_comparisons;
  std::ranges::stable_sort(found, std::greater<>(), [](c x) { return std::abs(x.difference); });
  auto made = table_of({"stage_comparisons", "Stages that changed", "stage"}, columns, found);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!matters(of, found[i])) made.rows[i].where = in_data;
  }
  made.titled = true;
  return made;
}

}  // namespace

table comparison_table(std::string key, std::vector<column_of<comparison>> columns,
                       const std::vector<comparison>& list) {
  using c = const comparison&;
  const auto is_time = [](c x) { return x.figure == figure::p50 || x.figure == figure::tail; };
  const auto size = [=](c x) { return is_time(x) ? 1e6 : 1; };
  const std::vector<column_of<comparison>> figures = {
      {{"figure"}, [](c x) { return x.figure; }},
      {{"unit"},
       [=](c x) {
         return is_time(x) ? "ms" : x.figure == figure::late ? "share of frames" : "frame/s";
       }},
      {{"value"}, [=](c x) { return x.value / size(x); }},
      {{"reference_value"}, [=](c x) { return x.reference / size(x); }},
      {{"difference"}, [=](c x) { return x.difference / size(x); }},
      {{"difference_interval"}, [=](c x) { return range_cell(x.difference_range, size(x)); }},
      {{"ratio"}, [](c x) { return x.figure == figure::late ? cell() : cell(x.ratio); }},
      {{"ratio_interval"}, [](c x) { return range_cell(x.ratio_range); }},
      {{"verdict"}, [](c x) { return std::string(verdict_word(x.verdict, x.figure)); }},
      {{"more_trials"}, [](c x) { return cell(x.more_trials); }}};
  columns.insert(columns.end(), figures.begin(), figures.end());
  auto made = table_of({std::move(key), "", "configuration"}, columns, list);
  made.where = in_data;
  return made;
}

void add_answer(document& to, const experiment_view& of) {
  if (of.labels.by_id()) to.parts.push_back(id_table(of.labels, of.record.pairs));
  for (auto* made : {answer, slow_frames_and_throughput, late_frames}) {
    if (auto part = made(of); of.has_figures(part)) to.parts.push_back(std::move(part));
  }
}

void add_stages(document& to, const experiment_view& of) {
  std::vector<std::string> pipelines;
  for (const auto& configuration : of.record.configurations) {
    for (const auto& name : configuration.members) {
      if (std::ranges::find(pipelines, name) == pipelines.end()) pipelines.push_back(name);
    }
  }
  for (std::size_t i = 0; i < pipelines.size(); ++i) {
    auto made = stage_table(of, pipelines[i], i + 1);
    if (of.labels.many()) made.where = in_page;
    to.parts.push_back(std::move(made));
  }
  to.parts.push_back(stage_comparisons(of));
}

namespace {

using enum unit;

cell in_ms(const auto& ns) {
  return ns ? cell(milliseconds(*ns)) : cell();
}

cell deadline_of(const std::optional<deadline_summary>& of) {
  if (!of) return {};
  std::vector<named_value> list = {{"limit_ms", quantity{milliseconds(of->limit)}},
                                   {"missed", quantity{static_cast<double>(of->misses.missed)}},
                                   {"frames", quantity{static_cast<double>(of->misses.frames)}}};
  if (of->median_late) list.push_back({"median_late_ms", quantity{milliseconds(*of->median_late)}});
  if (of->worst_late) list.push_back({"worst_late_ms", quantity{milliseconds(*of->worst_late)}});
  return list;
}

cell share_of(std::size_t some, std::size_t all) {
  return all == 0 ? cell() : cell(static_cast<double>(some) / static_cast<double>(all), share);
}

/// Returns the columns of a pipeline: for JSON and CSV, and for the table of costs.
const std::vector<column_of<member_summary>>& member_figures() {
  using s = const member_summary&;
  static const std::vector<column_of<member_summary>> columns = {
      {data_column("trials"), [](s x) { return x.trials; }},
      {data_column("end_to_end"), [](s x) { return samples_of(x.end_to_end); }},
      {data_column("tail_ms"), [](s x) { return in_ms(x.tail); }},
      {data_column("stddev_over_trials_ms"), [](s x) { return in_ms(x.between_trials); }},
      {{"stddev", "stddev", duration, 0, "of the trials' medians", shown},
       [](s x) {
         if (x.latency_grows()) return cell("");
         return x.end_to_end ? cell(x.between_trials, duration) : cell();
       }},
      {data_column("trial_medians_ns"),
       [](s x) { return whole_numbers(x.trial_medians.begin(), x.trial_medians.end()); }},
      {data_column("throughput"), [](s x) { return cell(x.throughput, frames_per_second); }},
      {{"cores", "cores", none, 0, "kept busy by the whole process, on average"},
       [](s x) { return cell(x.cores); }},
      {data_column("device_bytes"), [](s x) { return x.device_bytes; }},
      {{"device_memory", "device memory", bytes, 0, "", shown},
       [](s x) { return x.trials > 0 ? cell(x.device_bytes, bytes) : cell(); }},
      {data_column("due"), [](s x) { return x.due; }},
      {data_column("dropped"), [](s x) { return x.dropped; }},
      {data_column("deadline"), [](s x) { return deadline_of(x.deadline); }},
      {{"dropped_share", "dropped %", share, 0, "", shown},
       [](s x) { return share_of(x.dropped, x.due); }}};
  return columns;
}

/// Returns a row for each configuration, followed by rows for the pipelines of the configuration.
table configuration_table(const experiment_view& of) {
  table made{"configurations", "", "configuration", "member", {}, {}, in_data};
  made.columns = {{"name"}, {"id"}, {"assignments"}};
  for (const auto& one : member_figures()) made.columns.push_back(one.is);
  for (auto& one : made.columns) one.optional = true;
  for (std::size_t c = 0; c < of.record.configurations.size(); ++c) {
    const auto& [name, assignments, members] = of.record.configurations[c];
    row line{{name, experiment_labels::id(c), parameters_fact(assignments).value}};
    line.cells.resize(made.columns.size());
    made.rows.push_back(std::move(line));
    for (const auto& member : of.summary.configurations[c].members) {
      made.rows.push_back({{member.name, cell(), cell()}, 1});
      auto figures = row_of(member, member_figures()).cells;
      std::ranges::move(figures, std::back_inserter(made.rows.back().cells));
    }
  }
  return made;
}

table stage_times(const experiment_view& of) {
  table made{"stages", "", "stage"};
  made.columns = {{"stage"}, {"configuration"}, {"member"}, {"on"}, {"measure"}, {"times"}};
  made.columns.push_back({.key = "ran", .optional = true});
  made.columns.push_back({.key = "mean_rows", .optional = true});
  made.where = in_data;
  for (const auto& who : of.labels.all()) {
    for (const auto& stage : of.of(who).stages) {
      made.rows.push_back(
          {{stage.name, of.record.configurations[who.configuration].name, of.of(who).name, stage.on,
            stage.what, stage.what ? cell(samples_of(stage.times)) : cell(), cell(stage.ran),
            cell(stage.mean_rows)}});
    }
  }
  return made;
}

}  // namespace

void add_costs(document& to, const experiment_view& of) {
  const auto members = of.labels.all();
  auto columns = of.names();
  const auto is_some = [&](const column_of<member_summary>& one) {
    return std::ranges::any_of(members, [&](const configuration_member& who) {
      const auto number = one.value(of.of(who)).number();
      return number && number->value != 0;
    });
  };
  for (const auto& one : member_figures()) {
    if ((one.is.where & shown) == 0 || !is_some(one)) continue;
    columns.push_back(
        {one.is, [&of, &one](const compared_member& x) { return one.value(of.of(x.who)); }});
  }
  table made{"costs", "Other metrics", "configuration", "", columns_of(columns), {}, shown};
  made.titled = true;
  for (const auto& who : members) made.rows.push_back(row_of({who}, columns));
  if (of.has_figures(made)) to.parts.push_back(std::move(made));
}

void add_data(document& to, const experiment_view& of) {
  const auto& summary = of.summary;
  const auto& blocks = summary.machine.affected_blocks;
  to.parts.push_back(facts{"",
                           "",
                           {{"complete_blocks", "", summary.complete_blocks},
                            {"counted_blocks", "", summary.counted_blocks},
                            {"trials_left_out", "", summary.trials_left_out},
                            {"stopped", "", of.record.stopped},
                            {"interrupted", "", of.record.interrupted},
                            {"failure", "", of.record.failure}},
                           in_data});
  to.parts.push_back(facts{"steadiness",
                           "",
                           {{"drift", "", summary.machine.drift},
                            {"affected_blocks", "", whole_numbers(blocks.begin(), blocks.end())}},
                           in_data});
  to.parts.push_back(configuration_table(of));
  to.parts.push_back(stage_times(of));
  to.parts.push_back(comparison_table("comparisons", pair_columns(of.record), summary.comparisons));
}

namespace {

/// Returns "p50 60.2 ms, -18.8 % (95 % interval -19.4 to -18.1 %)"; points for late frames.
std::string words_of(const comparison& of, const std::string& metric) {
  const auto value = to_text({of.value, unit_of(of.figure)});
  const auto range = of.change_range();
  if (of.figure == figure::late) {
    auto text = fmt::format("{} {}, {:+.3g} points", metric, value, 100 * of.difference);
    if (!range) return text;
    return fmt::format("{} (95 % interval {:+.3g} to {:+.3g})", text, 100 * range->low,
                       100 * range->high);
  }
  estimate change{{of.change(), unit::change}, {}, {}};
  if (range) {
    change.low = range->low;
    change.high = range->high;
  }
  return fmt::format("{} {}, {}", metric, value, shown_value(change));
}

table sweep_table(const sweep& of, const experiment_record& record) {
  using enum unit;
  using p = const sweep_point&;
  auto made = table_of<sweep_point>(
      {"sweep",
       fmt::format("against {}: {}", of.key,
                   of.what ? "the device stages of the median frame"
                           : "the device stages, and the median frame end to end"),
       "text"},
      {{{"text", of.key}, [](p x) { return x.text; }},
       {data_column("configuration"),
        [&](p x) { return record.configurations[x.configuration].name; }},
       {data_column("value", none), [](p x) { return x.value; }},
       {{"flops", "FLOPs", flops, 0, "of a frame's device stages without copies"},
        [](p x) { return cell(x.flops, flops); }},
       {{"bytes", "bytes", bytes, 0, "likewise, read and written"},
        [](p x) { return cell(x.bytes, bytes); }},
       {{"intensity", "FLOP/B", flops_per_byte},
        [](p x) { return cell(x.intensity, flops_per_byte); }},
       {{"time", "p50", duration}, [](p x) { return cell(x.time, duration); }},
       {{"flops_per_second", "FLOP/s", flops_per_second},
        [](p x) { return cell(x.rate, flops_per_second); }},
       {{"roofline_time", "bound", duration, 0,
         "roofline time: the larger of bytes over bandwidth and FLOPs over rate, as the device was "
         "calibrated"},
        [](p x) { return cell(x.roofline_time, duration); }},
       {{"bound", "limit"}, [](p x) { return cell(x.by); }},
       {{"ratio", "ratio", ratio, 0, "p50 over bound"}, [](p x) { return cell(x.ratio, ratio); }}},
      of.points);
  made.titled = true;
  return made;
}

chart chart_of(const sweep& of) {
  sweep_chart drawn{of.key, {}, {}, {}, {}};
  double longest = 0;
  for (const auto& p : of.points) {
    drawn.at.push_back(p.value);
    drawn.texts.push_back(p.text);
    longest = std::max({longest, p.time.value_or(0), of.what ? p.roofline_time.value_or(0) : 0});
  }
  const auto unit = unit_for(longest);
  const auto line = [&](std::string name, std::optional<double> sweep_point::*value, double size) {
    sweep_chart::line made{std::move(name), {}};
    for (const auto& p : of.points) {
      made.values.push_back(p.*value ? std::optional(*(p.*value) / size) : std::nullopt);
    }
    return made;
  };
  // A line needs at least `least_sweep_points` values.
  const auto add = [&](const std::string& title, std::vector<sweep_chart::line> lines) {
    std::erase_if(lines, [](const auto& one) {
      const auto known = std::ranges::count_if(one.values, [](const auto& v) { return !!v; });
      return static_cast<std::size_t>(known) < least_sweep_points;
    });
    if (!lines.empty()) drawn.panels.push_back({title, std::move(lines)});
  };
  add("FLOP/B", {line("FLOP/B", &sweep_point::intensity, 1)});
  std::vector<sweep_chart::line> times = {line("p50", &sweep_point::time, unit.nanoseconds)};
  // The roofline time of a whole frame is no bound on its time, so it is not drawn.
  if (of.what)
    times.push_back(line("roofline time", &sweep_point::roofline_time, unit.nanoseconds));
  add(fmt::format("p50 {}", unit.name), std::move(times));
  return {"sweep_chart", "Sweep", "", std::move(drawn)};
}

}  // namespace

void add_sweep(document& to, const experiment_view& of) {
  if (!of.analysis.swept) return;
  const auto& swept = *of.analysis.swept;
  to.parts.push_back(facts{"swept",
                           "",
                           {{"parameter", "", swept.key},
                            {"time_is", "", swept.what ? to_word(*swept.what) : "end_to_end"}},
                           in_data});
  to.parts.push_back(sweep_table(swept, of.record));
  to.parts.push_back(chart_of(swept));
}

void add_comparisons_chart(document& to, const experiment_view& of) {
  comparisons_chart drawn{{}, of.record.how.margin};
  for (const auto& [word, what] : figure_words) {
    for (const auto& found : of.summary.comparisons) {
      if (found.figure != what) continue;
      auto& made = drawn.list.emplace_back();
      made.metric = figure_name(what, of.record.how.tail);
      made.name = of.labels.of(found.pair.what);
      made.reference = of.labels.of(found.pair.reference);
      made.change = found.change();
      if (const auto range = found.change_range()) {
        made.low = range->low;
        made.high = range->high;
        made.verdict = found.verdict;
      }
      made.words = words_of(found, made.metric);
    }
  }
  if (drawn.list.empty()) return;
  to.parts.push_back(chart{"comparisons_chart", "Comparisons",
                           fmt::format("Changes against the baseline with simultaneous 95 % "
                                       "intervals; late frames in percentage "
                                       "points. By bootstrap over {} blocks. An interval "
                                       "between the dashed lines, within {:g} %, "
                                       "means the same.",
                                       of.summary.counted_blocks, 100 * of.record.how.margin),
                           std::move(drawn)});
}

void add_trials_chart(document& to, const experiment_view& of) {
  trials_chart drawn;
  const auto members = of.labels.all();
  for (const auto& who : members) drawn.names.push_back(of.labels.of(who));
  for (const auto& trial : of.record.trials) {
    for (std::size_t m = 0; m < trial.members.size(); ++m) {
      if (trial.members[m].frames.empty()) continue;
      const configuration_member who{trial.configuration, m};
      const auto place = std::ranges::find(members, who) - members.begin();
      drawn.trials.push_back({static_cast<std::size_t>(place), trial.block, trial.begun,
                              lower_median(end_to_end_times(trial.members[m]))});
    }
  }
  if (drawn.trials.size() < 2) return;
  drawn.disturbed = of.summary.machine.affected_blocks;
  const auto& still = of.summary.machine.stood_still_blocks;
  drawn.disturbed.insert(drawn.disturbed.end(), still.begin(), still.end());
  to.parts.push_back(
      chart{"trials_chart", "Trials over time",
            "A mark is the median of a trial's frames against that of all trials of its "
            "configuration. Shaded: disturbed blocks (machine noise).",
            std::move(drawn)});
}

}  // namespace graphline::report
