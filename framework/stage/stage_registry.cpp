#include "framework/stage/stage_registry.hpp"

#include <fmt/format.h>

#include <utility>

#include "framework/base/error.hpp"

namespace graphline {

void stage_registry::add(stage_kind kind) {
  if (kind.name.empty()) throw input_error("a stage kind without a name cannot be registered");
  if (!kind.infer) {
    throw input_error(fmt::format(
        "stage kind '{}' cannot be registered: it states no 'infer' function", kind.name));
  }
  if (kind.on == side::cpu && !kind.make_cpu) {
    throw input_error(fmt::format(
        "stage kind '{}' cannot be registered: it runs on the CPU and states no 'make_cpu' factory",
        kind.name));
  }
  if (kind.on == side::device && kind.make_device.empty()) {
    throw input_error(
        fmt::format("stage kind '{}' cannot be registered: it runs on a device and states no "
                    "'make_device' factory",
                    kind.name));
  }
  const auto [position, added] = kinds_.try_emplace(kind.name, std::move(kind));
  if (!added) {
    throw input_error(
        fmt::format("stage kind '{}' is already registered; give this one another "
                    "name",
                    position->first));
  }
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
