#include "stages/nn/yaml/layer_entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "framework/spec/node_reading.hpp"

namespace graphline::nn {
namespace {

/// The kind of that name, or null.
const layer_kind* find_layer_kind(std::string_view name) {
  const auto found = std::ranges::find(layer_kinds(), name, &layer_kind::name);
  return found == layer_kinds().end() ? nullptr : &*found;
}

/// Unnamed layers are known by their number, in "3.weight" and "3.conv2d". Dots between words are
/// PyTorch's way to name what is in a block: "layer1.0.conv1".
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

/// The kind's name and its parameters, whichever form the entry has; null members when it has none.
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

}  // namespace

layer_entry read_layer(const node& written, diagnostics& out) {
  layer_entry entry{.place = written.where()};
  const auto parts = split(written, out);
  if (!parts) return entry;
  entry.place = parts->kind.place;
  entry.subject = parts->kind.text;
  entry.kind = find_layer_kind(parts->kind.text);
  if (entry.kind == nullptr) {
    std::vector<std::string> names;
    for (const layer_kind& kind : layer_kinds()) names.push_back(kind.name);
    const std::string near = suggestion(parts->kind.text, names, 0);
    out.error(parts->kind.place,
              fmt::format("unknown layer {}{}", quote(parts->kind.text),
                          near.empty() ? "; see 'graphline stages network'" : near));
    return entry;
  }

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
    layer_problems problems(entry.subject, entry.values, found);
    entry.operation = entry.kind->read(entry.values, problems);
    entry.sound = !problems.any();
  }
  for (const diagnostic& d : found.all()) {
    d.severity == severity::error ? out.error(d.place, d.message) : out.warning(d.place, d.message);
  }
  return entry;
}

}  // namespace graphline::nn
