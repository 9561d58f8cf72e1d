#include <fmt/format.h>

#include "framework/analysis/diff/output_diff.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/heading.hpp"

namespace graphline::report {

namespace {

std::string words_of(const output_change& of) {
  switch (of.found) {
    case output_fate::same:
      return "the same";
    case output_fate::other_type:
      return "of another shape or type, so not compared";
    case output_fate::only_before:
      return "only before";
    case output_fate::only_after:
      return "only after";
    case output_fate::differs:
      break;
  }
  if (!of.largest) return "differs by checksum; the files hold no values to tell by how much";
  const auto values = counted(of.compared, "value");
  if (*of.largest == 0)
    return fmt::format("differs by checksum, but not in {} saved of it", values);
  auto text = fmt::format("differs by up to {:.2g}", *of.largest);
  if (of.relative) text += fmt::format(", {:.2g} of the largest value", *of.relative);
  return text + fmt::format(" (of {} compared)", values);
}

std::string not_finite(const output_change& of) {
  if (of.finite_before && of.finite_after) return "";
  return fmt::format("; holds NaN or infinity {}", of.finite_after    ? "before"
                                                   : of.finite_before ? "after"
                                                                      : "in both");
}

table output_table(const std::vector<output_change>& outputs) {
  using o = const output_change&;
  return table_of<output_change>(
      {"outputs", "Outputs", ""},
      {{{"tensor", "output"}, [](o x) { return x.tensor; }},
       {{"words", "", {}, 0, "", shown}, [](o x) { return words_of(x) + not_finite(x); }},
       {data_column("found"), [](o x) { return x.found; }},
       {data_column("values_compared"), [](o x) { return x.compared; }},
       {data_column("largest_difference"), [](o x) { return cell(x.largest); }},
       {data_column("of_largest_value"), [](o x) { return cell(x.relative); }},
       {data_column("finite_before"), [](o x) { return x.finite_before; }},
       {data_column("finite_after"), [](o x) { return x.finite_after; }}},
      outputs);
}

}  // namespace

document diff(const analyzed_run& before, const analyzed_run& after) {
  auto made = diff(describe(before.record, before.analysis), describe(after.record, after.analysis),
                   before.file, after.file);
  made.parts.push_back(output_table(compare(before.record.outputs, after.record.outputs)));
  return made;
}

}  // namespace graphline::report
