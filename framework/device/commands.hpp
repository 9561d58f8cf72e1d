#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "framework/base/units.hpp"
#include "framework/device/backend_parts.hpp"
#include "framework/device/device.hpp"

namespace graphline {

// Stream commands that the `host` and `model` devices share, and their names in listings and
// traces.

struct copy_command {
  void* to;
  const void* from;
  std::size_t bytes;
};

struct fill_command {
  void* to;
  std::size_t bytes;
  std::byte value;
};

/// Calls a host function. Complete when the function returns.
struct call_command {
  host_function* function;
};

/// Executes one body of a switch. Only in graphs.
struct select_command {
  const std::uint32_t* selector;
  std::size_t bodies;
  std::size_t number;  ///< index of the switch in its graph
};

inline std::string name_of(const copy_command& c) {
  return "copy " + format_bytes(c.bytes);
}
inline std::string name_of(const fill_command& c) {
  return "fill " + format_bytes(c.bytes);
}
inline std::string name_of(const call_command& c) {
  return std::string(c.function->name());
}
inline std::string name_of(const select_command& c) {
  return switch_name(c.bodies);
}

inline void perform(const copy_command& c) noexcept {
  std::memcpy(c.to, c.from, c.bytes);
}
inline void perform(const fill_command& c) noexcept {
  std::memset(c.to, std::to_integer<int>(c.value), c.bytes);
}

}  // namespace graphline
