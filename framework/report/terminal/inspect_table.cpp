#include "framework/report/terminal/inspect_table.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "framework/base/quantity.hpp"
#include "framework/base/units.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/terminal/text_table.hpp"

namespace graphline {
namespace {

using enum text_table::align;

/// "14.8 G", "1.23 MB"; "-" for what is not known.
std::string cell(const std::optional<std::int64_t>& figure, std::string_view unit = "") {
  if (!figure) return "-";
  auto text = format_count(static_cast<double>(*figure), unit);
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

/// The shape; with the element type where that is not the usual float32.
std::string output_cell(const tensor_type& type) {
  return type.element == dtype::float32 ? to_string(type.shape) : to_string(type);
}

std::string output_cell(const std::vector<std::pair<std::string, tensor_type>>& outputs) {
  if (outputs.empty()) return "";
  auto text = output_cell(outputs.front().second);
  if (outputs.size() > 1) text += fmt::format(" and {} more", outputs.size() - 1);
  return text;
}

void add_row(text_table& table, std::string name, std::string kind, std::string output,
             const cost_figures& of) {
  table.add_row({std::move(name), std::move(kind), std::move(output), cell(of.parameters),
                 cell(of.macs), cell(of.flops), cell(of.bytes_read, "B"),
                 cell(of.bytes_written, "B"),
                 of.intensity ? three_digits(*of.intensity, 2) : std::string("-")});
}

std::string figures(const cost_summary& summary, const look& as) {
  text_table table({{"stage", left, 12},
                    {"kind", left, 0, 1, true},
                    {"output", left, 0, 1},
                    {"params", right},
                    {"MACs", right, 0, 2},
                    {"FLOPs", right},
                    {"read", right},
                    {"written", right},
                    {"FLOP/B", right}});
  for (const stage_figures& stage : summary.stages) {
    add_row(table, table_name(stage.name, as.room(28)),
            stage.inserted ? "inserted copy" : table_name(stage.kind), output_cell(stage.outputs),
            stage.figures);
    for (const layer_figures& layer : stage.layers) {
      add_row(table, "  " + table_name(layer.name, as.room(26)), table_name(layer.kind),
              output_cell(layer.output), layer.figures);
    }
  }
  add_row(table, "all stages", "", "", summary.total);
  return table.text(as);
}

/// "noise (cpu.random_normal), boxes (cpu.nms)".
std::string names_of(const cost_summary& summary, const std::vector<std::size_t>& stages) {
  std::string text;
  for (const std::size_t s : stages) {
    const stage_figures& stage = summary.stages[s];
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", printable(stage.name),
                        printable(stage.kind));
  }
  return text;
}

std::string notes(const cost_summary& summary, const look& as) {
  std::string text = paragraph(
      "For one frame, layers as written, whatever a device fuses. FLOPs: 2 for each MAC, and all "
      "other arithmetic. Bytes: each input, weight and output once. FLOP/B: FLOPs for each byte "
      "read or written. k, M, G, T are decimal: 1 kB is 1000 bytes. \"-\": not known, or nothing "
      "to divide by. docs/costs.md has the formulas.",
      0, as, tone::faint);
  const auto tell = [&](std::string_view what, const std::vector<std::size_t>& stages) {
    if (stages.empty()) return;
    text += paragraph(fmt::format("- The sum leaves out the {} of {}: not known.", what,
                                  names_of(summary, stages)),
                      2, as);
  };
  if (!summary.without_flops.empty() || !summary.without_bytes.empty()) text += '\n';
  tell("MACs and FLOPs", summary.without_flops);
  tell("parameters and bytes", summary.without_bytes);
  return text;
}

}  // namespace

std::string inspect_table(const cost_summary& summary, const look& as) {
  std::string heading = printable(summary.pipeline);
  if (!summary.description.empty()) heading += ": " + printable(summary.description);
  std::string text = paragraph(heading, 2, as, tone::heading);
  std::string parameters;
  for (const auto& [name, value] : summary.parameters) {
    parameters +=
        fmt::format("{}{}={}", parameters.empty() ? "" : ", ", printable(name), printable(value));
  }
  if (!parameters.empty()) text += paragraph(parameters, 2, as);
  return text + '\n' + figures(summary, as) + '\n' + notes(summary, as);
}

}  // namespace graphline
