#include "framework/report/describe/ceilings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "framework/analysis/roofline/ceilings.hpp"

namespace graphline::report {

namespace {

unit unit_in(ceiling what) {
  switch (unit_of(what)) {
    case ceiling_unit::bandwidth:
      return unit::bytes_per_second;
    case ceiling_unit::rate:
      return unit::flops_per_second;
    case ceiling_unit::duration:
      break;
  }
  return unit::duration;
}

/// Of a ceiling that counts in its precision.
cell ridge_point_of(const ceiling_figure& figure, const device_ceilings& all) {
  for (const auto& of : all.compute) {
    if (of.rate == figure) return quantity{of.ridge_point, unit::flops_per_byte};
  }
  return {};
}

/// The peak that a ceiling comes up against; null where it has none, or none is known.
const theoretical_peak* peak_of(const ceiling_figure& figure,
                                const std::vector<theoretical_peak>& peaks) {
  std::string name;
  if (figure.what <= ceiling::copy) {
    name = "memory";
  } else if (unit_of(figure.what) == ceiling_unit::rate) {
    const bool cores = figure.arithmetic == precision::float32;
    name = fmt::format("{} {}", to_word(figure.arithmetic), cores ? "cores" : "tensor cores");
  }
  const auto found = std::find_if(peaks.begin(), peaks.end(), [&](const theoretical_peak& peak) {
    return peak.name == name && peak.value;
  });
  return found == peaks.end() ? nullptr : &*found;
}

std::vector<column> ceiling_columns() {
  return {{"name", "ceiling"},
          {"what", "", {}, 0, "", in_data},
          {"precision", "", {}, 0, "", in_data},
          {"how", "measured by", {}, 0, "", in_page | in_data, true},
          {"unit", "", {}, 0, "", in_data},
          {"value", "median", unit::none, 0, "", everywhere, true, {"worst", "best"}},
          {"spread", "spread", unit::share, 0, "of the times, p10 to p90, in %", shown},
          {"peak", "peak", unit::none, 3, "theoretical, by the architecture", shown},
          {"share_of_peak", "of peak", unit::share, 0, "in %", shown},
          {"ridge_point", "ridge", unit::flops_per_byte, 2,
           "ridge point in FLOP/B: work with less is memory-bound, with more compute-bound"},
          {"worst", "at p90", unit::none, 11, "at the 90th percentile of the times, the slowest"},
          {"best", "at p10", unit::none, 10},
          {"amount", "", unit::none, 0, "", in_data},
          {"times_ns", "", {}, 0, "", in_data}};
}

}  // namespace

table ceiling_table(const std::vector<ceiling_figure>& figures,
                    const std::vector<ceiling_record>* measured,
                    const std::vector<theoretical_peak>& peaks) {
  table made{"ceilings", "Ceilings of the device", "ceiling", "", ceiling_columns(), {}};
  const device_ceilings all(figures);
  for (const auto& figure : figures) {
    const auto in = unit_in(figure.what);
    const auto* peak = peak_of(figure, peaks);
    const ceiling_record* from = nullptr;
    if (measured != nullptr) {
      from = &*std::find_if(measured->begin(), measured->end(), [&](const auto& one) {
        return one.what == figure.what && one.arithmetic == figure.arithmetic;
      });
    }
    made.rows.push_back(
        {{label_of(figure.what, figure.arithmetic), to_word(figure.what),
          in == unit::flops_per_second ? cell(to_word(figure.arithmetic)) : cell(),
          from ? cell(from->how) : cell(), symbol_of(in), quantity{figure.value, in},
          quantity{spread_of(figure), unit::share},
          peak ? cell(quantity{*peak->value, in}) : cell(),
          peak ? cell(quantity{figure.value / *peak->value, unit::share}) : cell(),
          ridge_point_of(figure, all), quantity{figure.worst, in}, quantity{figure.best, in},
          from ? cell(quantity{from->amount, unit::none}) : cell(),
          from ? cell(from->times) : cell()}});
  }
  return made;
}

}  // namespace graphline::report
