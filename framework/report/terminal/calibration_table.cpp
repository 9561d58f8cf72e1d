#include "framework/report/terminal/calibration_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "framework/analysis/roofline/ceiling_label.hpp"
#include "framework/analysis/roofline/ceilings.hpp"
#include "framework/analysis/roofline/device_ceilings.hpp"
#include "framework/analysis/roofline/theoretical_peak.hpp"
#include "framework/base/quantity.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/terminal/ceiling_words.hpp"
#include "framework/report/terminal/heading.hpp"
#include "framework/report/terminal/text_table.hpp"

namespace graphline {

namespace {

using peaks = std::vector<theoretical_peak>;

using enum text_table::align;

/// Whether names and headings have the room to stand as they are.
bool is_roomy(const look& as) {
  return as.width >= 72;
}

/// The peak that a ceiling comes up against; null where it has none.
const theoretical_peak* peak_of(const ceiling_figure& figure, const peaks& known) {
  std::string name;
  if (figure.what <= ceiling::copy) {
    name = "memory";
  } else if (unit_of(figure.what) == ceiling_unit::rate) {
    const bool cores = figure.arithmetic == precision::float32;
    name = fmt::format("{} {}", to_word(figure.arithmetic), cores ? "cores" : "tensor cores");
  }
  const auto found = std::find_if(known.begin(), known.end(),
                                  [&](const theoretical_peak& peak) { return peak.name == name; });
  return found == known.end() ? nullptr : &*found;
}

std::string spread_cell(const ceiling_figure& figure, const look& as) {
  const double spread = spread_of(figure);
  auto text = three_digits(100 * spread, 1) + " %";
  return spread > wide_spread ? toned(text, tone::warning, as) : text;
}

/// "-" where the peak is not known, empty where there is no such thing.
std::vector<std::string> peak_cells(const ceiling_figure& figure, const peaks& known) {
  const auto* peak = peak_of(figure, known);
  if (peak == nullptr) return {"", ""};
  if (!peak->value) return {"-", "-"};
  return {in_units(*peak->value, unit_of(figure.what)),
          three_digits(100 * figure.value / *peak->value, 1) + " %"};
}

/// The ceilings of a unit, or of two; columns stand under those of the other blocks.
std::string block(std::string_view title, const std::vector<ceiling_figure>& figures,
                  std::initializer_list<ceiling_unit> units, const peaks& known, const look& as) {
  const bool roomy = is_roomy(as);
  const auto column = [&](std::string_view name) {
    return text_table::column{roomy ? fmt::format("{:>12}", name) : std::string(name), right};
  };
  const auto extra = [&](std::string_view name) {
    auto made = column(name);
    made.expendable = 1;
    made.extra = true;
    return made;
  };
  std::vector<text_table::column> columns = {
      {roomy ? fmt::format("{:<24}", title) : std::string(title), left, 19},
      column("measured"),
      {"spread", right},
      extra("at worst"),
      extra("at best")};
  const bool peaked = !known.empty() && *units.begin() != ceiling_unit::duration;
  if (peaked) {
    columns.push_back(column("peak"));
    columns.push_back({"of peak", right});
  }
  text_table table(std::move(columns));
  bool any = false;
  for (const auto& figure : figures) {
    const auto unit = unit_of(figure.what);
    if (std::find(units.begin(), units.end(), unit) == units.end()) continue;
    std::vector<std::string> cells = {label_of(figure.what, figure.arithmetic, !roomy),
                                      in_units(figure.value, unit), spread_cell(figure, as),
                                      in_units(figure.worst, unit), in_units(figure.best, unit)};
    if (peaked) {
      for (auto& cell : peak_cells(figure, known)) cells.push_back(std::move(cell));
    }
    table.add_row(std::move(cells));
    any = true;
  }
  return any ? table.text(as) + '\n' : std::string();
}

/// "name        text", the text wrapped under itself.
std::string fact(std::string_view name, std::string_view text, const look& as) {
  constexpr std::size_t indent = 9;
  return paragraph(fmt::format("{:<{}}{}", name, indent, text), indent, as);
}

/// When it was measured, and by what.
std::string origin(const calibration_record& record) {
  constexpr std::string_view elsewhere[] = {"date",      "graphline", "build",     "commit",
                                            "host name", "system",    "processor", "CPU governor",
                                            "CPU clock", "compiler",  "cores",     "oneTBB"};
  std::string date = "at a time that is not known";
  std::string with;
  for (const auto& [name, value] : record.environment) {
    if (name == "date") date = printable(value);
    if (name == "graphline") with.insert(0, fmt::format(" by graphline {}", printable(value)));
    if (std::find(std::begin(elsewhere), std::end(elsewhere), name) != std::end(elsewhere)) {
      continue;
    }
    with += fmt::format(", {} {}", printable(name), printable(value));
  }
  return fmt::format("measured {}{}", date, with);
}

std::string heading(const calibration_record& record, const calibration_notes& notes,
                    const look& as) {
  std::string text = paragraph(device_of(record.device), 2, as, tone::heading);
  text += paragraph(origin(record), 2, as);
  if (record.interrupted) {
    text += '\n';
    text +=
        paragraph("INTERRUPTED: not all was measured, and nothing is kept of it", 2, as, tone::bad);
  }
  if (!notes.stale.empty()) {
    std::string reasons;
    for (const auto& reason : notes.stale) {
      reasons += (reasons.empty() ? "" : "; ") + printable(reason);
    }
    text += '\n';
    text += paragraph("It may no longer hold: " + reasons, 2, as, tone::warning);
  }
  return text;
}

std::string knee_fact(const std::vector<ceiling_figure>& figures, const look& as) {
  std::string text;
  for (const auto& roof : device_ceilings(figures).compute) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", to_word(roof.arithmetic),
                        three_digits(roof.ridge_point, 2));
  }
  return text.empty() ? text : fact("knee", text + " FLOP/B", as);
}

