#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "framework/analysis/roofline/ceilings.hpp"
#include "framework/analysis/roofline/roofline.hpp"
#include "framework/analysis/stats/times_words.hpp"
#include "framework/base/units.hpp"
#include "framework/base/utf8.hpp"

namespace graphline {

namespace {

// A stage with less than this part of the path is nothing that anybody would look for.
constexpr double worth_a_word = 0.05;

// Nearer to its floor than this there is little to gain from other code for the same work.
constexpr double near_floor = 1.3;

// Times of two runs that differ by more than this are not of the same thing.
constexpr double apart = 1.3;

// What caches of processors and GPUs may hold from one frame to the next.
constexpr double fits_a_cache = 64e6;

/// "its memory bound is 273 us", as what keeps the work from being faster.
std::string bound_text(const roofline_figures& figures) {
  return fmt::format("its {} bound is {}", figures.by ? to_word(*figures.by) : "least",
                     format_duration(*figures.least));
}

/// Names, in quotes already: "'a', 'b' and 3 more".
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most_named = 4;
  std::string text;
  const auto shown = names.size() > most_named ? most_named - 1 : names.size();
  for (std::size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == names.size();
    text += (i == 0 ? "" : last ? " and " : ", ") + names[i];
  }
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

/// Whoever writes the sentences, stage by stage.
class writer {
 public:
  writer(const run_record& record, const roofline_summary& summary)
      : record_(record), summary_(summary) {
    for (const auto& figure : record.calibration->ceilings) {
      if (figure.what == ceiling::launch) launch_ = figure.value;
    }
  }

  std::vector<std::string> all() && {
    add_stale();
    add_noise();
    add_far();
    add_disagreement();
    add_near();
    add_launch_bound();
    add_beaten();
    add_without_rate();
    add_rest_of_path();
    return std::move(to_);
  }

 private:
  std::string name_of(const roofline_stage& stage) const {
    return quote(record_.stages[stage.stage].name);
  }

  bool matters(const roofline_stage& stage) const {
    return stage.share_of_path.value_or(0) >= worth_a_word;
  }

  void add_stale() {
    const auto& reasons = record_.calibration->stale;
    if (reasons.empty()) return;
    to_.push_back(
        fmt::format("the calibration may no longer hold: {}; 'graphline calibrate' measures anew",
                    fmt::join(reasons, "; ")));
  }

  /// What `graphline calibrate` said of its own samples.
  void add_noise() {
    const auto wide = wide_spreads(record_.calibration->ceilings);
    if (wide.empty()) return;
    to_.push_back(fmt::format(
        "the machine was busy when it was calibrated: times spread by more than {:.0f} %: {}; "
        "'graphline calibrate' measures anew",
        100 * wide_spread, fmt::join(wide, "; ")));
  }

  /// Most time to gain first.
  void add_far() {
    bool first = true;
    for (const auto index : summary_.by_gain) {
      const auto& stage = summary_.stages[index];
      const auto& figures = stage.figures;
      if (!matters(stage) || !figures.ratio || *figures.ratio <= near_floor) continue;
      auto text = fmt::format("{} {}{}: {} where {}, {} as long; that is {:.0f} % of the path",
                              first ? "look at" : "then at", name_of(stage), first ? " first" : "",
                              format_duration(*figures.measured), bound_text(figures),
                              times_words(*figures.ratio), 100 * *stage.share_of_path);
      if (const auto part = farthest_part(stage)) {
        const auto& of = stage.parts[*part];
        text +=
            fmt::format("; most of what its parts take above their floors is in {}: {} where {}",
                        quote(record_.stages[stage.stage].parts[*part].name),
                        format_duration(*of.measured), bound_text(of));
      }
      to_.push_back(std::move(text));
      first = false;
    }
  }

  /// Where the parts of a stage add up to another time than it took in the run without them.
  void add_disagreement() {
    for (const auto& stage : summary_.stages) {
      const auto& whole = stage.figures.measured;
      const auto together = time_of_parts(stage);
      if (!matters(stage) || !whole || !together || stage.parts.size() < 2) continue;
      const bool less = *together * apart < *whole;
      if (!less && *together < *whole * apart) continue;
      to_.push_back(fmt::format(
          "{} took {}, but its parts {} together when they were timed: {}; run it again when the "
          "machine is quiet",
          name_of(stage), format_duration(*whole), format_duration(*together),
          less ? "one of the two runs had other clocks, or other work beside it"
               : "timing them costs that much, or the runs had other clocks or other work beside "
                 "them"));
    }
  }

  static std::optional<double> time_of_parts(const roofline_stage& stage) {
    double sum = 0;
    for (const auto& part : stage.parts) {
      if (!part.measured) return std::nullopt;
      sum += *part.measured;
    }
    return sum;
  }

  /// The part that makes up most of what all parts take above their floors, where one does.
  static std::optional<std::size_t> farthest_part(const roofline_stage& stage) {
    if (stage.parts.size() < 2) return std::nullopt;
    double all = 0;
    double most = 0;
    std::optional<std::size_t> result;
    for (std::size_t p = 0; p < stage.parts.size(); ++p) {
      const auto& part = stage.parts[p];
      if (!part.measured || !part.least) continue;
      const double above = std::max(0.0, *part.measured - *part.least);
      all += above;
      if (above <= most) continue;
      most = above;
      result = p;
    }
    return most > all / 2 ? result : std::nullopt;
  }

