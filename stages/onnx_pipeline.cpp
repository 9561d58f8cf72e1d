#include "stages/onnx_pipeline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>

#include "framework/base/error.hpp"
#include "framework/base/utf8.hpp"
#include "framework/spec/node_reading.hpp"
#include "stages/nn/onnx/onnx_import.hpp"
#include "stages/nn/onnx/onnx_model.hpp"

namespace graphline {
namespace {

/// Returns a valid name that resembles one of a model.
std::string valid_name(const std::string& given) {
  std::string name = given.substr(0, 60);
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '.'; }, '_');
  return name.find_first_not_of("._-") == name.npos ? "model" : name;
}

/// Returns a valid name that resembles one of a model and is not taken, and takes it.
std::string take_name(const std::string& given, std::set<std::string>& taken) {
  const std::string first = valid_name(given);
  std::string name = first;
  for (int i = 2; !taken.insert(name).second; ++i) name = fmt::format("{}_{}", first, i);
  return name;
}

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? "''" : std::string(1, c);
  return result + '\'';
}

/// Returns the `writes` of outputs whose names are not valid names of tensors; empty if all are.
std::string renamed_outputs(const nn::onnx_graph& graph, const std::string& stage) {
  std::vector<std::string> outputs;
  for (const nn::onnx_value& output : graph.outputs) outputs.push_back(output.name);
  for (const std::string& name : nn::counted_outputs(graph)) outputs.push_back(name + ".count");
  if (outputs.size() < 2) return "";  // a single one is named like the stage
  std::set<std::string> names;
  std::stable_partition(outputs.begin(), outputs.end(), is_name);
  std::vector<std::string> writes;
  for (const std::string& output : outputs) {
    const std::string name = take_name(output, names);
    if (!is_name(output)) writes.push_back(fmt::format("{}: {}.{}", quoted(output), stage, name));
  }
  return writes.empty() ? "" : fmt::format("    writes: {{{}}}\n", fmt::join(writes, ", "));
}

bool is_extent(const std::string& text) {
  return !text.empty() && text.size() < 10 &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace

std::string pipeline_of_model(const std::string& path, const std::string& written,
                              const std::vector<std::pair<std::string, std::string>>& set) {
  nn::onnx_model model = nn::read_onnx(path);
  const std::map<std::string, std::string> values(set.begin(), set.end());
  std::map<std::string, std::string> names;  // of parameters, by the model's symbol
  std::set<std::string> parameter_names;
  std::set<std::string> tensor_names;
  std::vector<std::string> params;
  std::vector<std::string> reads;
  std::vector<std::string> open;  // names of parameters without a value
  std::vector<std::string> places;
  std::vector<std::string> fixed;
  std::string inputs;
  for (const nn::onnx_value& input : model.graph.inputs) {
    if (const auto value = values.find(valid_name(input.name)); value != values.end()) {
      const std::string name = take_name(input.name, parameter_names);
      params.push_back(fmt::format("{}: {}", name, value->second));
      fixed.push_back(fmt::format("{}: ${}", quoted(input.name), name));
      continue;
    }
    std::vector<std::string> extents;
    for (const nn::onnx_extent& extent : input.extents.value_or(std::vector<nn::onnx_extent>{})) {
      if (extent.number.value_or(0) > 0) {
        extents.push_back(std::to_string(*extent.number));
        continue;
      }
      const bool named = !extent.symbol.empty() && extent.symbol != "?";
      const auto symbol = named ? extent.symbol : fmt::format("{}_{}", input.name, extents.size());
      const auto [known, is_new] = names.try_emplace(symbol);
      if (is_new) {
        known->second = take_name(symbol, parameter_names);
        const auto value = values.find(known->second);
        const bool has_value = value != values.end() && is_extent(value->second);
        if (!has_value && !extents.empty()) {
          open.push_back(known->second);
          places.push_back(fmt::format("{} of {}", extents.size(), quote(input.name)));
        }
        params.push_back(fmt::format("{}: {}", known->second, has_value ? value->second : "1"));
      }
      extents.push_back('$' + known->second);
    }
    const auto name = take_name(input.name, tensor_names);
    const auto element = nn::read_as(input.element).value_or(dtype::float32);
    const bool is_real = element == dtype::float32 || element == dtype::float64;
    inputs +=
        fmt::format("  {}: {{shape: [{}], dtype: {}, fill: {}}}\n", name, fmt::join(extents, ", "),
                    to_string(element), is_real ? "normal" : "ones");
    reads.push_back(fmt::format("{}: {}", quoted(input.name), name));
  }
  if (!open.empty()) {
    throw input_error(fmt::format(
        "model {} leaves dimension{} {} open; give a value: --set {}=VALUE", quote(path, 200),
        open.size() == 1 ? "" : "s", fmt::join(places, ", "), fmt::join(open, "=VALUE --set ")));
  }
  // Constants, as 'fixed_inputs' makes them.
  std::erase_if(model.graph.inputs, [&](const nn::onnx_value& input) {
    return values.contains(valid_name(input.name));
  });
  const auto name = valid_name(std::filesystem::path(path).stem().string());
  return fmt::format(
      "# One model as a pipeline. The parameters are the dimensions that the model leaves open.\n"
      "pipeline: {0}\n"
      "params: {{{1}}}\n"
      "inputs:{2}{3}\n"
      "stages:\n"
      "  - name: {0}\n"
      "    kind: onnx\n"
      "    model: {4}\n"
      "    reads: {{{5}}}\n"
      "{6}{7}",
      name, fmt::join(params, ", "), inputs.empty() ? " {}" : "\n",
      inputs.substr(0, inputs.empty() ? 0 : inputs.size() - 1), quoted(written),
      fmt::join(reads, ", "), renamed_outputs(model.graph, name),
      fixed.empty() ? "" : fmt::format("    fixed_inputs: {{{}}}\n", fmt::join(fixed, ", ")));
}

}  // namespace graphline
