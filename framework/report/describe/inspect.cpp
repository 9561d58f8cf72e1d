#include <fmt/format.h>

#include <algorithm>

#include "framework/report/describe/describe.hpp"
#include "framework/report/render/heading.hpp"

namespace graphline::report {

namespace {

/// A stage, a bucket or a layer of a stage, or the total of all stages.
struct cost_row {
  std::string name;
  const cost_figures& of;
  const stage_figures* stage = nullptr;
  const layer_figures* layer = nullptr;
  const bucket_figures* bucket = nullptr;
};

/// Returns the shape of the first output. The element type follows unless it is float32.
cell shape_of(const cost_row& x) {
  if (x.stage == nullptr || x.bucket != nullptr) return {};
  const auto& outputs = x.stage->outputs;
  if (x.layer == nullptr && outputs.empty()) return "";
  const auto& type = x.layer != nullptr ? x.layer->output : outputs.front().type;
  auto text = type.element == dtype::float32 ? to_string(type.shape) : to_string(type);
  const bool more = x.layer == nullptr && outputs.size() > 1;
  return more ? text + fmt::format(" and {} more", outputs.size() - 1) : text;
}

/// Returns the outputs of a stage as tensor names and types, or the output type of a layer.
cell output_of(const cost_row& x) {
  if (x.stage == nullptr || x.bucket != nullptr) return {};
  if (x.layer != nullptr) return to_string(x.layer->output);
  std::vector<named_value> outputs;
  for (const auto& [tensor, type] : x.stage->outputs) outputs.push_back({tensor, to_string(type)});
  return outputs;
}

const std::vector<column_of<cost_row>>& cost_columns() {
  using enum unit;
  using p = const cost_row&;
  static const std::vector<column_of<cost_row>> columns = {
      {{"name", "stage"}, [](p x) { return x.name; }},
      {{"kind", "kind", {}, 11},
       [](p x) {
         if (x.bucket != nullptr) return cell("bucket");
         if (x.layer != nullptr) return cell(x.layer->kind);
         return x.stage != nullptr ? cell(x.stage->kind) : cell();
       }},
      {data_column("on"), [](p x) { return x.stage ? cell(x.stage->on) : cell(); }},
      {data_column("inserted"), [](p x) { return x.stage ? cell(x.stage->inserted) : cell(); }},
      {{"shape", "output", {}, 1, "", shown}, shape_of},
      {data_column("output"), output_of},
      {{"parameters", "params", count, 0, "", everywhere, true},
       [](p x) { return cell(x.of.parameters, count); }},
      {{"macs", "MACs", count, 2}, [](p x) { return cell(x.of.macs, count); }},
      {{"flops", "FLOPs", flops, 0, "2 for each MAC, 1 for any other arithmetic operation",
        everywhere, true},
       [](p x) { return cell(x.of.flops, flops); }},
      {{"bytes_read", "read", bytes, 0,
        "each input and weight once, as each output is written; 1 kB is 1000 bytes"},
       [](p x) { return cell(x.of.bytes_read, bytes); }},
      {{"bytes_written", "written", bytes}, [](p x) { return cell(x.of.bytes_written, bytes); }},
      {{"bytes_rearranged", "rearranged", bytes, 2,
        "what Graphline reads and writes beyond them, to copy into another order"},
       [](p x) { return cell(x.of.bytes_rearranged, bytes); }},
      {{"intensity", "FLOP/B", flops_per_byte, 0,
        "FLOPs over bytes read and written, if there are any; docs/costs.md has all formulas",
        shown},
       [](p x) {
         const bool moves_nothing = x.of.bytes_read == 0 && x.of.bytes_written == 0;
         return moves_nothing ? cell("") : cell(x.of.intensity, flops_per_byte);
       }},
      {data_column("intensity", flops_per_byte),
       [](p x) { return cell(x.of.intensity, flops_per_byte); }}};
  return columns;
}

table stage_table(const cost_summary& summary) {
  const auto& columns = cost_columns();
  table made{"stages", "Stages and layers", "stage", "layer", columns_of(columns), {}};
  for (const auto& stage : summary.stages) {
    made.rows.push_back(row_of(cost_row{stage.name, stage.figures, &stage}, columns));
    for (const auto& bucket : stage.buckets) {
      made.rows.push_back(
          row_of(cost_row{counted(bucket.rows, "row"), bucket.figures, &stage, nullptr, &bucket},
                 columns, 1));
    }
    for (const auto& layer : stage.layers) {
      made.rows.push_back(row_of(cost_row{layer.name, layer.figures, &stage, &layer}, columns, 1));
    }
  }
  made.total = row_of(cost_row{"all stages", summary.total}, columns);
  const bool rearranges = summary.total.bytes_rearranged.value_or(0) > 0;
  if (!rearranges)
    std::ranges::find(made.columns, "bytes_rearranged", &column::key)->where = in_data;
  return made;
}

}  // namespace

document describe(const cost_summary& summary) {
  document made{"inspect", summary.pipeline, summary.description, {}, {}, {}, "stages"};
  made.lines = {summary.pipeline + ": one frame, layers as written, whatever a device fuses",
                parameters_of(summary.parameters)};
  std::erase(made.lines, "");
  made.exact = true;
  const auto left_out = [&](std::string_view key, const std::vector<std::size_t>& stages) {
    if (stages.empty()) return;
    finding found{key};
    for (const auto s : stages) found.subjects.push_back(summary.stages[s].name);
    made.findings.push_back(std::move(found));
  };
  left_out("flops_not_known", summary.without_flops);
  left_out("bytes_not_known", summary.without_bytes);
  made.parts.push_back(facts{"", "", {parameters_fact(summary.parameters)}, in_data, true});
  made.parts.push_back(stage_table(summary));
  return made;
}

}  // namespace graphline::report
