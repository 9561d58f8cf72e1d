#include "stages/nn/yaml/layer_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "framework/spec/node.hpp"
#include "framework/spec/node_reading.hpp"
#include "stages/nn/layers/layer_kind.hpp"

namespace graphline::nn {

namespace {

/// A layer from YAML with checked parameters and unknown shapes.
struct layer_entry {
  const layer_kind* kind = nullptr;  ///< null if the kind is unknown
  arguments values = {};
  bool sound = false;                             ///< kind and parameters are valid
  std::optional<layer_operation> operation = {};  ///< set if `sound` and if the kind defines `read`
  std::string given_name = {};                    ///< empty for none
  std::vector<named> reads = {};  ///< earlier layers or inputs; if empty, the previous layer
  std::string subject = {};       ///< in messages: "conv2d" or "conv2d 'stem'"
  graphline::place place = {};
};

/// Reports an invalid name. Numbers are reserved for unnamed layers: "3.weight", "3.conv2d". Dots
/// separate blocks as in PyTorch: "layer1.0.conv1".
void check_layer_name(const named& name, diagnostics& out) {
  if (!check_name(name, "a layer", out)) return;
  const std::string dotted = "." + name.text + ".";
  const std::string first = name.text.substr(0, name.text.find('.'));
  const char* reason = nullptr;
  if (name.text == "input") {
    reason = "it means what the network reads";
  } else if (dotted.find("..") != std::string::npos) {
    reason = "dots stand between words, as in 'layer1.0.conv1'";
  } else if (first.find_first_not_of("0123456789") == std::string::npos) {
    reason = "names that begin with a number are those of layers without a 'name'";
  }
  if (reason) out.error(name.place, fmt::format("'{}' cannot name a layer: {}", name.text, reason));
}

/// Kind name and parameters of an entry of `layers`.
struct entry_parts {
  named kind;
  const node* parameters = nullptr;
};

std::optional<entry_parts> split(const node& written, diagnostics& out) {
  if (written.is_scalar()) return entry_parts{{written.text(), written.where()}, nullptr};
  if (written.is_mapping() && written.members().size() == 1) {
    const node::member& only = written.members().front();
    return entry_parts{only.key, &only.value};
  }
  if (written.is_mapping() && written.members().size() > 1) {
    const auto& members = written.members();
    out.error(members[1].key.place,
              fmt::format("a layer has one key, its kind, found '{}' and '{}': indent its "
                          "parameters, and start each layer with its own '-'",
                          members[0].key.text, members[1].key.text));
    return {};
  }
  out.error(written.where(),
            fmt::format("a layer must be a word such as 'gelu' or a mapping such as "
                        "'linear: {{out_features: 10}}', found {}",
                        written.describe()));
  return {};
}

/// Reads an entry of `layers`: a kind's name, or a mapping from the name to parameters.
layer_entry read_layer(const node& written, diagnostics& out) {
  layer_entry entry{.place = written.where()};
  const auto parts = split(written, out);
  if (!parts) return entry;
  entry.place = parts->kind.place;
  entry.subject = parts->kind.text;
  const auto known = std::ranges::find(layer_kinds(), parts->kind.text, &layer_kind::name);
  if (known == layer_kinds().end()) {
    std::vector<std::string> names;
    for (const layer_kind& kind : layer_kinds()) names.push_back(kind.name);
    const std::string near = suggestion(parts->kind.text, names, 0);
    out.error(parts->kind.place,
              fmt::format("unknown layer {}{}", quote(parts->kind.text),
                          near.empty() ? "; see 'graphline stages network'" : near));
    return entry;
  }
  entry.kind = &*known;
  const std::vector<parameter> schema = parameters_of(*entry.kind);
  diagnostics found;
  const node nothing = node::mapping({}, entry.place);
  entry.values =
      bind_arguments(schema, parts->parameters ? *parts->parameters : nothing,
                     fmt::format("layer '{}'", entry.kind->name), entry.place, "", found);
  if (entry.values.has("name")) {
    entry.given_name = read_text(entry.values.tree("name"), "name", found).value_or("");
    entry.subject = fmt::format("{} '{}'", entry.kind->name, entry.given_name);
    check_layer_name({entry.given_name, entry.values.where("name")}, found);
  }
  if (entry.values.has("reads")) {
    const node& reads = entry.values.tree("reads");
    entry.reads = read_names(reads, "reads", found);
    if (reads.is_sequence() && find_parameter(entry.kind->parameters, "reads") == nullptr) {
      found.error(reads.where(), fmt::format("'reads' of layer '{}' must be one name, found a list,"
                                             " which only 'concat' reads",
                                             entry.kind->name));
    }
  }
  entry.sound = !found.has_errors() && !holds_unresolved(written);
  if (entry.sound && entry.kind->read) {
    layer_problems problems(entry.subject, entry.values.where(), found, &entry.values);
    entry.operation = problems.result_of([&] { return entry.kind->read(entry.values, problems); });
    entry.sound = entry.operation.has_value();
  }
  for (const diagnostic& d : found.all()) out.add(d);
  return entry;
}

/// Returns the names that a parameter lists; none if the parameter is omitted.
std::vector<named> listed_names(const arguments& values, std::string_view key, diagnostics& out) {
  if (!values.has(key)) return {};
  const node& written = values.tree(key);
  const std::vector<named> names = read_names(written, key, out);
  if (written.is_sequence() && written.items().empty()) {
    out.error(values.where(key), fmt::format("'{}' must name at least one", key));
  }
  std::set<std::string_view> seen;
  for (const named& name : names) {
    if (seen.insert(name.text).second) continue;
    out.error(name.place, fmt::format("'{}' names '{}' twice", key, name.text));
  }
  return names;
}

bool has_name(const node& layer, std::string_view name) {
  if (layer.members().empty()) return false;
  const node* given = layer.members().front().value.find("name");
  return given != nullptr && given->is_scalar() && given->text() == name;
}

/// Adds the layers in order. Givers are numbered: first the network's inputs, then the layers.
class definer {
 public:
  definer(const node& layers, const std::vector<named>& inputs, std::span<const tensor_type> types,
          diagnostics& out)
      : out_(out), layers_(layers), inputs_(types.size()) {
    for (std::size_t i = 0; i < types.size(); ++i) {
      const named name = inputs.empty() ? named{"input"} : inputs[i];
      givers_.push_back(
          {name.text, inputs.empty() ? "the network's input" : fmt::format("input '{}'", name.text),
           name.place, network_.add_input(name.text, {types[i].shape, dtype::float32})});
      named_.try_emplace(name.text, i);
    }
    for (const node& layer : layers.items()) add(layer);
  }

