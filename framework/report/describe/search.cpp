#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "framework/analysis/search/search_summary.hpp"
#include "framework/report/describe/experiment_view.hpp"
#include "framework/report/render/heading.hpp"
#include "framework/spec/settings_reader.hpp"

namespace graphline::report {
namespace {

class search_view {
 public:
  explicit search_view(const experiment_view& of)
      : search_(*of.record.search),
        interrupted_(of.record.interrupted),
        summary_(summarize_search(of.record, of.summary)) {}

  std::string heading() const {
    const bool maximizes = search_.objective == search_metric::throughput;
    std::string text = fmt::format(
        "search in {}: {} {}", to_text({static_cast<double>(search_.time_limit), unit::duration}),
        maximizes ? "maximize" : "minimize", objective_name());
    for (std::size_t i = 0; i < search_.limits.size(); ++i) {
      text += (i == 0 ? " subject to " : ", ") + graphline::to_text(search_.limits[i]);
    }
    return text;
  }

  facts answer() const {
    facts made{"answer", "Best settings", {}};
    const std::size_t shown = best();
    made.list.push_back({"settings", "settings", name_of(shown), answer_note()});
    made.list.push_back({"chosen", "", summary_.chosen.has_value()});
    const auto* const of = confirmed(shown);
    cell objective(search_.candidates[shown].objective, unit_of(search_.objective));
    if (of != nullptr && of->objective) {
      objective = cell(*of->objective, unit_of(search_.objective));
      if (of->range) {
        objective =
            estimate{{*of->objective, unit_of(search_.objective)}, of->range->low, of->range->high};
      }
    }
    made.list.push_back({"objective", std::string(objective_name()), objective});
    cell gain;
    if (summary_.gain && summary_.gain->change_range()) {
      const auto range = *summary_.gain->change_range();
      gain = estimate{{summary_.gain->change(), unit::change}, range.low, range.high};
    }
    made.list.push_back({"change", "against the file", gain});
    for (std::size_t i = 0; of != nullptr && i < search_.limits.size(); ++i) {
      made.list.push_back({fmt::format("limit_{}", i + 1), graphline::to_text(search_.limits[i]),
                           cell(of->of[i], unit_of(search_.limits[i].metric)),
                           verdict_text(of->limits[i])});
    }
    std::erase_if(made.list, [](const fact& one) { return !one.value.known(); });
    return made;
  }

  /// Returns the lines to paste into the pipeline's file; empty for the file's settings.
  std::string pasted() const {
    const auto& assignments = search_.candidates[best()].assignments;
    std::string run;
    std::string params;
    for (const auto& [key, value] : assignments) {
      auto& to = is_setting(key) ? run : params;
      to += fmt::format("{}{}: {}", to.empty() ? "" : ", ", key, value);
    }
    std::string text;
    if (!run.empty()) text += fmt::format("run: {{{}}}\n", run);
    if (!params.empty()) text += fmt::format("params: {{{}}}\n", params);
    return text.empty() ? text : "in the pipeline's file:\n" + text;
  }

  table front() const {
    using p = const front_point&;
    const auto latency = percentile_of(search_.objective) ? objective_name() : "p50";
    auto made = table_of<front_point>(
        {"front", "Trade-off: no settings are better in all three", "settings"},
        {{{"settings", "settings"}, [this](p x) { return name_of(x.candidate); }},
         {{"latency", std::string(latency), unit::duration},
          [](p x) { return cell(x.latency, unit::duration); }},
         {{"throughput", "frame/s", unit::frames_per_second},
          [](p x) { return cell(x.throughput, unit::frames_per_second); }},
         {{"device_memory", "device memory", unit::bytes},
          [](p x) { return cell(x.device_bytes, unit::bytes); }},
         {{"confirmed", "confirmed", {}, 1, "other figures are from the search and may be lucky"},
          [](p x) { return x.confirmed; }}},
        summary_.front);
    made.titled = true;
    return made;
  }

  table candidates() const {
    using c = const search_candidate&;
    const unit in = unit_of(search_.objective);
    return table_of<search_candidate>(
        {"candidates", "Candidates", "settings", "", {}, {}, not_in_text},
        {{{"settings", "settings"}, [](c x) { return x.name; }},
         {{"outcome",
           "outcome",
           {},
           0,
           "skipped: predicted to be far from the best; screened: one trial, not among the best; "
           "worse, violates: dropped from the race; raced: in it until its end"},
          [](c x) { return x.outcome; }},
         {{"predicted", "predicted", in}, [=](c x) { return cell(x.predicted, in); }},
         {{"objective", "measured", in}, [=](c x) { return cell(x.objective, in); }},
         {{"throughput", "frame/s", unit::frames_per_second},
          [](c x) { return cell(x.throughput, unit::frames_per_second); }},
         {{"device_memory", "device memory", unit::bytes},
          [](c x) { return cell(x.device_bytes, unit::bytes); }},
         {{"trials", "trials", unit::none}, [](c x) { return x.trials; }},
         {{"counted_frames", "frames", unit::none}, [](c x) { return x.frames; }},
         {{.key = "failure", .title = "failure", .optional = true},
          [](c x) { return unless_empty(x.failure); }}},
        search_.candidates);
  }

