#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "framework/report/describe/experiment_view.hpp"

namespace graphline::report {

namespace {

using enum unit;

template <class T>
cell whole(T number) {
  return quantity{static_cast<double>(number), none};
}

cell time_cell(const std::optional<double>& ns) {
  return {ns, duration};
}

std::optional<double> as_double(const std::optional<nanoseconds>& ns) {
  return ns ? std::optional(static_cast<double>(*ns)) : std::nullopt;
}

/// Of a ratio or its interval, as a part that it is off 1.
cell change_cell(double ratio) {
  return quantity{ratio - 1, change};
}
cell change_cell(const std::optional<interval>& ratio) {
  if (!ratio) return {};
  return span_of{ratio->low - 1, ratio->high - 1, change};
}

/// In two digits, since it is a rough figure.
cell more_trials_cell(const comparison& of) {
  if (!of.ratio_range || !of.more_trials) return {};
  std::int64_t step = 1;
  while (*of.more_trials >= 100 * step) step *= 10;
  return whole((*of.more_trials + step / 2) / step * step);
}

// ---- The answer ---------------------------------------------------------------------------------

constexpr std::string_view names_of_metrics[] = {"p50", "tail", "throughput"};

column metric_column(figure what, const experiment_view& of) {
  const std::string key(names_of_metrics[static_cast<std::size_t>(what)]);
  if (what == figure::throughput) return {key, "frame/s", frames_per_second};
  return {key, what == figure::p50 ? key : percentile_name(of.record.how.tail), duration};
}

cell value_of(figure what, const member_summary& of) {
  switch (what) {
    case figure::p50:
      return time_cell(median_of(of.end_to_end));
    case figure::tail:
      return time_cell(as_double(of.tail));
    case figure::throughput:
      break;
  }
  return {of.throughput, frames_per_second};
}

/// What the tables of the answer say of each metric.
struct shown_metric {
  figure what;
  bool with_change = true;
  bool with_interval = false;
};

class answer_tables {
 public:
  explicit answer_tables(const experiment_view& of) : of_(of) {
    for (const auto& found : of.summary.comparisons) {
      intervals_ = intervals_ || found.ratio_range.has_value();
    }
  }

  table answer() const {
    const bool compares = !of_.summary.comparisons.empty();
    const bool all = !compares || of_.labels.many();  // in one table
    std::vector<shown_metric> metrics = {{figure::p50, true, true}};
    if (all) metrics.insert(metrics.end(), {{figure::tail, false}, {figure::throughput, false}});
    auto made = table_of("answer", all ? "end to end" : "end to end, the median frame", metrics);
    made.columns.push_back(
        {"more_trials", "more trials", none, 0,
         "about so many further trials of each configuration would decide what is inconclusive"});
    // Histograms are for few rows.
    made.columns.push_back({"histogram",
                            "histogram",
                            {},
                            10,
                            "of end-to-end times, fastest on the left, all rows on one scale"});
    made.columns.back().shared_scale = true;
    if (of_.labels.many()) made.columns.back().where = in_page;
    std::size_t at = 0;
    for (const auto& group : of_.groups()) {
      for (const auto& member : group) {
        auto& cells = made.rows[at++].cells;
        const auto* found = comparison_of(member, figure::p50);
        cells.push_back(found == nullptr ? cell() : more_trials_cell(*found));
        const auto& times = of_.of(member.who).end_to_end;
        cells.push_back(sampled{times ? std::make_shared<const distribution>(*times) : nullptr});
      }
    }
    return made;
  }

  table slow_frames_and_throughput() const {
    return table_of("slow_frames", "slow frames, and throughput",
                    {{figure::tail}, {figure::throughput}});
  }

 private:
  table table_of(std::string key, std::string title,
                 const std::vector<shown_metric>& metrics) const {
    table made{std::move(key), std::move(title), "configuration", "", of_.name_columns(), {},
               shown};
    made.titled = true;
    for (const auto& metric : metrics) add_columns(made.columns, metric);
    for (const auto& group : of_.groups()) {
      bool apart = !made.rows.empty();
      for (const auto& member : group) {
        row line{of_.name_cells(member.who)};
        line.apart = std::exchange(apart, false);
        for (const auto& metric : metrics) add_cells(line.cells, metric, member);
        made.rows.push_back(std::move(line));
      }
    }
    return made;
  }

