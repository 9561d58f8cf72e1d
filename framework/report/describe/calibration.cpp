#include <fmt/format.h>

#include <algorithm>

#include "framework/analysis/roofline/ceilings.hpp"
#include "framework/analysis/roofline/theoretical_peak.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/describe/ceilings.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/terminal/heading.hpp"

namespace graphline::report {

namespace {

/// "measured 2026-11-20T12:00:00Z by graphline 0.5.0, oneDNN 2.6.2": when, and by which libraries.
std::string origin_of(const calibration_record& record) {
  constexpr std::string_view elsewhere[] = {"date",      "graphline", "build",     "commit",
                                            "host name", "system",    "processor", "CPU governor",
                                            "CPU clock", "compiler",  "cores",     "oneTBB"};
  std::string date = "at an unknown time";
  std::string with;
  for (const auto& [name, value] : record.environment) {
    if (name == "date") date = value;
    if (name == "graphline") with.insert(0, " by graphline " + value);
    const auto* end = std::end(elsewhere);
    if (std::find(std::begin(elsewhere), end, name) == end) with += ", " + name + ' ' + value;
  }
  return "measured " + date + with;
}

/// "5 samples", "5 to 40 samples".
std::string samples_of(const calibration_record& record) {
  std::size_t fewest = 0;
  std::size_t most = 0;
  for (const auto& measured : record.ceilings) {
    const auto count = measured.times.size();
    if (count == 0) continue;
    fewest = fewest == 0 ? count : std::min(fewest, count);
    most = std::max(most, count);
  }
  const auto all = counted(static_cast<std::int64_t>(most), "sample");
  return fewest == most ? all : fmt::format("{} to {}", fewest, all);
}

/// What ran for each ceiling, those alike as one: "convolution, float32, tf32: 512 to ...".
std::string methods_of(const calibration_record& record) {
  struct method {
    const ceiling_record* last;
    std::string what;
  };
  std::vector<method> found;
  for (const auto& measured : record.ceilings) {
    const auto same = std::find_if(found.begin(), found.end(),
                                   [&](const method& m) { return m.last->how == measured.how; });
    const auto label = label_of(measured.what, measured.arithmetic);
    if (same == found.end()) {
      found.push_back({&measured, label});
      continue;
    }
    const bool same_ceiling = same->last->what == measured.what;
    same->what += same_ceiling ? fmt::format(", {}", to_word(measured.arithmetic)) : "; " + label;
    same->last = &measured;
  }
  std::string text;
  for (const auto& [last, what] : found)
    text += fmt::format("{}: {}\n", what, printable(last->how));
  return text;
}

table peak_table(const std::vector<theoretical_peak>& peaks) {
  table made{"theoretical_peaks",
             "Theoretical peaks",
             "peak",
             "",
             {{"name", "theoretical peak"},
              {"unit", "", {}, 0, "", in_data},
              {"value", "value", unit::none},
              {"formula", "is"}},
             {}};
  for (const auto& peak : peaks) {
    const auto in = peak.name == "memory" ? unit::bytes_per_second : unit::flops_per_second;
    made.rows.push_back({{peak.name, symbol_of(in), cell(peak.value, in), peak.formula}});
  }
  return made;
}

fact clock_of(const calibration_record& record, const calibration_notes& notes) {
  fact clock{"clock", "clock of the peaks", {}, ""};
  for (const auto& [name, value] : record.device.details) {
    if (name == "core clock, at most") {
      clock.value = value;
      clock.note = "the highest that the device states";
    }
  }
  if (notes.clock_mhz) {
    clock.value = fmt::format("{:g} MHz", *notes.clock_mhz);
    clock.note = "as given";
  }
  return clock;
}

}  // namespace

document describe(const calibration_record& record, const calibration_notes& notes) {
  document made{"calibration", record.device.name, "", {}, {}, {}, "ceilings", ""};
  made.lines = {graphline::device_of(record.device), origin_of(record)};
  if (record.interrupted) {
    made.findings.push_back(finding{"calibration_interrupted", finding_severity::failure});
  }
  if (!notes.stale.empty()) {
    made.findings.push_back(
        finding{"stale_calibration", finding_severity::warning}.with("why", notes.stale));
  }
  add_device(made, record.device);
  add_environment(made, record.environment);
  const auto figures = figures_of(record);
  const auto peaks = theoretical_peaks(record.device, notes.clock_mhz);
  made.parts.push_back(ceiling_table(figures, &record.ceilings, peaks));
  if (figures.empty()) made.parts.push_back(note{"Nothing was measured."});
  auto at_clock = peak_table(peaks);
  if (peaks.empty()) at_clock.where = in_data;
  made.parts.push_back(std::move(at_clock));
  facts more{"", "Notes", {}, shown};
  if (!peaks.empty()) more.list.push_back(clock_of(record, notes));
  more.list.push_back({"samples", "samples", samples_of(record), "of each ceiling"});
  if (!notes.kept_in.empty()) more.list.push_back({"kept_in", "kept in", notes.kept_in, ""});
  made.parts.push_back(std::move(more));
  made.parts.push_back(note{methods_of(record), in_text});
  made.parts.push_back(facts{"", "", {{"interrupted", "", record.interrupted, ""}}, in_data});
  add_warnings(made.findings, record.warnings);
  return made;
}

}  // namespace graphline::report
