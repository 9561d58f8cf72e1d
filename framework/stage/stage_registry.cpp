#include "framework/stage/stage_registry.hpp"

#include <fmt/format.h>

#include <utility>

#include "framework/base/error.hpp"

namespace graphline {

namespace {

/// Returns why a kind is incomplete; null for a complete kind.
const char* problem_of(const stage_kind& kind) {
  if (kind.name.empty()) return "it has no name";
  if (!kind.prepare && !kind.open) return "it has no 'prepare' function";
  if (kind.prepare && kind.open) return "it has both 'prepare' and 'open'; remove one of them";
  if (kind.on == side::device && kind.backends.empty()) return "it lists no 'backends'";
  return nullptr;
}

}  // namespace

void stage_registry::add(stage_kind kind) {
  if (const char* const problem = problem_of(kind)) {
    throw input_error(fmt::format("stage kind '{}' cannot be registered: {}", kind.name, problem));
  }
  const auto [position, added] = kinds_.try_emplace(kind.name, std::move(kind));
  if (added) return;
  throw input_error(fmt::format("stage kind '{}' is already registered; give this one another name",
                                position->first));
}

void stage_registry::add(policy_kind kind) {
  if (kind.name.empty() || !kind.make) {
    throw input_error(fmt::format("policy '{}' cannot be registered: it has no {}", kind.name,
                                  kind.name.empty() ? "name" : "'make' function"));
  }
  const auto [position, added] = policies_.try_emplace(kind.name, std::move(kind));
  if (added) return;
  throw input_error(fmt::format("policy '{}' is already registered; give this one another name",
                                position->first));
}

const stage_kind* stage_registry::find(std::string_view name) const noexcept {
  const auto found = kinds_.find(name);
  return found == kinds_.end() ? nullptr : &found->second;
}

std::vector<const stage_kind*> stage_registry::all() const {
  std::vector<const stage_kind*> kinds;
  for (const auto& [name, kind] : kinds_) kinds.push_back(&kind);
  return kinds;
}

std::vector<std::string> stage_registry::names() const {
  std::vector<std::string> names;
  for (const auto& [name, kind] : kinds_) names.push_back(name);
  return names;
}

}  // namespace graphline
