#include "framework/report/html/roofline_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "framework/analysis/roofline/ceiling_label.hpp"
#include "framework/analysis/run/summary.hpp"
#include "framework/base/units.hpp"
#include "framework/report/html/figure_data.hpp"
#include "framework/report/html/roofline_headline.hpp"
#include "framework/report/json/json_text.hpp"
#include "framework/report/terminal/ceiling_words.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

json count_or_null(const std::optional<std::int64_t>& count, std::string_view unit) {
  return count ? json(format_count(static_cast<double>(*count), unit)) : json();
}

/// FLOPs a second of work that has any; null where a figure is not known.
json rate_over(const cost_record& cost, const std::optional<double>& ns) {
  if (!cost.flops || *cost.flops <= 0 || !ns || *ns <= 0) return {};
  return static_cast<double>(*cost.flops) * 1e9 / *ns;
}

json piece(const roofline_figures& figures, const std::optional<double>& share) {
  return {{"flops", count_or_null(figures.cost.flops, "FLOP")},
          {"bytes", count_or_null(bytes_of(figures.cost), "B")},
          {"intensity", or_null(figures.intensity)},
          {"rate", rate_over(figures.cost, figures.measured)},
          {"roof", rate_over(figures.cost, figures.least)},
          {"arithmetic", to_word(figures.cost.arithmetic)},
          {"bound", figures.by ? json(to_word(*figures.by)) : json()},
          {"least", or_null(figures.least)},
          {"measured", or_null(figures.measured)},
          {"ratio", or_null(figures.ratio)},
          {"share", or_null(share)},
          {"beats", figures.beats_its_floor}};
}

/// `parts`: what the run under `layers` says of the stage's, if it has the same.
json part_data(const stage_record& stage, const roofline_stage& held,
               const std::vector<stage_summary::part>& parts) {
  json list = json::array();
  for (std::size_t p = 0; p < held.parts.size(); ++p) {
    std::optional<double> share;
    if (held.share_of_path && parts.size() == held.parts.size() && parts[p].share) {
      share = *held.share_of_path * *parts[p].share;
    }
    json entry = {{"name", stage.parts[p].name}, {"by", stage.parts[p].choice}};
    entry.update(piece(held.parts[p], share));
    list.push_back(std::move(entry));
  }
  return list;
}

/// Of a stage on the CPU: its time, and no floor.
roofline_figures unheld(const stage_record& stage) {
  roofline_figures figures;
  figures.cost = stage.cost;
  if (const auto median = median_cpu_time(stage)) figures.measured = static_cast<double>(*median);
  return figures;
}

json stages_data(const roofline_record& record, const roofline_summary& summary) {
  const auto of_layers = summarize(record.layers);
  json list = json::array();
  auto held = summary.stages.begin();
  for (std::size_t s = 0; s < record.stages.stages.size(); ++s) {
    const auto& stage = record.stages.stages[s];
    json entry = {{"name", stage.name},
                  {"kind", stage.kind},
                  {"what", stage.copy              ? "copy"
                           : stage.on == side::cpu ? "cpu"
                                                   : "device"}};
    if (held != summary.stages.end() && held->stage == s) {
      entry.update(piece(held->figures, held->share_of_path));
      entry["parts"] = part_data(stage, *held,
                                 s < of_layers.stages.size() ? of_layers.stages[s].parts
                                                             : std::vector<stage_summary::part>());
      ++held;
    } else {
      entry.update(piece(unheld(stage), std::nullopt));
      entry["parts"] = json::array();
    }
    list.push_back(std::move(entry));
  }
  return list;
}

json roofs_data(const roofline_summary& summary) {
  const auto used = arithmetic_in_use(summary);
  json list = json::array();
  for (const auto& roof : summary.roofs) {
    list.push_back({{"name", to_word(roof.arithmetic)},
                    {"value", roof.rate.value},
                    {"text", in_units(roof.rate.value, ceiling_unit::rate)},
                    {"knee", roof.knee},
                    {"used", used.contains(roof.arithmetic)}});
  }
  return list;
}

json calibration_data(const calibration& from) {
  json rows = json::array();
  for (const auto& figure : from.ceilings) {
    const auto unit = unit_of(figure.what);
    rows.push_back({label_of(figure.what, figure.arithmetic), in_units(figure.value, unit),
                    in_units(figure.worst, unit), in_units(figure.best, unit)});
  }
  return {{"date", from.date}, {"stale", from.stale}, {"rows", std::move(rows)}};
}

}  // namespace

json roofline_data(const roofline_record& record, const roofline_summary& summary) {
  auto data = json::object();
  data["figures"] = roofline_headline(record, summary);
  data["findings"] = roofline_findings(record.stages, summary);
  data["memory"] = {{"value", summary.bandwidth.value},
                    {"text", in_units(summary.bandwidth.value, ceiling_unit::bandwidth)}};
  data["roofs"] = roofs_data(summary);
  data["stages"] = stages_data(record, summary);
  data["by_gain"] = json::array();
  for (const auto index : summary.by_gain) {
    data["by_gain"].push_back(summary.stages[index].stage);
  }
  data["calibration"] = calibration_data(*record.stages.calibration);
  return data;
}

}  // namespace graphline
