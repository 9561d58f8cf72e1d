#include <fmt/format.h>

#include <algorithm>

#include "framework/analysis/search/search_summary.hpp"
#include "framework/report/describe/experiment_view.hpp"
#include "framework/spec/settings_reader.hpp"

namespace graphline::report {
namespace {

std::string verdict_text(bound_verdict of) {
  if (of == bound_verdict::holds) return "holds";
  return of == bound_verdict::fails ? "fails" : "not certain";
}

class search_view {
 public:
  explicit search_view(const experiment_view& of)
      : search_(*of.record.search),
        interrupted_(of.record.interrupted),
        summary_(summarize_search(of.record, of.summary)),
        best_(summary_.chosen ? summary_.confirmed[*summary_.chosen].candidate : summary_.nearest) {
    for (const auto& one : summary_.confirmed) {
      judged_ = judged_ || one.objective;
      if (one.candidate == best_) confirmed_ = &one;
    }
  }

  facts answer() const {
    const auto* const note = summary_.chosen ? "" : judged_ ? "not recommended" : "not confirmed";
    facts made{"answer",
               "Best settings",
               {{"settings", "settings", name_of(best_), note},
                {"chosen", "", summary_.chosen.has_value()}}};
    const unit in = unit_of(search_.objective);
    cell objective(search_.candidates[best_].objective, in);
    if (confirmed_ != nullptr && confirmed_->objective && confirmed_->range) {
      objective =
          estimate{{*confirmed_->objective, in}, confirmed_->range->low, confirmed_->range->high};
    }
    made.list.push_back({"objective", std::string(to_word(search_.objective)), objective});
    if (summary_.gain && summary_.gain->change_range()) {
      const auto range = *summary_.gain->change_range();
      made.list.push_back(
          {"change", "against the file",
           estimate{{summary_.gain->change(), unit::change}, range.low, range.high}});
    }
    for (std::size_t i = 0; confirmed_ != nullptr && i < search_.limits.size(); ++i) {
      const auto& [verdict, value] = confirmed_->limits[i];
      made.list.push_back({fmt::format("limit_{}", i + 1), graphline::to_text(search_.limits[i]),
                           cell(value, unit_of(search_.limits[i].metric)), verdict_text(verdict)});
    }
    std::erase_if(made.list, [](const fact& one) { return !one.value.known(); });
    return made;
  }

  /// Returns the lines to paste into the pipeline's file; empty for the file's settings.
  std::string pasted() const {
    std::string run;
    std::string params;
    for (const auto& [key, value] : search_.candidates[best_].assignments) {
      auto& to = is_setting(key) ? run : params;
      to += fmt::format("{}{}: {}", to.empty() ? "" : ", ", key, value);
    }
    std::string text;
    if (!run.empty()) text += fmt::format("run: {{{}}}\n", run);
    if (!params.empty()) text += fmt::format("params: {{{}}}\n", params);
    return text.empty() ? text : "in the pipeline's file:\n" + text;
  }

  table front() const {
    using p = const search_candidate&;
    std::vector<search_candidate> points;
    for (const std::size_t i : summary_.front) points.push_back(search_.candidates[i]);
    auto made = table_of<search_candidate>(
        {"front", "Trade-off: no settings are better in all three", "settings"},
        {{{"settings", "settings"}, [](p x) { return x.name; }},
         {{"latency", latency_name(), unit::duration},
          [](p x) { return cell(x.latency, unit::duration); }},
         {{"throughput", "frame/s", unit::frames_per_second},
          [](p x) { return cell(x.throughput, unit::frames_per_second); }},
         {{"device_memory", "device memory", unit::bytes},
          [](p x) { return cell(x.device_bytes, unit::bytes); }},
         {{"confirmed",
           "confirmed",
           {},
           1,
           "others are from few trials of the search, with selection bias"},
          [](p x) { return x.outcome == search_outcome::confirmed; }}},
        points);
    made.titled = true;
    return made;
  }

