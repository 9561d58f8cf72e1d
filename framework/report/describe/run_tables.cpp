#include "framework/report/describe/run_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "framework/report/terminal/heading.hpp"

namespace graphline::report {

using enum unit;

sampled samples_of(const std::optional<distribution>& times, std::vector<nanoseconds> in_order) {
  return {times ? std::make_shared<const distribution>(*times) : nullptr, std::move(in_order)};
}

namespace {

/// A figure of a sample, as every table of a run has them.
struct statistic {
  std::string title;
  int rank = 0;  ///< of its column in a table of stages
  std::function<std::optional<double>(const distribution&)> of = {};
};

std::vector<statistic> statistics(const std::optional<distribution>& end_to_end) {
  const auto settled = [](auto get) {
    return [get](const distribution& d) {
      return d.why_unsettled().empty() ? std::optional<double>(get(d)) : std::nullopt;
    };
  };
  std::vector<statistic> list = {
      {"mean", 0, settled([](const distribution& d) { return std::optional(d.mean()); })},
      {"stddev", 6, settled([](const distribution& d) { return d.stddev(); })},
      {"min", 15, [](const distribution& d) { return static_cast<double>(d.min()); }}};
  constexpr int ranks[] = {0, 5, 13, 12, 14};
  static_assert(std::size(ranks) == std::size(shown_percentiles));
  const auto shown = end_to_end ? percentiles_of_table(*end_to_end).size() : 0;
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [name, p] = shown_percentiles[i];
    list.push_back(
        {std::string(name), ranks[i], [p = p](const distribution& d) -> std::optional<double> {
           const auto value = d.percentile(p);
           return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
         }});
  }
  list.push_back({"max", 2, [](const distribution& d) { return static_cast<double>(d.max()); }});
  return list;
}

}  // namespace

table end_to_end_table(const run_analysis& analysis) {
  const auto& times = *analysis.summary.end_to_end;
  table made{"end_to_end_times", "End to end", "", "", {{"frames", "end to end"}}, {}, shown};
  row values{{counted(static_cast<std::int64_t>(times.count()), "frame")}};
  row from{{"95 % from"}};
  row to{{"to"}};
  for (const auto& one : statistics(times)) {
    made.columns.push_back({one.title, one.title, duration});
    values.cells.push_back(cell(one.of(times), duration));
    const auto interval = std::find_if(
        analysis.intervals.begin(), analysis.intervals.end(),
        [&](const percentile_interval& of) { return percentile_name(of.p) == one.title; });
    const bool known = interval != analysis.intervals.end();
    from.cells.push_back(known ? cell(interval->low, duration) : cell(""));
    to.cells.push_back(known ? cell(interval->high, duration) : cell(""));
  }
  made.columns.push_back({"histogram", "histogram", {}, 11});
  values.cells.push_back(samples_of(times, {}));
  from.cells.emplace_back("");
  to.cells.emplace_back("");
  made.rows.push_back(std::move(values));
  if (!analysis.intervals.empty()) {
    made.rows.push_back(std::move(from));
    made.rows.push_back(std::move(to));
  }
  return made;
}

/// What a page begins with and a comparison goes by.
facts latency_facts(const run_analysis& analysis) {
  const auto& times = *analysis.summary.end_to_end;
  facts made{"latency", "Latency", {}, in_page};
  for (const auto& one : statistics(times)) {
    if (one.title == "stddev" || one.title == "min") continue;
    made.list.push_back({one.title, "end to end " + one.title, cell(one.of(times), duration), ""});
  }
  return made;
}

namespace {

const roofline_stage* roofline_of(const run_analysis& analysis, std::size_t stage) {
  if (!analysis.roofline) return nullptr;
  const auto& list = analysis.roofline->stages;
  const auto found = std::find_if(list.begin(), list.end(),
                                  [stage](const auto& one) { return one.stage == stage; });
  return found == list.end() ? nullptr : &*found;
}

class stage_rows {
 public:
  stage_rows(const run_record& record, const run_analysis& analysis)
      : record_(record),
        analysis_(analysis),
        statistics_(statistics(analysis.summary.end_to_end)) {}

  table made() const {
    table made{"stages", "Stages", "stage", "part", columns(), {}};
    for (std::size_t s = 0; s < record_.stages.size(); ++s) {
      const auto& stage = record_.stages[s];
      const auto& summary = analysis_.summary.stages[s];
      const auto* held = roofline_of(analysis_, s);
      made.rows.push_back(row_of_stage(stage, summary, held));
      for (std::size_t p = 0; p < stage.parts.size(); ++p) {
        const auto* metrics = held && p < held->parts.size() ? &held->parts[p] : nullptr;
        made.rows.push_back(row_of_part(stage.parts[p], summary.parts[p], metrics));
      }
    }
    return made;
  }

