#include "framework/stage/stage_registry.hpp"

#include <fmt/format.h>

#include <utility>

#include "framework/base/error.hpp"

namespace graphline {

namespace {

/// What a kind cannot be planned or made without; null where nothing lacks.
const char* lack_of(const stage_kind& kind) {
  if (kind.name.empty()) return "name";
  if (!kind.infer) return "'infer' function";
  if (kind.on == side::cpu && !kind.make_cpu) return "'make_cpu' factory";
  if (kind.on == side::device && kind.make_device.empty()) return "'make_device' factory";
  return nullptr;
}

}  // namespace

void stage_registry::add(stage_kind kind) {
  const char* const lack = lack_of(kind);
  if (lack != nullptr) {
    throw input_error(
        fmt::format("stage kind '{}' cannot be registered: it states no {}", kind.name, lack));
  }
  const auto [position, added] = kinds_.try_emplace(kind.name, std::move(kind));
  if (added) return;
  throw input_error(fmt::format("stage kind '{}' is already registered; give this one another name",
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