  network_definition finish(const std::vector<named>& outputs) {
    std::vector<std::size_t> results;
    for (const named& output : outputs) {
      const auto number = find_giver(output, "layer", inputs_);
      if (number && *number >= inputs_) {
        results.push_back(*number);
      } else if (number) {
        out_.error(output.place, fmt::format("'{}' is an input of the network: 'outputs' names "
                                             "layers",
                                             output.text));
      }
    }
    if (outputs.empty()) results.push_back(givers_.size() - 1);
    const bool whole =
        std::ranges::all_of(givers_, [](const giver& of) { return of.value.has_value(); });
    if (!whole || results.size() < outputs.size()) return {};
    for (std::size_t& result : results) result = *givers_[result].value;
    network_definition network = network_.finish(std::move(results));
    check_readers(network);
    return network;
  }

 private:
  /// An input or layer whose output a layer may read.
  struct giver {
    std::string name;     ///< empty for none
    std::string subject;  ///< "layer 'conv1'"
    place where;
    std::optional<std::size_t> value;  ///< unset after an error
  };

  void add(const node& written) {
    const std::size_t index = givers_.size() - inputs_;
    const layer_entry entry = read_layer(written, out_);
    const std::string name =
        entry.given_name.empty() ? fmt::format("{}.{}", index, entry.subject) : entry.given_name;
    const auto inputs = inputs_of(entry, index);
    register_name(entry);
    const auto given = inputs ? infer(entry, name, *inputs, index) : std::nullopt;
    givers_.push_back({entry.given_name, fmt::format("layer '{}'", name), entry.place, given});
  }

  /// Returns the givers that a layer reads; empty, after a report, if a giver does not exist.
  std::optional<std::vector<std::size_t>> inputs_of(const layer_entry& entry, std::size_t index) {
    std::vector<named> names = entry.reads;
    if (entry.values.has("from")) {
      names.push_back({entry.values.text("from"), entry.values.where("from")});
    }
    std::vector<std::size_t> numbers;
    for (const named& name : names) {
      if (const auto number = find_giver(name, "earlier layer", 0)) numbers.push_back(*number);
    }
    if (numbers.size() < names.size()) return std::nullopt;
    // By default read the previous layer; the first layer reads the first input.
    const std::size_t before = index == 0 ? 0 : givers_.size() - 1;
    if (entry.reads.empty()) numbers.insert(numbers.begin(), before);
    return numbers;
  }

