#include "framework/spec/parameter_reference.hpp"

#include <algorithm>

#include "framework/spec/names.hpp"

namespace graphline {

std::optional<std::string_view> parameter_reference(const node& n) noexcept {
  if (!n.is_scalar() || n.quoted() || !n.text().starts_with('$')) return std::nullopt;
  const std::string_view name = std::string_view(n.text()).substr(1);
  return is_name(name) ? std::optional(name) : std::nullopt;
}

bool is_unresolved(const node& n) noexcept {
  return n.where() && parameter_reference(n);
}

bool holds_unresolved(const node& n) noexcept {
  return is_unresolved(n) || std::ranges::any_of(n.items(), holds_unresolved) ||
         std::ranges::any_of(n.members(), holds_unresolved, &node::member::value);
}

}  // namespace graphline