  void add_columns(std::vector<column>& to, const shown_metric& metric) const {
    const std::string key(names_of_metrics[static_cast<std::size_t>(metric.what)]);
    to.push_back(metric_column(metric.what, of_));
    if (metric.with_change) {
      to.push_back({key + "_change", "change %", change, 0,
                    metric.with_interval ? "against the baseline" : ""});
    }
    if (metric.with_interval) {
      to.push_back({key + "_interval", "95 % interval", change, 0,
                    fmt::format("of the change, by bootstrap over {} blocks; simultaneous 95 % "
                                "intervals of all comparisons",
                                of_.summary.counted_blocks)});
    }
    to.push_back({key + "_verdict",
                  "verdict",
                  {},
                  metric.with_change ? 0 : 1,
                  metric.with_interval
                      ? fmt::format("same: the whole interval is within {:g} %; inconclusive: the "
                                    "blocks do not tell",
                                    100 * of_.record.how.margin)
                      : ""});
  }

  void add_cells(std::vector<cell>& to, const shown_metric& metric,
                 const compared_member& member) const {
    const auto* found = comparison_of(member, metric.what);
    to.push_back(value_of(metric.what, of_.of(member.who)));
    // Of what is not compared nothing is missing.
    const auto otherwise = member.pair == nullptr && intervals_ ? cell("") : cell();
    if (metric.with_change) {
      const bool baseline = metric.with_interval && !of_.summary.comparisons.empty() &&
                            member.pair == nullptr && of_.is_baseline(member.who);
      to.push_back(found != nullptr ? change_cell(found->ratio)
                   : baseline       ? cell("baseline")
                                    : otherwise);
    }
    const bool judged = found != nullptr && found->ratio_range;
    if (metric.with_interval) to.push_back(judged ? change_cell(found->ratio_range) : otherwise);
    to.push_back(judged ? verdict_cell(found->verdict) : otherwise);
  }

  const comparison* comparison_of(const compared_member& member, figure what) const {
    return member.pair == nullptr ? nullptr : find_comparison(of_.summary, *member.pair, what);
  }

