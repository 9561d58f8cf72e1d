#pragma once

#include <cstddef>
#include <type_traits>
#include <variant>

#include "framework/device/host/host_device.hpp"
#include "framework/device/host/recording.hpp"

namespace graphline {

class host_event;
class lane;
struct captured_graph;

/// A point in a lane that has to be passed first; without a lane there is none.
struct dependency {
  const lane* on = nullptr;
  ticket at = 0;
};

struct operate_command {
  host_operation* operation;
};

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

/// Marks a point in the lane; `stamped` is the event to stamp, or null when it keeps no time.
struct record_command {
  host_event* stamped;
};

struct wait_command {
  dependency after;
};

/// Every node of a graph, once the previous launch of the same executable is done.
struct launch_command {
  const captured_graph* graph;
  dependency after;
};

/// What a stream asks of the worker: plain data, so that submitting is a copy into a ring.
using command = std::variant<operate_command, copy_command, fill_command, record_command,
                             wait_command, launch_command>;

static_assert(std::is_trivially_copyable_v<command> && sizeof(command) <= 32);

}  // namespace graphline
