#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "framework/analysis/stats/distribution.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/heading.hpp"

namespace graphline::report {

namespace {

using enum unit;

cell range_of(const std::optional<interval>& range) {
  return range ? cell(span_of{range->low, range->high, change}) : cell();
}

cell verdict_of(const validated_figure& of) {
  if (of.verdict == agreement::agrees) return judgment{"agrees", judgment::kind::good};
  if (of.verdict == agreement::cannot_tell) return judgment{"cannot tell"};
  if (!of.verdict) return {};
  return judgment{fmt::format("differs by {} %", signed_digits(100 * *of.error, 0)),
                  judgment::kind::bad};
}

/// @param made Without columns and rows.
table figure_table(table made, const std::vector<validated_figure>& figures) {
  using f = const validated_figure&;
  const auto is_time = [](f x) { return x.in == duration; };
  std::vector<column_of<validated_figure>> columns = {
      {{"shown_name", made.row_key, {}, 0, "", shown},
       [=](f x) { return is_time(x) ? cell(x.name) : cell(symbol_of(x.in)); }},
      {data_column("name"), [](f x) { return x.name; }},
      {data_column("unit"), [=](f x) { return is_time(x) ? "ns" : symbol_of(x.in); }},
      {{"measured", "measured", {}, 0, "median over the rounds, as is the prediction"},
       [=](f x) { return cell(x.measured, is_time(x) ? duration : none); }},
      {{"predicted", "predicted"},
       [=](f x) { return cell(x.predicted, is_time(x) ? duration : none); }},
      {{"error", "error %", change, 0,
        "geometric mean over the rounds, which may differ from the ratio of the medians"},
       [](f x) { return cell(x.error, change); }},
      {{"error_interval", "95 % interval", change, 1}, [](f x) { return range_of(x.error_range); }},
      {{"shown_spread", "A/A %", change, 2,
        "A/A spread: 95 % of pairs of measured runs differ by less", shown},
       [](f x) { return x.spread ? cell(x.spread->high, change) : cell(); }},
      {data_column("aa_spread"), [](f x) { return range_of(x.spread); }}};
  if (made.key == "figures") {
    columns.push_back({{"shown_verdict",
                        "verdict",
                        {},
                        0,
                        "agrees: the interval lies within 5 % (p95: 10 %) or within an A/A spread "
                        "of at most 25 %; differs: it lies outside both",
                        shown},
                       verdict_of});
    columns.push_back({data_column("verdict"), [](f x) { return cell(x.verdict); }});
  }
  made.titled = true;
  return table_of(std::move(made), columns, figures);
}

/// Returns how much each piece of a frame's time contributes to the error of the mean.
table piece_table(const validation_summary& summary) {
  constexpr double least_share = 0.01;
  using p = const validated_piece&;
  const double least = least_share * summary.whole.measured;
  const double all = summary.whole.difference();
  const std::vector<column_of<validated_piece>> columns = {
      {{"name", "stage", {}, 0, "", shown},
       [](p x) { return x.stage.empty() ? cell("the frame") : cell(x.stage); }},
      {data_column("stage"), [](p x) { return unless_empty(x.stage); }},
      {data_column("what"), [](p x) { return x.what; }},
      {{"goes_to", "goes to", {}, 0, "", shown}, [](p x) { return in_words(x.what); }},
      {{"measured", "measured", duration, 0,
        "mean over frames and rounds; omits rows that differ by less than 1 % of a frame"},
       [](p x) { return cell(x.measured, duration); }},
      {{"predicted", "predicted", duration}, [](p x) { return cell(x.predicted, duration); }},
      {{.key = "difference", .title = "difference", .in = duration, .is_signed = true},
       [](p x) { return cell(x.difference(), duration); }},
      {{"error_share", "of error %", change},
       [=](p x) { return std::abs(all) < least ? cell() : cell(x.difference() / all, change); }}};
  auto made = table_of<validated_piece>({"pieces", "Where the error comes from", "stage"}, columns,
                                        summary.pieces);
  made.titled = true;
  for (std::size_t i = 0; i < summary.pieces.size(); ++i) {
    if (std::abs(summary.pieces[i].difference()) < least) made.rows[i].where = in_data;
  }
  made.total = row_of(summary.whole, columns);
  made.total->cells[0] = summary.why_no_queue.empty() ? "end to end" : "begin to end";
  made.total->cells[3] = "";
  return made;
}

}  // namespace

document describe(const validation_record& record, const validation_summary& summary) {
  const auto done = static_cast<std::int64_t>(record.rounds.size());
  const auto& first = record.rounds.empty() ? run_record{} : record.rounds.front().measured;
  document made{"validation", first.pipeline, first.description, {}, {}, {}, "figures"};
  made.lines = heading_of(first, counted(done, "round"));
  const auto ended = [&](std::string_view key) {
    return finding{key, finding_severity::failure}
        .with("done", std::to_string(done))
        .with("frames", counted(record.requested, "round"))
        .with("under", std::string());
  };
  if (record.failure) made.findings.push_back(ended("failed").with("failure", *record.failure));
  if (record.interrupted) made.findings.push_back(ended("interrupted"));
  if (record.rounds.empty()) return made;
  if (const auto& prediction = record.rounds.front().predicted.prediction) {
    made.lines.push_back(fmt::format("predicted from {}", fmt::join(prediction->sources, ", ")));
  }
  made.parts.push_back(figure_table({"figures", "End to end", "figure"}, summary.figures));
  made.parts.push_back(
      figure_table({"stages", "Mean time of each stage", "stage"}, summary.stages));
  if (!summary.pieces.empty()) made.parts.push_back(piece_table(summary));
  if (!summary.why_no_queue.empty()) {
    made.parts.push_back(note{"without queue wait: " + summary.why_no_queue});
  } else if (first.frames.size() < samples_needed(0.95)) {
    made.parts.push_back(note{fmt::format("p95 needs {} frames", samples_needed(0.95))});
  }
  made.parts.push_back(facts{"",
                             "",
                             {{"rounds", "", done},
                              {"requested_rounds", "", record.requested},
                              {"interrupted", "", record.interrupted},
                              {"failure", "", cell(record.failure)}},
                             in_data});
  add_origin(made, first, first.run);
  return made;
}

}  // namespace graphline::report