  void add_near() {
    std::vector<std::string> names;
    double furthest = 1;
    bool all = true;
    for (const auto& stage : summary_.stages) {
      if (!matters(stage)) continue;
      // Of one that beats its floor nothing is known but that a figure does not hold.
      const auto& ratio = stage.figures.ratio;
      if (stage.figures.beats_its_floor || !ratio || *ratio > near_floor) {
        all = false;
        continue;
      }
      names.push_back(name_of(stage));
      furthest = std::max(furthest, *ratio);
    }
    if (names.empty()) return;
    const auto what = all && names.size() > 1 ? "every device stage that matters" : listed(names);
    const auto limit = std::max(furthest, 1.01);
    to_.push_back(fmt::format(
        "within {:.2f} times of {} floor: {}; to be faster takes less work or another precision, "
        "not better code",
        limit, names.size() > 1 ? "their" : "its", what));
  }

  void add_launch_bound() {
    if (!launch_) return;
    for (const auto& stage : summary_.stages) {
      const auto& figures = stage.figures;
      if (!matters(stage) || !figures.least || *figures.least >= *launch_) continue;
      if (!figures.ratio || *figures.ratio <= near_floor) continue;
      to_.push_back(
          fmt::format("{} is bound by launches: its least time of {} is below the {} that a launch "
                      "takes; larger batches or fewer operations help, faster ones do not",
                      name_of(stage), format_duration(*figures.least), format_duration(*launch_)));
    }
  }

  /// What beat its floor for one likely reason, in the order of the plan.
  struct beaten_floors {
    std::string first;  ///< with what it took, and why it may have
    std::vector<std::string> others;
  };

  /// Stages, and parts of those that did not themselves; one sentence for each reason.
  void add_beaten() {
    for (const auto& stage : summary_.stages) {
      if (stage.figures.beats_its_floor) {
        note_beaten(name_of(stage), stage.figures);
        continue;
      }
      for (std::size_t p = 0; p < stage.parts.size(); ++p) {
        if (!stage.parts[p].beats_its_floor) continue;
        const auto& part = record_.stages[stage.stage].parts[p].name;
        note_beaten(fmt::format("{} of {}", quote(part), name_of(stage)), stage.parts[p]);
      }
    }
    for (const auto* of : {&few_flops_, &cached_, &unexplained_}) {
      if (of->first.empty()) continue;
      to_.push_back(of->others.empty() ? of->first : of->first + "; so did " + listed(of->others));
    }
  }

  void note_beaten(const std::string& name, const roofline_figures& figures) {
    const auto& cost = figures.cost;
    const double bytes = static_cast<double>(cost.bytes_read.value_or(0)) +
                         static_cast<double>(cost.bytes_written.value_or(0));
    // A processor copies between its own caches; what crosses a bus does not stay in any.
    const bool may_be_cached = figures.by == bound::memory || record_.device.backend == "host";
    auto* to = &unexplained_;
    std::string why =
        "it moves fewer bytes than are counted, or the calibration was made beside other work or "
        "is out of date; 'graphline calibrate' measures anew";
    if (figures.by == bound::compute) {
      to = &few_flops_;
      why =
          "it computes with fewer FLOPs than are counted (as Winograd's convolutions do), or the "
          "calibration was made beside other work or is out of date; 'graphline calibrate' "
          "measures anew";
    } else if (may_be_cached && bytes < fits_a_cache) {
      to = &cached_;
      why = fmt::format(
          "its {} may stay in a cache, where the calibrated bandwidth of memory does not count",
          format_count(bytes, "B"));
    }
    if (!to->first.empty()) {
      to->others.push_back(name);
      return;
    }
    to->first =
        fmt::format("{} took {}, less than its floor of {}: {}", name,
                    format_duration(*figures.measured), format_duration(*figures.least), why);
  }

  /// FLOPs in a precision whose rate is not known leave the least time open.
  void add_without_rate() {
    for (const auto& [word, arithmetic] : precision_words) {
      std::vector<std::string> names;
      for (const auto& stage : summary_.stages) {
        const auto& figures = stage.figures;
        if (figures.least || figures.compute_time) continue;
        if (figures.cost.flops.value_or(0) == 0 || figures.cost.arithmetic != arithmetic) continue;
        names.push_back(name_of(stage));
      }
      if (names.empty()) continue;
      to_.push_back(fmt::format("no rate of {} was calibrated, so {} {} no floor", word,
                                listed(names), names.size() > 1 ? "have" : "has"));
    }
  }

  /// Where device stages are not what a frame waits for.
  void add_rest_of_path() {
    double on_device = 0;
    for (const auto& stage : summary_.stages) {
      if (!stage.share_of_path) return;
      on_device += *stage.share_of_path;
    }
    if (summary_.stages.empty() || on_device >= 0.5) return;
    to_.push_back(fmt::format(
        "device stages are {:.0f} % of the path; the rest is CPU work, launches and waiting, "
        "for which no roof stands",
        100 * on_device));
  }

  const run_record& record_;
  const roofline_summary& summary_;
  std::optional<double> launch_;  ///< ns of the host
  beaten_floors few_flops_;
  beaten_floors cached_;
  beaten_floors unexplained_;
  std::vector<std::string> to_;
};

}  // namespace

std::vector<std::string> roofline_findings(const run_record& record,
                                           const roofline_summary& summary) {
  if (!record.calibration) return {};
  return writer(record, summary).all();
}

}  // namespace graphline
