#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <variant>

#include "framework/device/host/host_device.hpp"
#include "framework/device/host/recording.hpp"

namespace graphline {

class graph_run;
class host_event;
class lane;
struct graph_replay;

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

/// Done when the function has returned, on the caller thread.
struct call_command {
  host_function* function;
};

/// Stamps an event from inside a graph; outside, a recording does.
struct stamp_command {
  host_event* stamped;
};

/// Marks a point in the lane; `stamped` is the event to stamp, or null when it keeps no time.
struct record_command {
  host_event* stamped;
};

struct wait_command {
  dependency after;
};

/// Every node of a graph without calls, once the previous launch of the same executable is done.
struct launch_command {
  graph_replay* replay;
  dependency after;
};

/// The same of a graph with calls.
struct run_command {
  graph_run* run;
  dependency after;
};

/// What a stream asks of the worker: plain data, so that submitting is a copy into a ring.
using command =
    std::variant<operate_command, copy_command, fill_command, call_command, stamp_command,
                 record_command, wait_command, launch_command, run_command>;

static_assert(std::is_trivially_copyable_v<command> && sizeof(command) <= 32);

/// Whether the worker has to carry it out, rather than pass it or hand it over.
inline bool is_work(const command& c) noexcept {
  return std::holds_alternative<operate_command>(c) || std::holds_alternative<copy_command>(c) ||
         std::holds_alternative<fill_command>(c);
}

/// What a command that can be a node of a graph is called in listings, traces and messages.
std::string name_of(const command& c);

}  // namespace graphline
