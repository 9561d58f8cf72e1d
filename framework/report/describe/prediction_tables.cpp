#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "framework/base/units.hpp"
#include "framework/report/describe/describe.hpp"

namespace graphline::report {

namespace {

using enum unit;

std::vector<faster_stage> sorted_by_gain(const prediction_record& prediction) {
  auto stages = prediction.sensitivity;
  std::ranges::stable_sort(stages, {}, &faster_stage::mean);
  return stages;
}

/// Returns what a frame gains from each stage that becomes 10 % faster, the largest gain first.
table sensitivity_table(const prediction_record& prediction, const distribution& times) {
  using s = const faster_stage&;
  const auto mean = times.mean();
  const auto p95 = times.percentile(0.95);
  const auto gain = [](const char* key, const char* title) {
    return column{.key = key, .title = title, .in = duration, .is_signed = true};
  };
  const auto change_of = [](double before, nanoseconds after) {
    return cell(static_cast<double>(after) - before, duration);
  };
  auto made = table_of<faster_stage>(
      {"sensitivity", "What a frame gains if a stage becomes 10 % faster", "stage"},
      {{{"stage", "stage"}, [](s x) { return x.stage; }},
       {gain("mean", "mean"), [&](s x) { return change_of(mean, x.mean); }},
       {{"mean_change", "change %", change},
        [&](s x) { return cell(static_cast<double>(x.mean) / mean - 1, change); }},
       {gain("p50", "p50"),
        [&](s x) { return change_of(static_cast<double>(times.median()), x.p50); }},
       {gain("p95", "p95"),
        [&](s x) { return p95 && x.p95 ? change_of(static_cast<double>(*p95), *x.p95) : cell(); }}},
      sorted_by_gain(prediction));
  made.titled = true;
  return made;
}

chart sensitivity_chart(const prediction_record& prediction, const distribution& times) {
  comparisons_chart drawn;
  const auto draw = [&](const char* metric, double before, auto after_of) {
    for (const faster_stage& stage : sorted_by_gain(prediction)) {
      const std::optional<nanoseconds> after = after_of(stage);
      if (!after) continue;
      const double gain = static_cast<double>(*after) - before;
      auto& made = drawn.list.emplace_back();
      made.metric = metric;
      made.name = stage.stage;
      made.change = gain / before;
      made.low = std::min(0.0, made.change);
      made.high = std::max(0.0, made.change);
      made.words = fmt::format("10 % faster, {} {} {}", metric, gain < 0 ? "falls by" : "rises by",
                               format_duration(std::abs(gain)));
    }
  };
  draw("mean", times.mean(), [](const faster_stage& s) { return std::optional(s.mean); });
  draw("p50", static_cast<double>(times.median()),
       [](const faster_stage& s) { return std::optional(s.p50); });
  if (const auto p95 = times.percentile(0.95)) {
    draw("p95", static_cast<double>(*p95), [](const faster_stage& s) { return s.p95; });
  }
  return {"sensitivity_chart", "Sensitivity",
          "Change of the end-to-end time if a stage becomes 10 % faster.", std::move(drawn)};
}

void add_worst_case(document& to, const worst_case& found) {
  struct line {
    std::string name;
    std::optional<nanoseconds> at_most;
    const char* from;
  };
  std::vector<line> lines;
  for (const longest_stage& stage : found.stages) {
    lines.push_back({stage.stage, stage.at_most, stage.stated ? "--at-most" : "source"});
  }
  lines.push_back({"issue times", found.issue, "source"});
  lines.push_back({"delays", found.delays, "source"});
  const bool holds = !found.period || found.bound <= *found.period;
  lines.push_back({"end to end", holds ? std::optional(found.bound) : std::nullopt, "bound"});
  using l = const line&;
  auto made = table_of<line>(
      {"worst_case", "Worst case", "stage"},
      {{{"stage", "stage"}, [](l x) { return x.name; }},
       {{"at_most", "at most", duration},
        [](l x) { return x.at_most ? cell(static_cast<double>(*x.at_most), duration) : cell(); }},
       {{"from",
         "from",
         {},
         0,
         "--at-most, or the longest in the source, with its factor if it is scaled; delays: "
         "typical ones in the source. bound: no frame takes longer in this model while no stage "
         "takes longer; CPU stages count in part if they can run at once"},
        [](l x) { return x.from; }}},
      lines);
  made.titled = true;
  to.parts.push_back(std::move(made));
}

void add_factors(document& to, const device_change& change) {
  using f = const stage_factor&;
  auto made = table_of<stage_factor>(
      {"factors", "Factors of the source's stage times", "stage"},
      {{{"stage", "stage"}, [](f x) { return x.stage; }},
       {{"factor", "factor", ratio, 0, "of the time in the source"},
        [](f x) { return cell(x.best, ratio); }},
       {{"low", "from", ratio, 0,
         "to the next column: how much time above the roofline time scales with it"},
        [](f x) { return cell(x.low, ratio); }},
       {{"high", "to", ratio}, [](f x) { return cell(x.high, ratio); }}},
      change.factors);
  made.titled = true;
  to.parts.push_back(std::move(made));
  to.parts.push_back(note{
      "the intervals also span these factors, but not how far kernels differ on the other device; "
      "CPU stages, launches and the host's delays take as long as in the source"});
}

}  // namespace

void add_prediction_tables(document& to, const prediction_record& prediction,
                           const distribution& end_to_end) {
  if (!prediction.sensitivity.empty()) {
    to.parts.push_back(sensitivity_table(prediction, end_to_end));
    to.parts.push_back(sensitivity_chart(prediction, end_to_end));
  }
  if (prediction.worst_case) add_worst_case(to, *prediction.worst_case);
  if (prediction.device_change) add_factors(to, *prediction.device_change);
}

}  // namespace graphline::report
