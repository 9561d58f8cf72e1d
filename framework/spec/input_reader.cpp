#include "framework/spec/input_reader.hpp"

#include <string>

#include "framework/base/utf8.hpp"
#include "framework/spec/names.hpp"
#include "framework/spec/node_reading.hpp"

namespace graphline {

std::vector<input_spec> read_inputs(const node& section, diagnostics& out) {
  std::vector<input_spec> inputs;
  if (section.is_null() || !check_mapping(section, "inputs", out)) return inputs;
  for (const auto& [name, value] : section.members()) {
    const bool named_well = check_name(name, "an input", out);
    const std::string owner = "input " + quote(name.text);
    if (value.is_null()) {
      out.error(name.place, owner + " needs a 'shape', such as {shape: [1, 3, 224, 224]}");
      continue;
    }
    if (!check_mapping(value, name.text, out)) continue;
    check_keys(value, owner, {"shape", "dtype", "fill", "on"}, out);

    input_spec input;
    input.name = name;
    bool typed = named_well;
    if (const node* n = value.find("shape")) {
      const auto extents = read_shape(*n, "shape", out);
      if (extents) input.type.shape = *extents;
      typed = typed && extents.has_value();
    } else {
      out.error(name.place, owner + " needs a 'shape'");
      typed = false;
    }
    if (const node* n = value.find("dtype")) {
      const auto element = read_dtype(*n, "dtype", out);
      if (element) input.type.element = *element;
      typed = typed && element.has_value();
    }
    if (const node* n = value.find("fill")) {
      input.fill = read_word<fill>(*n, "fill", out).value_or(input.fill);
    }
    if (const node* n = value.find("on")) input.on = read_word<side>(*n, "on", out);
    if (typed) inputs.push_back(std::move(input));
  }
  return inputs;
}

}  // namespace graphline
