#include "stages/nn/weights/network_weights.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string_view>

#include "framework/base/error.hpp"
#include "framework/base/random.hpp"
#include "framework/base/utf8.hpp"

namespace graphline::nn {
namespace {

/// Returns true for a rectifier and for an approximation of one.
bool rectifies(const layer_operation& operation) {
  using function = pointwise_function;
  constexpr function rectifiers[] = {
      function::relu,      function::clip, function::leaky_relu, function::gelu_erf,
      function::gelu_tanh, function::silu, function::hard_swish, function::mish};
  const auto* of = std::get_if<pointwise_layer>(&operation);
  return of != nullptr && std::ranges::find(rectifiers, of->function) != std::end(rectifiers);
}

/// Returns the gain that compensates for the activation after a weight's layer. A rectifier, or an
/// approximation, halves the mean square of its input (He, Zhang, Ren and Sun, arXiv:1502.01852).
/// With its initial weights, a batch norm in between has no effect.
double gain_after(const network_definition& network, std::size_t weight) {
  std::size_t value = weight;
  for (const network_layer& later : network.layers) {
    if (std::ranges::find(later.inputs, value) == later.inputs.end()) continue;
    if (value == weight || std::holds_alternative<batch_norm2d_layer>(later.operation)) {
      value = later.outputs.front();
      continue;
    }
    return rectifies(later.operation) ? std::sqrt(2.0) : 1.0;
  }
  return 1.0;
}

std::vector<float> drawn(const network_value& weight, double gain, std::uint64_t seed) {
  std::vector<float> values(static_cast<std::size_t>(weight.type.shape.elements()));
  using enum initial_value::rule;
  const auto [rule, bound] = weight.initial;
  if (rule == ones) std::ranges::fill(values, 1.0F);
  if (rule == scaled || rule == uniform) {
    draw_uniform(values, rule == scaled ? gain * bound : bound,
                 mix_seed(seed, seed_from(weight.name)));
  }
  return values;
}

/// Returns true for the name of PyTorch's count of training batches, which inference ignores.
bool is_batch_count(std::string_view name, const std::set<std::string>& expected) {
  constexpr std::string_view suffix = "num_batches_tracked";
  if (!name.ends_with(suffix)) return false;
  const std::string layer(name.substr(0, name.size() - suffix.size()));
  return expected.contains(layer + "running_mean");
}

/// Returns the first names: "'a', 'b', 'c', ...".
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t most = 3;
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i) shown.push_back(quote(names[i]));
  if (names.size() > most) shown.emplace_back("...");
  return fmt::to_string(fmt::join(shown, ", "));
}

/// Reports tensors that do not fit the network; `where` is the place of the file's name.
void check_tensors(const safetensors_file& file, const network_definition& network,
                   const place& where, diagnostics& out) {
  std::set<std::string> expected;
  for (const network_value& value : network.values) {
    if (value.constant) expected.insert(value.name);
  }
  std::vector<std::string> surplus;
  bool any_found = expected.empty();
  for (const auto& [name, tensor] : file.entries()) {
    if (expected.contains(name)) {
      any_found = true;
    } else if (!is_batch_count(name, expected)) {
      surplus.push_back(name);
    }
  }
  if (!any_found) {
    out.error(where,
              fmt::format("weights file '{}' has none of the tensors of this network: {}; it holds "
                          "{}; give layers the 'name' with which their tensors begin in the file",
                          file.path(), some_of({expected.begin(), expected.end()}),
                          surplus.empty() ? "none" : some_of(surplus)));
    return;
  }
  for (const network_layer& layer : network.layers) {
    for (const std::size_t input : layer.inputs) {
      const network_value& weight = network.values[input];
      if (!weight.constant) continue;
      const auto problem = file.why_not_float32(weight.name, weight.type.shape);
      if (!problem.empty()) out.error(layer.where ? layer.where : where, problem);
    }
  }
  if (surplus.empty()) return;
  out.error(where, fmt::format("weights file '{}' holds {}, which no layer of the network has",
                               file.path(), some_of(surplus)));
}

}  // namespace

std::shared_ptr<const safetensors_file> open_weights(const network_definition& network,
                                                     const arguments& values, diagnostics& out) {
  if (!values.has("weights")) return nullptr;
  const place where = values.where("weights");
  diagnostics found;
  std::shared_ptr<const safetensors_file> file;
  try {
    file = std::make_shared<const safetensors_file>(values.text("weights"));
    check_tensors(*file, network, where, found);
  } catch (const input_error& problem) {
    found.error(where, problem.what());
  }
  for (const diagnostic& problem : found.all()) out.add(problem);
  return found.has_errors() ? nullptr : file;
}

std::vector<named_tensor> network_weights(const network_definition& network,
                                          const safetensors_file* file, std::uint64_t seed) {
  std::vector<named_tensor> tensors;
  for (std::size_t i = 0; i < network.values.size(); ++i) {
    const network_value& value = network.values[i];
    if (!value.constant) continue;
    const std::vector<float> values = file != nullptr
                                          ? file->read_float32(value.name, value.type.shape)
                                          : drawn(value, gain_after(network, i), seed);
    const auto bytes = std::as_bytes(std::span(values));
    tensors.push_back({value.name, value.type, {bytes.begin(), bytes.end()}});
  }
  return tensors;
}

// std::byte has no vectorized comparison.
bool have_equal_bytes(std::span<const std::byte> a, std::span<const std::byte> b) noexcept {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

weight_table::weight_table(const network_definition& network, std::vector<named_tensor> tensors)
    : of_value_(network.values.size()) {
  for (named_tensor& tensor : tensors) {
    tensors_.push_back(std::make_shared<const named_tensor>(std::move(tensor)));
  }
  std::size_t next = 0;
  for (std::size_t i = 0; i < network.values.size(); ++i) {
    if (network.values[i].constant) of_value_[i] = next++;
  }
}

void weight_table::share(const weight_table& other) {
  std::map<std::string_view, std::shared_ptr<const named_tensor>> known;
  for (const auto& tensor : other.tensors_) known[tensor->name] = tensor;
  for (auto& tensor : tensors_) {
    const auto found = known.find(tensor->name);
    if (found == known.end() || found->second->type != tensor->type) continue;
    if (have_equal_bytes(found->second->data, tensor->data)) tensor = found->second;
  }
}

std::span<const float> weight_table::of(const network_layer& layer, std::size_t input) const {
  return input < layer.inputs.size() ? of(layer.inputs[input]) : std::span<const float>{};
}

std::span<const float> weight_table::of(std::size_t value) const {
  const std::vector<std::byte>& data = tensors_.at(of_value_[value])->data;
  return {reinterpret_cast<const float*>(data.data()), data.size() / sizeof(float)};
}

void draw_uniform(std::span<float> values, double bound, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  for (float& value : values) {
    value = static_cast<float>(bound * (2.0 * uniform_unit(generator) - 1.0));
  }
}

}  // namespace graphline::nn
