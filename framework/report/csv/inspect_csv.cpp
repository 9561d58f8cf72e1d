#include "framework/report/csv/inspect_csv.hpp"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

#include "framework/report/csv/csv_rows.hpp"

namespace graphline {
namespace {

constexpr std::string_view header =
    "level,stage,layer,kind,on,output,parameters,macs,flops,bytes_read,bytes_written,intensity\n";

void add_row(std::string& text, std::string_view names, const cost_figures& of) {
  fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{}\n", names,
                 csv_number(of.parameters), csv_number(of.macs), csv_number(of.flops),
                 csv_number(of.bytes_read), csv_number(of.bytes_written), csv_number(of.intensity));
}

void add_stage(std::string& text, const stage_figures& stage) {
  const auto name = csv_field(stage.name);
  const auto on = to_word(stage.on);
  std::string outputs;
  for (const auto& [tensor, type] : stage.outputs) {
    outputs += (outputs.empty() ? "" : "; ") + to_string(type);
  }
  add_row(text,
          fmt::format("stage,{},,{},{},{}", name, csv_field(stage.kind), on, csv_field(outputs)),
          stage.figures);
  for (const layer_figures& layer : stage.layers) {
    add_row(text,
            fmt::format("layer,{},{},{},{},{}", name, csv_field(layer.name), csv_field(layer.kind),
                        on, csv_field(to_string(layer.output))),
            layer.figures);
  }
}

}  // namespace

std::string inspect_csv(const cost_summary& summary) {
  std::string text(header);
  for (const stage_figures& stage : summary.stages) add_stage(text, stage);
  add_row(text, "pipeline,,,,,", summary.total);
  return text;
}

}  // namespace graphline