  const experiment_view& of_;
  bool intervals_ = false;
};

// ---- Stages -------------------------------------------------------------------------------------

/// Whether a stage takes longer or shorter than in the baseline by a part of its frame that could
/// matter: what changes by less is seldom worth a word, be it several times what it was.
bool matters(const experiment_view& of, const stage_comparison& found) {
  constexpr double least_part = 0.01;
  if (found.verdict != verdict::faster && found.verdict != verdict::slower) return false;
  const auto& frame = of.of(found.pair.reference).end_to_end;
  return !frame || std::abs(found.difference) >= least_part * static_cast<double>(frame->median());
}

const member_summary::stage* find_stage(const member_summary& in, const std::string& name) {
  const auto found = std::ranges::find(in.stages, name, &member_summary::stage::name);
  return found == in.stages.end() ? nullptr : &*found;
}

/// Each stage of a pipeline in every configuration that times it. Times have units of their own:
/// a launch beside what was launched would read as next to nothing.
table stage_table(const experiment_view& of, const std::string& pipeline, std::size_t number) {
  table made{fmt::format("stages_{}", number),
             of.several_at_once ? "stages of " + pipeline + ", the median of each"
                                : "stages, the median of each",
             "stage",
             "",
             {{"stage", "stage"}},
             {},
             shown};
  made.titled = true;
  std::vector<const member_summary*> members;
  std::vector<std::string> stages;  // a parameter may give a configuration some that others lack
  for (const auto& who : of.labels.all()) {
    const auto& member = of.of(who);
    const auto is_timed = [](const auto& stage) { return median_of(stage.times).has_value(); };
    if (member.name != pipeline || std::ranges::none_of(member.stages, is_timed)) continue;
    members.push_back(&member);
    made.columns.push_back({fmt::format("{}", members.size()), of.short_name(who)});
    for (const auto& stage : member.stages) {
      if (is_timed(stage) && std::ranges::find(stages, stage.name) == stages.end()) {
        stages.push_back(stage.name);
      }
    }
  }
  for (const auto& name : stages) {
    row line{{name}};
    for (const auto* member : members) {
      const auto* stage = find_stage(*member, name);
      line.cells.push_back(stage == nullptr ? cell() : time_cell(median_of(stage->times)));
    }
    made.rows.push_back(std::move(line));
  }
  return made;
}

/// Against each baseline, the largest changes first.
table changed_stages(const experiment_view& of) {
  table made{"changed_stages",
             "stages that changed",
             "stage",
             "",
             {{"stage", "stage"},
              {"configuration", "configuration"},
              {"reference", "against"},
              {"p50", "p50", duration},
              {"change", "change %", change},
              {"interval", "95 % interval", change},
              {"verdict", "verdict"}},
             {},
             shown};
  made.titled = true;
  std::vector<const stage_comparison*> changes;
  for (const auto& found : of.summary.stage_comparisons) {
    if (matters(of, found)) changes.push_back(&found);
  }
  std::ranges::stable_sort(changes, [](const auto* one, const auto* other) {
    return std::abs(one->difference) > std::abs(other->difference);
  });
  for (const auto* found : changes) {
    const auto& stage = of.of(found->pair.what).stages[found->stage];
    made.rows.push_back(
        {{stage.name, of.labels.of(found->pair.what), of.labels.of(found->pair.reference),
          time_cell(median_of(stage.times)), change_cell(found->ratio),
          change_cell(found->ratio_range), verdict_cell(found->verdict)}});
  }
  return made;
}

// ---- Costs --------------------------------------------------------------------------------------

cell share_of(std::size_t some, std::size_t all) {
  return quantity{static_cast<double>(some) / static_cast<double>(all), share};
}

const std::vector<column_of<member_summary>>& cost_columns() {
  using m = const member_summary&;
  static const std::vector<column_of<member_summary>> columns = {
      {{"trials", "trials", none}, [](m x) { return whole(x.trials); }},
      {{"stddev", "stddev", duration, 0, "over trials, of their medians"},
       [](m x) { return x.end_to_end ? time_cell(x.between_trials) : cell(); }},
      {{"cores", "cores", none, 0, "busy on average while frames ran, by the whole process"},
       [](m x) { return cell(x.cores, none); }},
      {{"device_bytes", "device memory", bytes},
       [](m x) {
         return x.device_bytes > 0 ? cell(quantity{static_cast<double>(x.device_bytes), bytes})
                                   : cell();
       }},
      {{"late", "late %", share},
       [](m x) {
         return x.deadline && x.end_to_end ? share_of(x.deadline->missed, x.end_to_end->count())
                                           : cell();
       }},
      {{"dropped", "dropped %", share},
       [](m x) { return x.due > 0 ? share_of(x.dropped, x.due) : cell(); }}};
  return columns;
}

}  // namespace

cell verdict_cell(verdict what) {
  const auto is = what == verdict::faster   ? judgment::kind::good
                  : what == verdict::slower ? judgment::kind::bad
                                            : judgment::kind::faint;
  return judgment{std::string(to_word(what)), is};
}

std::optional<double> median_of(const std::optional<distribution>& times) {
  return times ? as_double(times->percentile(0.5)) : std::nullopt;
}

void add_answer(document& to, const experiment_view& of) {
  if (of.labels.by_id()) to.parts.push_back(id_table(of.labels, of.record.pairs));
  const answer_tables tables(of);
  to.parts.push_back(tables.answer());
  if (!of.summary.comparisons.empty() && !of.labels.many()) {
    to.parts.push_back(tables.slow_frames_and_throughput());
  }
}

void add_stages(document& to, const experiment_view& of) {
  std::vector<std::string> pipelines;
  for (const auto& configuration : of.record.configurations) {
    for (const auto& name : configuration.members) {
      if (std::ranges::find(pipelines, name) == pipelines.end()) pipelines.push_back(name);
    }
  }
  bool timed = false;
  for (std::size_t i = 0; i < pipelines.size(); ++i) {
    auto made = stage_table(of, pipelines[i], i + 1);
    timed = timed || !made.rows.empty();
    if (of.labels.many()) made.where = in_page;
    to.parts.push_back(std::move(made));
  }
  auto changed = changed_stages(of);
  if (timed && changed.rows.empty() && of.labels.many()) {
    to.parts.push_back(
        note{"stages: none is known to have changed; --json and --html have their "
             "times"});
  }
  to.parts.push_back(std::move(changed));
}

void add_costs(document& to, const experiment_view& of) {
  table made{"costs", "beside time", "configuration", "", of.name_columns(), {}, shown};
  made.titled = true;
  const auto members = of.labels.all();
  auto columns = cost_columns();
  // As many for each where all blocks are complete; the heading says how many.
  const auto same_trials = [&](const auto& who) {
    return of.of(who).trials == of.of(members.front()).trials;
  };
  const auto none_dropped = [&](const auto& who) { return of.of(who).dropped == 0; };
  if (std::ranges::all_of(members, none_dropped)) columns.pop_back();
  if (std::ranges::all_of(members, same_trials)) columns.erase(columns.begin());
  for (const auto& one : columns) made.columns.push_back(one.is);
  for (const auto& who : members) {
    row line{of.name_cells(who)};
    for (const auto& one : columns) line.cells.push_back(one.value(of.of(who)));
    made.rows.push_back(std::move(line));
  }
  const bool any = std::ranges::any_of(made.rows, [&](const row& line) {
    const auto first = line.cells.end() - static_cast<std::ptrdiff_t>(columns.size());
    return std::any_of(first, line.cells.end(), [](const cell& one) { return one.known(); });
  });
  if (any) to.parts.push_back(std::move(made));
}

}  // namespace graphline::report
