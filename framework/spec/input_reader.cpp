#include "framework/spec/input_reader.hpp"

#include <optional>
#include <string>

#include "framework/base/utf8.hpp"
#include "framework/spec/key_table.hpp"
#include "framework/spec/names.hpp"
#include "framework/spec/node_reading.hpp"

namespace graphline {

const std::vector<parameter>& input_keys() {
  static const std::vector<parameter> keys = {
      {.name = "shape",
       .type = parameter_type::shape,
       .help = "Its extents, outermost first.",
       .required = true},
      {.name = "dtype",
       .type = parameter_type::element,
       .help = "Type of its elements.",
       .default_value = std::string(to_string(tensor_type{}.element))},
      word_key("fill", "What it is filled with before the first frame.",
               std::optional(input_spec{}.fill)),
      word_key<side>("on", "Where it lives; where it is read first when left out.")};
  return keys;
}

std::vector<input_spec> read_inputs(const node& section, diagnostics& out) {
  std::vector<input_spec> inputs;
  if (section.is_null() || !check_mapping(section, "inputs", out)) return inputs;
  for (const auto& [name, value] : section.members()) {
    if (!check_name(name, "an input", out)) continue;
    const std::string owner = "input " + quote(name.text);
    // Kept even when nothing else of it can be understood, so that its readers are not told off.
    input_spec& input = inputs.emplace_back();
    input.name = name;
    input.typed = false;
    if (value.is_null()) {
      out.error(name.place, owner + " needs a 'shape', such as {shape: [1, 3, 224, 224]}");
      continue;
    }
    if (!check_mapping(value, name.text, out)) continue;
    check_keys(value, owner, names_of(input_keys()), out);

    if (const node* n = value.find("shape")) {
      const auto extents = read_shape(*n, "shape", out);
      if (extents) input.type.shape = *extents;
      input.typed = extents.has_value();
    } else {
      out.error(name.place, owner + " needs a 'shape'");
    }
    if (const node* n = value.find("dtype")) {
      const auto element = read_dtype(*n, "dtype", out);
      if (element) input.type.element = *element;
      input.typed = input.typed && element.has_value();
    }
    if (const node* n = value.find("fill")) {
      input.fill = read_word<fill>(*n, "fill", out).value_or(input.fill);
    }
    if (const node* n = value.find("on")) input.on = read_word<side>(*n, "on", out);
  }
  return inputs;
}

}  // namespace graphline