std::string clock_fact(const calibration_record& record, const calibration_notes& notes,
                       const look& as) {
  if (notes.clock_mhz) {
    return fact("clock", fmt::format("peaks of cores at {:g} MHz, as given", *notes.clock_mhz), as);
  }
  for (const auto& [name, value] : record.device.details) {
    if (name != "core clock, at most") continue;
    return fact(
        "clock",
        fmt::format("peaks of cores at {}, the highest that the device states", printable(value)),
        as);
  }
  return {};
}

std::string facts(const calibration_record& record, const std::vector<ceiling_figure>& figures,
                  const peaks& known, const calibration_notes& notes, const look& as) {
  auto text = knee_fact(figures, as);
  if (!known.empty()) text += clock_fact(record, notes, as);
  if (!notes.kept_in.empty()) text += fact("kept in", printable(notes.kept_in), as);
  return text;
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

std::string explanations(const calibration_record& record, const peaks& known, const look& as) {
  const auto note = [&](std::string_view text) { return paragraph(text, 2, as, tone::faint); };
  auto text = note(
      fmt::format("measured: the median of {}; spread: of their times, from the 10th percentile "
                  "to the 90th",
                  samples_of(record)));
  text += note(
      "knee: work with fewer FLOPs for each byte is bound by the bandwidth of memory, with more by "
      "the rate");
  if (known.empty()) {
    text += note("no theoretical peaks: a processor does not tell what they are made of");
  }
  return text;
}

/// Ceilings by how they were measured, those alike as one: "convolution, float32, tf32".
std::vector<std::pair<std::string, std::string>> methods_of(const calibration_record& record) {
  struct method {
    const ceiling_record* last;
    std::string what;
    std::string how;
  };
  std::vector<method> found;
  for (const auto& measured : record.ceilings) {
    const auto same = std::find_if(found.begin(), found.end(),
                                   [&](const method& m) { return m.how == measured.how; });
    const auto label = label_of(measured.what, measured.arithmetic);
    if (same == found.end()) {
      found.push_back({&measured, label, measured.how});
    } else if (same->last->what == measured.what) {
      same->what += fmt::format(", {}", to_word(measured.arithmetic));
    } else {
      same->what += "; " + label;
      same->last = &measured;
    }
  }
  std::vector<std::pair<std::string, std::string>> result;
  for (auto& [last, what, how] : found) result.emplace_back(std::move(what), std::move(how));
  return result;
}

/// What ran for each ceiling, and what its peak is made of.
std::string methods(const calibration_record& record, const std::vector<ceiling_figure>& figures,
                    const peaks& known, const look& as) {
  const auto line = [&](std::string_view what, std::string_view how) {
    return paragraph(fmt::format("{}: {}", what, printable(how)), 2, as, tone::faint);
  };
  std::string text = toned("how it was measured", tone::heading, as) + '\n';
  for (const auto& [what, how] : methods_of(record)) text += line(what, how);
  std::vector<const theoretical_peak*> told;
  for (const auto& figure : figures) {
    const auto* peak = peak_of(figure, known);
    if (peak == nullptr || std::find(told.begin(), told.end(), peak) != told.end()) continue;
    told.push_back(peak);
    text += line(fmt::format("peak of {}{}", peak->name, peak->value ? "" : ", not known"),
                 peak->formula);
  }
  return text;
}

}  // namespace

std::string calibration_table(const calibration_record& record, const calibration_notes& notes,
                              const look& as) {
  const auto figures = figures_of(record);
  const auto known = theoretical_peaks(record.device, notes.clock_mhz);
  std::string text = heading(record, notes, as) + '\n';
  if (figures.empty()) return text + "Nothing was measured.\n";
  text += block("memory and transfers", figures, {ceiling_unit::bandwidth}, known, as);
  text += block("arithmetic", figures, {ceiling_unit::rate}, known, as);
  text += block("costs of the host", figures, {ceiling_unit::duration}, known, as);
  if (const auto lines = facts(record, figures, known, notes, as); !lines.empty()) {
    text += lines + '\n';
  }
  text += explanations(record, known, as) + '\n' + methods(record, figures, known, as);
  if (!record.warnings.empty()) text += '\n';
  for (const auto& warning : record.warnings) {
    text += paragraph("warning: " + printable(warning), 2, as, tone::warning);
  }
  return text;
}

}  // namespace graphline
