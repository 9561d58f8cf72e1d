#include <algorithm>
#include <numeric>

#include "framework/analysis/roofline/ceilings.hpp"
#include "framework/analysis/roofline/roofline.hpp"

namespace graphline {

namespace {

// Minimum fraction of the critical path for stages that are reported.
constexpr double least_path_share = 0.05;

// Below this ratio, faster code for the same work gains little.
constexpr double near_roofline = 1.3;

bool is_far(const roofline_stage& stage) {
  return stage.share_of_path.value_or(0) >= least_path_share &&
         stage.figures.ratio.value_or(0) > near_roofline;
}

void add_times(finding& to, const roofline_metrics& of, bool part = false) {
  to.with(part ? "part_measured" : "measured", of.measured, unit::duration);
  if (of.by) to.with(part ? "part_bound" : "bound", std::string(to_word(*of.by)));
  to.with(part ? "part_roofline_time" : "roofline_time", of.roofline_time, unit::duration);
}

/// Returns the part that accounts for more than half of the time above the roofline, summed over
/// all parts; null if there is none.
const roofline_stage::part* farthest_part(const roofline_stage& stage) {
  if (stage.parts.size() < 2) return nullptr;
  std::vector<double> above;
  for (const auto& [index, part] : stage.parts) {
    const bool known = part.measured && part.roofline_time;
    above.push_back(known ? std::max(0.0, *part.measured - *part.roofline_time) : 0.0);
  }
  const auto most = std::max_element(above.begin(), above.end());
  if (*most <= std::accumulate(above.begin(), above.end(), 0.0) / 2) return nullptr;
  return &stage.parts[static_cast<std::size_t>(most - above.begin())];
}

class collector {
 public:
  collector(const run_record& record, const roofline_summary& summary)
      : record_(record), summary_(summary) {}

  std::vector<finding> all() && {
    add_calibration();
    add_far();
    add_launch_bound();
    add_below_roofline();
    add_without_rate();
    return std::move(to_);
  }

 private:
  std::string name_of(const roofline_stage& stage) const {
    return graphline::name_of(record_, stage);
  }

  finding& add(std::string_view key, std::vector<std::string> subjects = {},
               finding_severity how = finding_severity::note) {
    return to_.emplace_back(finding{key, how, std::move(subjects)});
  }

  void add_calibration() {
    for (const auto& at : summary_.devices) {
      const auto& of = *calibration_of(record_, at.device);
      const auto warn = [&](std::string_view key) -> finding& {
        auto& found = add(key, {}, finding_severity::warning);
        if (record_.devices.size() > 1) found.with("device", record_.devices[at.device].name);
        return found;
      };
      if (!of.stale.empty()) warn("stale_calibration").with("why", of.stale);
      if (auto wide = wide_spreads(of.ceilings); !wide.empty()) {
        warn("noisy_calibration")
            .with("limit", quantity{wide_spread, unit::share})
            .with("ceilings", std::move(wide));
      }
    }
  }

  void add_far() {
    bool first = true;
    for (const auto index : summary_.by_gain) {
      const auto& stage = summary_.stages[index];
      if (!is_far(stage)) continue;
      auto& found = add(first ? "far_from_roofline" : "also_far_from_roofline", {name_of(stage)});
      add_times(found, stage.figures);
      found.with("ratio", stage.figures.ratio, unit::ratio);
      found.with("share_of_critical_path", stage.share_of_path, unit::share);
      if (const auto* part = farthest_part(stage)) {
        found.with("part", record_.stages[stage.stage].parts[part->index].name);
        add_times(found, part->figures, true);
      }
      first = false;
    }
  }

  void add_launch_bound() {
    for (const auto& stage : summary_.stages) {
      const auto& time = stage.figures.roofline_time;
      if (!is_far(stage) || !time) continue;
      const auto& at = calibration_of(record_, record_.stages[stage.stage].device_index)->ceilings;
      const auto launch = std::ranges::find(at, ceiling::launch, &ceiling_figure::what);
      if (launch == at.end() || *time >= launch->value) continue;
      add("launch_bound", {name_of(stage)})
          .with("roofline_time", time, unit::duration)
          .with("launch", quantity{launch->value, unit::duration});
    }
  }

  /// Adds one finding about all stages that are faster than their roofline, and about the faster
  /// parts of other stages. The finding has the metrics of the first.
  void add_below_roofline() {
    finding found{"below_roofline", finding_severity::warning};
    const auto note_below = [&](const std::string& name, const roofline_metrics& of) {
      if (!of.below_roofline) return;
      if (found.subjects.empty()) add_times(found, of);
      found.subjects.push_back(name);
    };
    for (const auto& stage : summary_.stages) {
      note_below(name_of(stage), stage.figures);
      if (stage.figures.below_roofline) continue;
      const auto& parts = record_.stages[stage.stage].parts;
      for (const auto& [index, figures] : stage.parts) {
        note_below(name_of(stage) + '/' + parts[index].name, figures);
      }
    }
    if (!found.subjects.empty()) to_.push_back(std::move(found));
  }

  /// Reports stages without a roofline time because their precision has no calibrated rate.
  void add_without_rate() {
    for (const auto& [word, arithmetic] : precision_words) {
      std::vector<std::string> names;
      for (const auto& stage : summary_.stages) {
        const auto& of = stage.figures;
        const auto device = record_.stages[stage.stage].device_index;
        if (of.roofline_time || of.compute_time || !calibration_of(record_, device)) continue;
        if (of.cost.flops.value_or(0) == 0 || of.cost.arithmetic != arithmetic) continue;
        names.push_back(name_of(stage));
      }
      if (names.empty()) continue;
      add("rate_not_calibrated", std::move(names)).with("precision", std::string(word));
    }
  }

  const run_record& record_;
  const roofline_summary& summary_;
  std::vector<finding> to_;
};

}  // namespace

std::vector<finding> roofline_findings(const run_record& record, const roofline_summary& summary) {
  return collector(record, summary).all();
}

}  // namespace graphline
