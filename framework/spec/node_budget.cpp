#include "framework/spec/node_budget.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace graphline {

bool node_budget::take_all(const node& n) noexcept {
  return take(n.text().size()) &&
         std::ranges::all_of(n.items(), [this](const node& item) { return take_all(item); }) &&
         std::ranges::all_of(n.members(),
                             [this](const node::member& m) { return take_all(m.value); });
}

std::string beyond_budget(std::string_view repeating) {
  return fmt::format("more than {} values or {} MiB of text, what {} repeat among them",
                     node_budget::most_values, node_budget::most_text >> 20, repeating);
}

}  // namespace graphline