  /// Adds the front as a chart, with the other measured candidates as points.
  void add_front_chart(document& to) const {
    std::vector<const search_candidate*> points;
    for (const auto& of : search_.candidates) {
      if (of.latency && of.throughput) points.push_back(&of);
    }
    if (points.size() < 2) return;
    std::ranges::stable_sort(points, {}, [](const auto* of) { return *of->latency; });
    const auto time = unit_for(*points.back()->latency);
    sweep_chart drawn{fmt::format("{} {}", latency_name(), time.name), {}, {}, {}, {}};
    drawn.panels = {{"frame/s", {{"trade-off", {}}, {"others", {}, true}}}};
    for (const auto* of : points) {
      drawn.at.push_back(*of->latency / time.nanoseconds);
      drawn.texts.push_back(three_digits(drawn.at.back()));
      drawn.names.push_back(fmt::format("{}, device memory {}", of->name,
                                        shown_value(cell(of->device_bytes, unit::bytes))));
      const auto index = static_cast<std::size_t>(of - search_.candidates.data());
      const bool is_best = std::ranges::find(summary_.front, index) != summary_.front.end();
      auto& lines = drawn.panels[0].lines;
      lines[0].values.push_back(is_best ? of->throughput : std::nullopt);
      lines[1].values.push_back(is_best ? std::nullopt : of->throughput);
    }
    to.parts.push_back(chart{"front_chart", "Throughput against latency", "", std::move(drawn)});
  }

  facts effort() const {
    const auto count = [this](search_outcome outcome) {
      return std::ranges::count(search_.candidates, outcome, &search_candidate::outcome);
    };
    using enum search_outcome;
    facts made{"search",
               "Search",
               {{"candidates", "candidates", search_.candidates.size(),
                 fmt::format("{} skipped, {} not reached in time, {} failed", count(pruned),
                             count(no_time), count(failed))},
                {"frames", "frames", search_.frames, "before the confirmation"},
                {"time", "time", cell(static_cast<double>(search_.time), unit::duration),
                 "time limit " + format_duration(static_cast<double>(search_.time_limit))}}};
    if (search_.tau) {
      made.list.push_back(
          {"tau", "tau of predictions", *search_.tau,
           *search_.tau < least_tau ? "too low to skip candidates" : "enough to skip candidates"});
    }
    for (const auto& of : search_.candidates) {
      if (!of.failure.empty()) made.list.push_back({of.name, of.name, of.failure, "failed"});
    }
    return made;
  }

  void add_findings(std::vector<finding>& to) const {
    if (!summary_.chosen) {
      to.push_back(finding{judged_        ? "search_infeasible"
                           : interrupted_ ? "search_interrupted"
                                          : "search_unconfirmed",
                           finding_severity::warning}
                       .with("nearest", name_of(best_)));
      return;
    }
    const bool better = summary_.gain && summary_.gain->verdict == verdict::faster;
    const auto measured = std::ranges::count_if(
        search_.candidates, [](const auto& c) { return c.objective.has_value(); });
    if (!better)
      to.push_back(finding{measured > 1 ? "search_none_better" : "search_none_measured"});
    if (summary_.ties.size() < 2) return;
    std::vector<std::string> names;
    for (const std::size_t c : summary_.ties) {
      names.push_back('\'' + name_of(summary_.confirmed[c].candidate) + '\'');
    }
    to.push_back(finding{"search_ties"}
                     .with("count", names.size())
                     .with("simplest", name_of(summary_.confirmed[summary_.ties[0]].candidate))
                     .with("names", names));
  }

 private:
  std::string name_of(std::size_t candidate) const { return search_.candidates[candidate].name; }

  std::string latency_name() const {
    return std::string(percentile_of(search_.objective) ? to_word(search_.objective) : "p50");
  }

  const search_record& search_;
  bool interrupted_;
  search_summary summary_;
  std::size_t best_;                                ///< the chosen or nearest candidate
  const confirmed_candidate* confirmed_ = nullptr;  ///< null if the confirmation has no figures
  bool judged_ = false;  ///< whether the confirmation has figures of the objective
};

}  // namespace

void add_search(document& to, const experiment_view& of) {
  if (!of.record.search || of.record.search->candidates.empty()) return;
  const search_view view(of);
  to.parts.push_back(view.answer());
  if (const auto text = view.pasted(); !text.empty()) to.parts.push_back(note{text});
  to.parts.push_back(view.front());
  view.add_front_chart(to);
  to.parts.push_back(view.effort());
  view.add_findings(to.findings);
}

}  // namespace graphline::report