  /// Returns a giver by name. If none has it, reports an error and returns empty. The report
  /// suggests givers from `first` on.
  std::optional<std::size_t> find_giver(const named& name, std::string_view what,
                                        std::size_t first) {
    const auto found = named_.find(name.text);
    if (found != named_.end()) return found->second;
    std::vector<std::string> known;
    for (std::size_t i = first; i < givers_.size(); ++i) {
      if (!givers_[i].name.empty()) known.push_back(givers_[i].name);
    }
    std::string remedy = suggestion(name.text, known);
    const std::string subject = fmt::format("layer '{}'", name.text);
    if (std::ranges::find(givers_, subject, &giver::subject) != givers_.end()) {
      remedy = ": give it a 'name'";
    } else if (std::ranges::any_of(layers_.items(),
                                   [&](const node& n) { return has_name(n, name.text); })) {
      remedy = ": it is this layer or a later one";
    }
    out_.error(name.place, fmt::format("no {} is named '{}'{}", what, name.text, remedy));
    return std::nullopt;
  }

  /// Reports layers and inputs that nothing reads; `reads` can skip a layer.
  void check_readers(const network_definition& network) {
    const std::vector<std::size_t> reads = reads_of_values(network);
    for (const giver& of : givers_) {
      if (reads[*of.value] > 0) continue;
      out_.error(of.where, fmt::format("nothing reads {}: name it in 'reads' or 'from' of a later "
                                       "layer or in 'outputs', or leave it out",
                                       of.subject));
    }
  }

  void register_name(const layer_entry& entry) {
    if (entry.given_name.empty()) return;
    const auto [first, is_new] = named_.try_emplace(entry.given_name, givers_.size());
    if (is_new) return;
    const place& taken = givers_[first->second].where;
    const std::string line = taken ? fmt::format(" (first on line {})", taken.line) : "";
    const char* both = first->second < inputs_ ? "an input and a layer" : "two layers";
    out_.error(entry.values.where("name"),
               fmt::format("{} are named '{}'{}", both, entry.given_name, line));
  }

  /// Adds the layer; returns its output, or empty if an input is unknown or does not fit.
  std::optional<std::size_t> infer(const layer_entry& entry, const std::string& name,
                                   const std::vector<std::size_t>& numbers, std::size_t index) {
    if (!entry.sound) return {};
    std::vector<std::size_t> inputs;
    std::vector<std::string> subjects;
    std::vector<layer_input> read;
    for (const std::size_t number : numbers) {
      const giver& of = givers_[number];
      if (!of.value) return {};
      inputs.push_back(*of.value);
      subjects.push_back(of.subject);
      read.push_back({of.subject, network_.network().shape_of(*of.value)});
    }
    layer_problems problems(entry.subject, entry.values.where(), out_, &entry.values);
    auto operation = entry.operation;
    if (!operation) {
      operation = problems.result_of([&] { return entry.kind->fit(entry.values, read, problems); });
      if (!operation) return {};
    }
    const std::string prefix = entry.given_name.empty() ? std::to_string(index) : entry.given_name;
    return network_.add_layer({.name = name,
                               .kind = entry.kind->name,
                               .operation = std::move(*operation),
                               .inputs = std::move(inputs),
                               .where = entry.place},
                              prefix, subjects, problems);
  }

  diagnostics& out_;
  const node& layers_;
  definition_builder network_;
  std::size_t inputs_;
  std::vector<giver> givers_;
  std::map<std::string, std::size_t> named_;  ///< index of the giver with each name
};

/// Returns true if a network can read tensors of these types; otherwise reports an error.
bool check_inputs(std::span<const tensor_type> inputs, const place& where, diagnostics& out) {
  bool sound = true;
  for (const tensor_type& input : inputs) {
    const auto elements = input.shape.checked_elements();
    if (elements && *elements >= 1 && *elements <= (std::int64_t{1} << 44)) continue;
    out.error(where, fmt::format("a network cannot read {}: every extent must be at least 1 and "
                                 "their product at most 2^44",
                                 to_string(input.shape)));
    sound = false;
  }
  return sound;
}

}  // namespace

network_names read_network_names(const arguments& values, diagnostics& out) {
  return {listed_names(values, "inputs", out), listed_names(values, "outputs", out)};
}

network_definition define_network(const arguments& values, const network_names& names,
                                  std::span<const tensor_type> inputs, diagnostics& out) {
  const place where = values.where("layers");
  if (!check_inputs(inputs, where, out) ||
      inputs.size() != std::max<std::size_t>(1, names.inputs.size())) {
    return {};
  }
  const node& layers = values.tree("layers");
  if (!layers.is_sequence() || layers.items().empty()) {
    out.error(layers.where() ? layers.where() : where,
              fmt::format("'layers' must be a list with at least one layer, found {}",
                          layers.is_sequence() ? "an empty list" : layers.describe()));
    return {};
  }
  return definer(layers, names.inputs, inputs, out).finish(names.outputs);
}

}  // namespace graphline::nn
