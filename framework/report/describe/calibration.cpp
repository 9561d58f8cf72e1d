#include <fmt/format.h>

#include <algorithm>

#include "framework/analysis/roofline/ceilings.hpp"
#include "framework/analysis/roofline/theoretical_peak.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/heading.hpp"

namespace graphline::report {

namespace {

/// Returns "measured 2026-11-20T12:00:00Z by graphline 0.5.0" or "public figures: white paper".
std::string origin_of(const calibration_record& record) {
  if (const auto figures = origin_of_figures(record); !figures.empty()) {
    return "public figures: " + figures;
  }
  std::string date = "at an unknown time";
  std::string by;
  for (const auto& [name, value] : record.environment) {
    if (name == "date") date = value;
    if (name == "graphline") by = " by graphline " + value;
  }
  return "measured " + date + by;
}

/// Returns the ridge point of a ceiling; empty unless the ceiling is the highest of its precision.
cell ridge_point_of(const ceiling_figure& figure, const device_ceilings& all) {
  for (const auto& of : all.compute) {
    const bool counts = of.rate.what == figure.what && of.rate.arithmetic == figure.arithmetic;
    if (counts) return {of.ridge_point, unit::flops_per_byte};
  }
  return {};
}

/// Returns the theoretical peak of a ceiling; null if unknown.
const theoretical_peak* peak_of(const ceiling_figure& figure,
                                const std::vector<theoretical_peak>& peaks) {
  std::string name;
  if (figure.what <= ceiling::copy) {
    name = "memory";
  } else if (unit_of(figure.what) == unit::flops_per_second) {
    const bool cores = figure.arithmetic == precision::float32;
    name = fmt::format("{} {}", to_word(figure.arithmetic), cores ? "cores" : "tensor cores");
  }
  const auto found = std::find_if(peaks.begin(), peaks.end(), [&](const theoretical_peak& peak) {
    return peak.name == name && peak.value;
  });
  return found == peaks.end() ? nullptr : &*found;
}

/// A measured ceiling. `from` points to its samples; null without samples.
struct ceiling_row {
  const ceiling_figure& of;
  unit in;
  const ceiling_record* from = nullptr;
  const theoretical_peak* peak = nullptr;
  cell ridge_point;
};

const std::vector<column_of<ceiling_row>>& ceiling_columns() {
  using enum unit;
  using r = const ceiling_row&;
  static const std::vector<column_of<ceiling_row>> columns = {
      {{"name", "ceiling"}, [](r x) { return label_of(x.of.what, x.of.arithmetic); }},
      {data_column("what"), [](r x) { return x.of.what; }},
      {data_column("precision"), [](r x) { return x.of.arithmetic; }},
      {{"how", "measured by", {}, 0, "", not_in_text},
       [](r x) { return x.from ? cell(x.from->how) : cell(); }},
      {data_column("unit"), [](r x) { return symbol_of(x.in); }},
      {{"value", "median", none, 0, "", everywhere, true},
       [](r x) { return cell(x.of.value, x.in); }},
      {{"spread", "spread", share, 0, "of the times, p10 to p90, in %", shown},
       [](r x) { return cell(spread_of(x.of), share); }},
      {{"peak", "peak", none, 3, "theoretical, by the architecture", shown},
       [](r x) { return x.peak ? cell(x.peak->value, x.in) : cell(); }},
      {{"share_of_peak", "of peak", share, 0, "in %", shown},
       [](r x) { return x.peak ? cell(x.of.value / *x.peak->value, share) : cell(); }},
      {{"ridge_point", "ridge", flops_per_byte, 2,
        "ridge point in FLOP/B: work with less is memory-bound, with more compute-bound"},
       [](r x) { return x.ridge_point; }},
      {{"worst", "at p90", none, 11, "at the 90th percentile of the times, the slowest"},
       [](r x) { return cell(x.of.worst, x.in); }},
      {{"best", "at p10", none, 10}, [](r x) { return cell(x.of.best, x.in); }},
      {data_column("amount", none), [](r x) { return x.from ? cell(x.from->amount) : cell(); }},
      {data_column("times_ns"), [](r x) { return x.from ? cell(x.from->times) : cell(); }}};
  return columns;
}

table peak_table(const std::vector<theoretical_peak>& peaks) {
  using p = const theoretical_peak&;
  const auto in = [](p x) {
    return x.name == "memory" ? unit::bytes_per_second : unit::flops_per_second;
  };
  auto made = table_of<theoretical_peak>(
      {"theoretical_peaks", "Theoretical peaks", "peak"},
      {{{"name", "theoretical peak"}, [](p x) { return x.name; }},
       {data_column("unit"), [in](p x) { return symbol_of(in(x)); }},
       {{"value", "value", unit::none}, [in](p x) { return cell(x.value, in(x)); }},
       {{"formula", "is"}, [](p x) { return x.formula; }}},
      peaks);
  if (peaks.empty()) made.where = in_data;
  return made;
}

}  // namespace

table ceiling_table(const std::vector<ceiling_figure>& figures,
                    const std::vector<ceiling_record>* measured,
                    const std::vector<theoretical_peak>& peaks) {
  const device_ceilings all(figures);
  std::vector<ceiling_row> rows;
  for (const auto& figure : figures) {
    const ceiling_record* from = nullptr;
    if (measured != nullptr) {
      from = &*std::ranges::find_if(*measured, [&](const auto& one) {
        return one.what == figure.what && one.arithmetic == figure.arithmetic;
      });
    }
    rows.push_back(
        {figure, unit_of(figure.what), from, peak_of(figure, peaks), ridge_point_of(figure, all)});
  }
  return table_of({"ceilings", "Ceilings of the device", "ceiling"}, ceiling_columns(), rows);
}

document describe(const calibration_record& record, const calibration_notes& notes) {
  document made{"calibration", record.device.name, "", {}, {}, {}, "ceilings", ""};
  made.lines = {graphline::device_of(record.device), origin_of(record)};
  if (record.interrupted) {
    made.findings.push_back({"calibration_interrupted", finding_severity::failure});
  }
  add_machine(made, record.device, record.environment);
  const auto figures = figures_of(record);
  const auto peaks = theoretical_peaks(record.device, notes.clock_mhz);
  made.parts.push_back(ceiling_table(figures, &record.ceilings, peaks));
  if (figures.empty()) made.parts.push_back(note{"Nothing was measured."});
  made.parts.push_back(peak_table(peaks));
  if (!notes.kept_in.empty()) {
    made.parts.push_back(facts{"", "Notes", {{"kept_in", "kept in", notes.kept_in}}, shown});
  }
  made.parts.push_back(facts{"", "", {{"interrupted", "", record.interrupted}}, in_data});
  add_warnings(made.findings, record.warnings);
  return made;
}

}  // namespace graphline::report