 private:
  std::vector<column> columns() const {
    std::vector<column> list = {{"name", "stage"},
                                {"kind", "kind", {}, 0, "", not_in_text},
                                {"on", "", {}, 0, "", in_data},
                                {"stream", "stream", {}, 0, "", not_in_text},
                                {"copy", "", {}, 0, "", in_data},
                                {"kernel", "kernel", {}, 16, "", everywhere},
                                {"time_is", "time is", {}, 3, "", shown, true}};
    for (auto& one : list) one.optional = one.key != "name";
    list.back().decides = true;
    for (const auto& one : statistics_) {
      list.push_back({one.title, one.title, duration, one.rank, "", shown, one.title == "p50"});
    }
    const bool parts = record_.run.timing == timing_method::layers;
    list.push_back({"share", "share %", share, 1,
                    fmt::format("% of the mean end-to-end time{}; overlapping stages can exceed "
                                "100 %",
                                parts ? " (of parts: of their stage)" : "")});
    list.push_back({"roofline_time", "bound", duration, 4,
                    record_.calibration
                        ? fmt::format("roofline time at the ceilings calibrated on {}",
                                      record_.calibration->date.substr(0, 10))
                        : ""});
    list.push_back({"bound", "", {}, 0, "", in_data});
    list.push_back({"ratio", "ratio", ratio, 1, "p50 over bound"});
    for (auto one = list.end() - 3; one != list.end(); ++one) one->optional = true;
    list.push_back({"enqueue", "enqueue", duration, 3, "", shown});
    list.push_back({"histogram", "histogram", {}, 11, "", shown});
    for (const char* key :
         {"device_time", "synchronized_time", "enqueue_time", "cpu_time", "device_span"}) {
      list.push_back({key, "", {}, 0, "", in_data});
      list.back().optional = true;
    }
    return list;
  }

  void add_times(row& to, const std::optional<distribution>& times) const {
    for (const auto& one : statistics_) {
      to.cells.push_back(times ? cell(one.of(*times), duration) : cell());
    }
  }

  static void add_roofline(row& to, const roofline_metrics* of) {
    to.cells.push_back(of ? cell(of->roofline_time, duration) : cell());
    to.cells.push_back(of && of->by ? cell(to_word(*of->by)) : cell());
    to.cells.push_back(of ? cell(of->ratio, ratio) : cell());
  }

  /// Of the time that stands for a stage, and all that was measured of it.
  row row_of_stage(const stage_record& stage, const stage_summary& summary,
                   const roofline_stage* held) const {
    const auto& columns = summary.columns;
    const auto times = columns.empty() ? std::nullopt : columns.front().times;
    const auto enqueue = columns.size() > 1 ? columns[1].times : std::nullopt;
    row made{{stage.name, stage.kind, to_word(stage.on),
              stage.stream.empty() ? cell() : cell(stage.stream), stage.copy ? cell(true) : cell(),
              cell(), times ? cell(short_name(columns.front().what)) : cell()}};
    add_times(made, times);
    made.cells.push_back(cell(summary.share, share));
    add_roofline(made, held ? &held->figures : nullptr);
    made.cells.push_back(enqueue ? cell(std::optional(enqueue->mean()), duration) : cell(""));
    made.cells.push_back(samples_of(times, {}));
    for (const auto what : {measure::device_time, measure::synchronized_time, measure::enqueue_time,
                            measure::cpu_time}) {
      const auto found = std::find_if(columns.begin(), columns.end(),
                                      [what](const auto& one) { return one.what == what; });
      made.cells.push_back(
          found == columns.end() ? cell() : cell(samples_of(found->times, times_of(stage, what))));
    }
    if (stage.busy.empty()) {
      made.cells.emplace_back();
    } else {
      auto spans = lengths(stage.device);
      const auto of_spans = distribution::of(spans);
      made.cells.push_back(samples_of(of_spans, std::move(spans)));
    }
    if (!times) made.where = in_data;
    return made;
  }

  row row_of_part(const part_record& part, const stage_summary::part& summary,
                  const roofline_metrics* held) const {
    row made{{part.name, cell(), cell(), cell(), cell(),
              part.choice.empty() ? cell() : cell(part.choice), cell("")},
             1};
    add_times(made, summary.times);
    made.cells.push_back(cell(summary.share, share));
    add_roofline(made, held);
    made.cells.emplace_back();
    made.cells.push_back(samples_of(summary.times, {}));
    made.cells.push_back(summary.times ? cell(samples_of(summary.times, device_times(part)))
                                       : cell());
    for (int rest = 0; rest < 4; ++rest) made.cells.emplace_back();
    if (!summary.times) made.where = in_data;
    return made;
  }

  const run_record& record_;
  const run_analysis& analysis_;
  std::vector<statistic> statistics_;
};

}  // namespace

table stage_table(const run_record& record, const run_analysis& analysis) {
  return stage_rows(record, analysis).made();
}

/// As a trace of each stage alone saw them; in planned order.
table operation_table(const run_record& record) {
  table made{"operations",
             "Operations",
             "stage",
             "",
             {{"stage", "stage"},
              {"operation", "operation"},
              {"calls_per_frame", "calls", none},
              {"median", "each", duration, 0, "the median call"},
              {"together", "all", duration, 0, "all calls in a frame, the median"}},
             {}};
  made.titled = true;
  std::int64_t runs = 0;
  for (const auto& stage : record.stages) {
    runs = std::max(runs, stage.traced_runs);
    for (const auto& one : operations_of(stage)) {
      made.rows.push_back({{stage.name, one.name, whole(one.calls),
                            quantity{static_cast<double>(one.median), duration},
                            quantity{static_cast<double>(one.together), duration}}});
    }
  }
  if (runs > 0) {
    made.title = fmt::format("Operations, traced in {} of each stage alone (tracing slows it)",
                             counted(runs, "run"));
  }
  return made;
}

}  // namespace graphline::report
