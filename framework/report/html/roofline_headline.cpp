#include "framework/report/html/roofline_headline.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "framework/analysis/roofline/ceiling_label.hpp"
#include "framework/analysis/run/summary.hpp"
#include "framework/base/units.hpp"
#include "framework/report/html/figure_data.hpp"
#include "framework/report/terminal/ceiling_words.hpp"
#include "framework/report/terminal/heading.hpp"
#include "framework/report/terminal/quantity.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

/// Of all device stages; nothing where one was not measured.
std::optional<double> measured_of(const roofline_summary& summary) {
  double sum = 0;
  for (const auto& stage : summary.stages) {
    if (!stage.figures.measured) return std::nullopt;
    sum += *stage.figures.measured;
  }
  return sum;
}

void add_times(json& figures, const run_record& record, const roofline_summary& summary) {
  const auto whole = summarize(record).end_to_end;
  if (const auto p50 = whole ? whole->percentile(0.5) : std::nullopt) {
    figures.push_back(quantity_data("end to end", format_duration(static_cast<double>(*p50)),
                                    "the median frame, with CPU work and waits"));
  }
  const auto stages = counted(static_cast<std::int64_t>(summary.stages.size()), "device stage");
  const auto measured = measured_of(summary);
  if (measured && *measured > 0) {
    figures.push_back(
        quantity_data("measured", format_duration(*measured), "the medians of " + stages));
  }
  if (!summary.least) return;
  figures.push_back(quantity_data("least", format_duration(*summary.least),
                                  "what their bytes and FLOPs take at the roofs"));
  if (!measured || *measured <= 0 || *summary.least <= 0) return;
  figures.push_back(figure_data("ratio", three_digits(*measured / *summary.least, 2), "x",
                                "measured over least, of all device stages"));
}

void add_calibration(json& figures, const calibration& of) {
  const bool stale = !of.stale.empty();
  figures.push_back(figure_data("calibrated", of.date.substr(0, 10), "",
                                stale ? "may no longer hold, see below" : "the ceilings measured",
                                stale ? "warning" : ""));
}

}  // namespace

std::set<precision> arithmetic_in_use(const roofline_summary& summary) {
  std::set<precision> found;
  const auto add = [&](const roofline_figures& figures) {
    if (figures.cost.flops.value_or(0) > 0) found.insert(figures.cost.arithmetic);
  };
  for (const auto& stage : summary.stages) {
    if (stage.parts.empty()) add(stage.figures);
    for (const auto& part : stage.parts) add(part);
  }
  return found;
}

json roofline_headline(const roofline_record& record, const roofline_summary& summary) {
  json figures = json::array();
  add_times(figures, record.stages, summary);
  figures.push_back(
      quantity_data("memory roof", in_units(summary.bandwidth.value, ceiling_unit::bandwidth),
                    "measured as: " + label_of(summary.bandwidth.what, precision::float32)));
  const auto used = arithmetic_in_use(summary);
  for (const auto& roof : summary.roofs) {
    if (!used.contains(roof.arithmetic)) continue;
    figures.push_back(quantity_data(
        fmt::format("{} roof", to_word(roof.arithmetic)),
        in_units(roof.rate.value, ceiling_unit::rate),
        fmt::format("measured as: {}; knee at {} FLOP/B", label_of(roof.rate.what, roof.arithmetic),
                    three_digits(roof.knee, 2))));
  }
  add_calibration(figures, *record.stages.calibration);
  return figures;
}

}  // namespace graphline
