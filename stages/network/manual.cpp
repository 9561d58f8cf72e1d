#include "stages/network/manual.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "stages/network/layer_kind.hpp"

namespace graphline {

namespace {

std::string default_of(const parameter& p) {
  if (p.required) return "required";
  return p.default_value ? "default " + *p.default_value : "optional";
}

std::string type_of(const parameter& p) {
  std::vector<std::string> words = p.choices;
  if (p.type != parameter_type::choice) words.emplace(words.begin(), to_string(p.type));
  return fmt::format("{}", fmt::join(words, " | "));
}

}  // namespace

std::string layer_manual() {
  std::size_t name_width = 0;
  std::size_t type_width = 0;
  for (const layer_kind& kind : layer_kinds()) {
    for (const parameter& p : kind.parameters) {
      name_width = std::max(name_width, p.name.size());
      type_width = std::max(type_width, type_of(p).size());
    }
  }

  std::string page =
      "Layers, in order; names and meanings are PyTorch's. Each also takes a 'name', and 'reads': "
      "the name of the earlier layer that it reads instead of the one before it.\n";
  for (const layer_kind& kind : layer_kinds()) {
    page += fmt::format("\n  {}: {}\n", kind.name, kind.headline);
    for (const parameter& p : kind.parameters) {
      page += fmt::format("    {:{}}  {:{}}  {:13}  {}\n", p.name, name_width, type_of(p),
                          type_width, default_of(p), p.help);
    }
  }
  return page;
}

}  // namespace graphline
