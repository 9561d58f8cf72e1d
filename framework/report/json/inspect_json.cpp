#include "framework/report/json/inspect_json.hpp"

#include <utility>
#include <vector>

#include "framework/report/json/json_text.hpp"

namespace graphline {
namespace {

using json = nlohmann::ordered_json;

json type_json(const tensor_type& type) {
  return {{"shape", type.shape.extents()}, {"dtype", to_string(type.element)}};
}

void add_figures(json& to, const cost_figures& of) {
  to["parameters"] = or_null(of.parameters);
  to["macs"] = or_null(of.macs);
  to["flops"] = or_null(of.flops);
  to["bytes_read"] = or_null(of.bytes_read);
  to["bytes_written"] = or_null(of.bytes_written);
  to["intensity"] = or_null(of.intensity);
}

json layer_json(const layer_figures& layer) {
  json result = {{"name", layer.name}, {"kind", layer.kind}, {"output", type_json(layer.output)}};
  add_figures(result, layer.figures);
  return result;
}

json stage_json(const stage_figures& stage) {
  json result = {{"name", stage.name},
                 {"kind", stage.kind},
                 {"on", to_word(stage.on)},
                 {"inserted", stage.inserted},
                 {"outputs", json::array()}};
  for (const auto& [tensor, type] : stage.outputs) {
    json output = {{"tensor", tensor}};
    output.update(type_json(type));
    result["outputs"].push_back(std::move(output));
  }
  add_figures(result, stage.figures);
  result["layers"] = json::array();
  for (const layer_figures& layer : stage.layers) result["layers"].push_back(layer_json(layer));
  return result;
}

json names_json(const cost_summary& summary, const std::vector<std::size_t>& stages) {
  json names = json::array();
  for (const std::size_t s : stages) names.push_back(summary.stages[s].name);
  return names;
}

}  // namespace

std::string inspect_json(const cost_summary& summary) {
  auto result = json::object();
  result["schema"] = "graphline.inspect/1";
  result["pipeline"] = summary.pipeline;
  result["params"] = json::object();
  for (const auto& [name, value] : summary.parameters) result["params"][name] = typed(value);
  result["units"] = {{"bytes", "B"}, {"intensity", "FLOP/B"}};
  result["stages"] = json::array();
  for (const stage_figures& stage : summary.stages) result["stages"].push_back(stage_json(stage));
  json& total = result["total"] = json::object();
  add_figures(total, summary.total);
  total["without_flops"] = names_json(summary, summary.without_flops);
  total["without_bytes"] = names_json(summary, summary.without_bytes);
  return json_text(result);
}

}  // namespace graphline