  facts effort() const {
    const auto count = [this](auto... outcomes) {
      return std::ranges::count_if(search_.candidates, [&](const search_candidate& c) {
        return ((c.outcome == outcomes) || ...);
      });
    };
    using enum search_outcome;
    const auto all = static_cast<std::int64_t>(search_.candidates.size());
    const auto measured = all - count(pruned, no_time, failed);
    return {"search",
            "Search",
            {{"combinations", "combinations", search_.combinations,
              fmt::format("{} refused by 'check', {} with the plan of a simpler one",
                          search_.refused, search_.same)},
             {"refused", "", search_.refused},
             {"same", "", search_.same},
             {"candidates", "candidates", all,
              fmt::format("{} predicted, {} skipped, {} not reached in time, {} failed",
                          search_.predicted, count(pruned), count(no_time), count(failed))},
             {"screened", "screened", measured},
             {"raced", "raced", count(worse, violates, raced, confirmed),
              counted(static_cast<std::int64_t>(search_.rounds), "round")},
             {"confirmed", "confirmed", count(confirmed)},
             {"frames", "frames", summary_.frames,
              fmt::format("and {} in the confirmation", summary_.confirmed_frames)},
             {"confirmed_frames", "", summary_.confirmed_frames},
             {"tau", "tau of predictions", cell(search_.tau), tau_note()},
             {"ranked", "", search_.ranked}}};
  }

  void add_findings(std::vector<finding>& to) const {
    if (!summary_.chosen) {
      const auto* const key = judged()       ? "search_infeasible"
                              : interrupted_ ? "search_unconfirmed"
                                             : "search_of_few_frames";
      to.push_back(finding{key, finding_severity::warning}
                       .with("nearest", name_of(summary_.nearest))
                       .with("lacks", lacks()));
      return;
    }
    const bool better = summary_.gain && summary_.gain->verdict == verdict::faster;
    if (!better) to.push_back(finding{"search_none_better"});
    if (summary_.ties.size() > 1) {
      std::vector<std::string> names;
      for (const std::size_t c : summary_.ties) {
        names.push_back('\'' + name_of(summary_.confirmed[c].candidate) + '\'');
      }
      to.push_back(finding{"search_ties"}
                       .with("count", names.size())
                       .with("simplest", names.front())
                       .with("names", names));
    }
  }

 private:
  std::string_view objective_name() const { return to_word(search_.objective); }

  std::size_t best() const {
    return summary_.chosen ? summary_.confirmed[*summary_.chosen].candidate : summary_.nearest;
  }

  std::string name_of(std::size_t candidate) const { return search_.candidates[candidate].name; }

  const confirmed_candidate* confirmed(std::size_t candidate) const {
    const auto found =
        std::ranges::find(summary_.confirmed, candidate, &confirmed_candidate::candidate);
    return found == summary_.confirmed.end() ? nullptr : &*found;
  }

  /// Returns true if the confirmation has figures of the objective.
  bool judged() const {
    return std::ranges::any_of(summary_.confirmed,
                               [](const auto& of) { return of.objective.has_value(); });
  }

  std::string answer_note() const {
    if (summary_.chosen) return "";
    return judged() ? "not recommended" : "not confirmed";
  }

  static std::string verdict_text(bound_verdict of) {
    if (of == bound_verdict::holds) return "holds";
    return of == bound_verdict::fails ? "fails" : "not certain";
  }

  std::string tau_note() const {
    if (!search_.tau) return "";
    const auto of = counted(static_cast<std::int64_t>(search_.ranked), "candidate");
    return fmt::format("of {}; {}", of,
                       *search_.tau < least_tau ? "too low to skip any" : "enough to skip others");
  }

  /// Returns what the nearest candidate lacks: "throughput >= 30 frame/s (28.1 frame/s)".
  std::string lacks() const {
    const auto* const of = confirmed(summary_.nearest);
    std::vector<std::string> parts;
    for (std::size_t i = 0; of != nullptr && i < search_.limits.size(); ++i) {
      if (of->limits[i] == bound_verdict::holds) continue;
      const auto& limit = search_.limits[i];
      const auto value = shown_value(cell(of->of[i], unit_of(limit.metric)));
      parts.push_back(fmt::format("{} ({}, {})", graphline::to_text(limit), value,
                                  verdict_text(of->limits[i])));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
  }

  const search_record& search_;
  bool interrupted_;
  search_summary summary_;
};

}  // namespace

void add_search(document& to, const experiment_view& of) {
  if (!of.record.search || of.record.search->candidates.empty()) return;
  const search_view view(of);
  to.lines.push_back(view.heading());
  to.parts.push_back(view.answer());
  if (const auto text = view.pasted(); !text.empty()) to.parts.push_back(note{text});
  to.parts.push_back(view.front());
  to.parts.push_back(view.effort());
  to.parts.push_back(view.candidates());
  view.add_findings(to.findings);
}

}  // namespace graphline::report
