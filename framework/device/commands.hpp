#pragma once

#include <cstddef>
#include <cstring>
#include <string>

#include "framework/base/units.hpp"
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

inline std::string name_of(const copy_command& c) {
  return "copy " + format_bytes(c.bytes);
}
inline std::string name_of(const fill_command& c) {
  return "fill " + format_bytes(c.bytes);
}
inline std::string name_of(const call_command& c) {
  return std::string(c.function->name());
}

inline void perform(const copy_command& c) noexcept {
  std::memcpy(c.to, c.from, c.bytes);
}
inline void perform(const fill_command& c) noexcept {
  std::memset(c.to, std::to_integer<int>(c.value), c.bytes);
}

}  // namespace graphline
