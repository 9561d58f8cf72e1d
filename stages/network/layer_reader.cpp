#include "stages/network/layer_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "stages/network/layer_kind.hpp"
#include "stages/network/layers/layers.hpp"

namespace graphline {

namespace {

/// Walks the list of layers once, keeping what is known so far. What layers read is numbered as it
/// is written: 0 is the network's input, i + 1 what layer i gives.
class definer {
 public:
  definer(const shape& input, diagnostics& out) : out_(out) {
    given_.emplace_back(network_.add_input("input", {input, dtype::float32}));
    givers_.emplace_back("the network's input");
  }

  void add(const node& written) {
    const std::size_t index = given_.size() - 1;
    const layer_entry entry = read_layer(written, out_);
    const std::string name =
        entry.given_name.empty() ? fmt::format("{}.{}", index, entry.subject) : entry.given_name;
    const auto inputs = inputs_of(entry, index);
    register_name(entry, index + 1);
    givers_.push_back(fmt::format("layer '{}'", name));
    places_.push_back(entry.place);
    given_.push_back(inputs ? infer(entry, name, *inputs, index) : std::nullopt);
  }

  network_definition finish() {
    const bool whole =
        std::ranges::all_of(given_, [](const auto& value) { return value.has_value(); });
    if (!whole) return {};
    network_definition network = network_.finish({*given_.back()});
    check_readers(network);
    return network;
  }

 private:
  /// What a layer reads; nothing, and a report, when it names one that there is not.
  std::optional<std::vector<std::size_t>> inputs_of(const layer_entry& entry, std::size_t index) {
    std::optional<std::size_t> first = index;
    if (entry.reads) first = find_giver(*entry.reads, entry.values.where("reads"));
    if (!entry.values.has("from")) {
      return first ? std::optional(std::vector{*first}) : std::nullopt;
    }
    const auto other = find_giver(entry.values.text("from"), entry.values.where("from"));
    if (!first || !other) return std::nullopt;
    return std::vector{*first, *other};
  }

  /// What has that name among those before; reports when there is none.
  std::optional<std::size_t> find_giver(const std::string& name, const place& where) {
    if (name == "input") return 0;
    if (const auto found = named_.find(name); found != named_.end()) return found->second.number;
    std::vector<std::string> known{"input"};
    for (const auto& [earlier, _] : named_) known.push_back(earlier);
    out_.error(where,
               fmt::format("no earlier layer is named '{}'{}", name, suggestion(name, known)));
    return std::nullopt;
  }

  /// With `reads` a layer may pass over the one before it; what nobody reads is a slip.
  void check_readers(const network_definition& network) {
    std::vector<bool> read(network.values.size(), false);
    for (const std::size_t value : network.outputs) read[value] = true;
    for (const network_layer& layer : network.layers) {
      for (const std::size_t value : layer.inputs) read[value] = true;
    }
    for (std::size_t layer = 0; layer < network.layers.size(); ++layer) {
      if (read[network.layers[layer].outputs.front()]) continue;
      out_.error(places_[layer],
                 fmt::format("nothing reads {}: name it in 'reads' or 'from' of a later layer, or "
                             "leave it out",
                             givers_[layer + 1]));
    }
  }

  void register_name(const layer_entry& entry, std::size_t number) {
    if (entry.given_name.empty()) return;
    const place where = entry.values.where("name");
    const auto [first, is_new] = named_.try_emplace(entry.given_name, named_giver{number, where});
    if (is_new) return;
    const std::string line =
        first->second.where ? fmt::format(" (first on line {})", first->second.where.line) : "";
    out_.error(where, fmt::format("two layers are named '{}'{}", entry.given_name, line));
  }

  /// The value that the layer gives, where all it reads is known and it fits that.
  std::optional<std::size_t> infer(const layer_entry& entry, const std::string& name,
                                   const std::vector<std::size_t>& givers, std::size_t index) {
    if (!entry.operation) return {};
    std::vector<std::size_t> inputs;
    std::vector<std::string> names;
    for (const std::size_t giver : givers) {
      if (!given_[giver]) return {};
      inputs.push_back(*given_[giver]);
      names.push_back(givers_[giver]);
    }
    layer_problems problems(entry.subject, entry.values, out_);
    const std::string prefix = entry.given_name.empty() ? std::to_string(index) : entry.given_name;
    return network_.add_layer({.name = name,
                               .kind = entry.kind->name,
                               .operation = *entry.operation,
                               .inputs = std::move(inputs),
                               .where = entry.place},
                              prefix, names, problems);
  }

  struct named_giver {
    std::size_t number;
    place where;
  };

  diagnostics& out_;
  definition_builder network_;
  std::vector<std::optional<std::size_t>> given_;  ///< its value; unset after an error
  std::vector<std::string> givers_;                ///< for messages
  std::vector<place> places_;                      ///< per layer
  std::map<std::string, named_giver> named_;
};

}  // namespace

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
