#include "stages/network/definition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "stages/network/layer_kind.hpp"
#include "stages/network/layers/layers.hpp"

namespace graphline {

namespace {

/// Walks the list of layers once, keeping what is known of the values so far.
class definer {
 public:
  definer(const shape& input, diagnostics& out) : out_(out) {
    network_.input = input;
    shapes_.push_back(input);
    givers_.emplace_back("the network's input");
  }

  void add(const node& written) {
    const std::size_t index = shapes_.size() - 1;
    const layer_entry entry = read_layer(written, out_);
    const std::string name =
        entry.given_name.empty() ? fmt::format("{}.{}", index, entry.subject) : entry.given_name;
    const auto inputs = inputs_of(entry, index);
    register_name(entry, index + 1);
    givers_.push_back(fmt::format("layer '{}'", name));
    places_.push_back(entry.place);
    shapes_.push_back(inputs ? infer(entry, name, *inputs, index) : std::nullopt);
  }

  network_definition finish() {
    if (network_.layers.size() + 1 == shapes_.size()) check_readers();
    return std::move(network_);
  }

 private:
  /// The values a layer reads; nothing, and a report, when it names one that there is not.
  std::optional<std::vector<std::size_t>> inputs_of(const layer_entry& entry, std::size_t index) {
    std::optional<std::size_t> first = index;
    if (entry.reads) first = find_value(*entry.reads, entry.values.where("reads"));
    const auto* sum = entry.operation ? std::get_if<add_layer>(&*entry.operation) : nullptr;
    if (sum == nullptr) return first ? std::optional(std::vector{*first}) : std::nullopt;
    const std::optional<std::size_t> other = find_value(sum->from, entry.values.where("from"));
    if (!first || !other) return std::nullopt;
    return std::vector{*first, *other};
  }

  /// The value of that name among those before; reports when there is none.
  std::optional<std::size_t> find_value(const std::string& name, const place& where) {
    if (name == "input") return 0;
    if (const auto found = named_.find(name); found != named_.end()) return found->second.value;
    std::vector<std::string> known{"input"};
    for (const auto& [earlier, _] : named_) known.push_back(earlier);
    out_.error(where,
               fmt::format("no earlier layer is named '{}'{}", name, suggestion(name, known)));
    return std::nullopt;
  }

  /// With `reads` a layer may pass over the one before it; what nobody reads is a slip.
  void check_readers() {
    std::vector<bool> read(shapes_.size(), false);
    for (const network_layer& layer : network_.layers) {
      for (const std::size_t value : layer.inputs) read[value] = true;
    }
    for (std::size_t layer = 0; layer + 1 < network_.layers.size(); ++layer) {
      if (read[layer + 1]) continue;
      out_.error(places_[layer],
                 fmt::format("nothing reads {}: name it in 'reads' or 'from' of a later layer, or "
                             "leave it out",
                             givers_[layer + 1]));
    }
  }

  void register_name(const layer_entry& entry, std::size_t value) {
    if (entry.given_name.empty()) return;
    const place where = entry.values.where("name");
    const auto [first, is_new] = named_.try_emplace(entry.given_name, named_value{value, where});
    if (is_new) return;
    const std::string line =
        first->second.where ? fmt::format(" (first on line {})", first->second.where.line) : "";
    out_.error(where, fmt::format("two layers are named '{}'{}", entry.given_name, line));
  }

  /// Applies the layer's shape rule where all it reads is known, and keeps the layer if it holds.
  std::optional<shape> infer(const layer_entry& entry, const std::string& name,
                             const std::vector<std::size_t>& inputs, std::size_t index) {
    if (!entry.operation) return {};
    std::vector<layer_input> read;
    for (const std::size_t value : inputs) {
      if (!shapes_[value]) return {};
      read.push_back({givers_[value], *shapes_[value]});
    }
    layer_problems problems(entry.subject, entry.values, out_);
    layer_shape inferred = entry.kind->infer(*entry.operation, read, problems);
    if (!problems.any()) check_size(inferred, problems);
    if (problems.any()) return {};

    const std::string prefix = entry.given_name.empty() ? std::to_string(index) : entry.given_name;
    for (weight_spec& weight : inferred.weights) {
      inferred.cost.parameters += weight.shape.elements();
      weight.name = fmt::format("{}.{}", prefix, weight.name);
    }
    network_.layers.push_back({name, entry.kind->name, *entry.operation, inputs, inferred.output,
                               inferred.cost, std::move(inferred.weights), entry.place});
    return inferred.output;
  }

  /// Bounds that keep all later arithmetic on sizes and costs within 64 bits: 64 TiB, and what no
  /// machine computes.
  void check_size(const layer_shape& inferred, layer_problems& problems) {
    constexpr std::int64_t most_elements = std::int64_t{1} << 44;
    constexpr std::int64_t most_flops = std::int64_t{1} << 57;
    const auto small = [](const shape& s) {
      const auto elements = s.checked_elements();
      return elements && *elements <= most_elements;
    };
    flops_ = std::min(flops_ + std::min(inferred.cost.flops, most_flops), most_flops);
    const bool fits =
        small(inferred.output) && std::ranges::all_of(inferred.weights, small, &weight_spec::shape);
    if (!fits || flops_ == most_flops) {
      problems.report(
          fmt::format("would give {} with more than 2^44 elements in a tensor or 2^57 "
                      "FLOPs in the network",
                      to_string(inferred.output)));
    }
  }

  struct named_value {
    std::size_t value;
    place where;
  };

  diagnostics& out_;
  network_definition network_;
  std::vector<std::optional<shape>> shapes_;  ///< per value; unset after an error
  std::vector<std::string> givers_;           ///< per value, for messages
  std::vector<place> places_;                 ///< per layer
  std::map<std::string, named_value> named_;
  std::int64_t flops_ = 0;  ///< of all layers so far
};

}  // namespace

shape as_rows(const shape& s) {
  const std::int64_t last = s[s.rank() - 1];
  return {s.elements() / last, last};
}

network_definition define_network(const node& layers, const shape& input, const place& where,
                                  diagnostics& out) {
  const auto elements = input.checked_elements();
  if (!elements || *elements < 1 || *elements > (std::int64_t{1} << 44)) {
    out.error(where, fmt::format("a network cannot read {}: every extent must be at least 1 and "
                                 "their product at most 2^44",
                                 to_string(input)));
    return {};
  }
  if (!layers.is_sequence() || layers.items().empty()) {
    out.error(layers.where() ? layers.where() : where,
              fmt::format("'layers' must be a list with at least one layer, found {}",
                          layers.is_sequence() ? "an empty list" : layers.describe()));
    return {};
  }
  definer all(input, out);
  for (const node& layer : layers.items()) all.add(layer);
  return all.finish();
}

network_definition network_of(const stage_config& config) {
  diagnostics problems;
  network_definition network =
      define_network(config.arguments.tree("layers"), config.inputs.at(0).shape,
                     config.arguments.where("layers"), problems);
  problems.throw_if_errors();
  return network;
}

}  // namespace graphline
