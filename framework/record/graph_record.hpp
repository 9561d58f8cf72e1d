#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/device/device.hpp"

namespace graphline {

/// What a graph cost before the first frame and what it spares the host in each. Nanoseconds by the
/// host's clock.
struct graph_record {
  std::string name;               ///< of the stage, or "frame"
  std::vector<graph_node> nodes;  ///< in an order that satisfies every dependency
  std::size_t operations = 0;     ///< nodes that compute
  std::size_t executables = 0;    ///< one per frame in flight; the three below are of all together
  nanoseconds capture = 0;
  nanoseconds instantiate = 0;   ///< with its way to the device
  nanoseconds first_launch = 0;  ///< from the first launch of an executable until it is complete

  // Repetitions after that, of one executable: fewer of what takes long. A frame's CPU stages did
  // nothing in them.
  std::vector<nanoseconds> later_launch;  ///< from launch until complete
  std::vector<nanoseconds> launch;        ///< of the host, to launch
  std::vector<nanoseconds> eager;         ///< of the host, to enqueue the same one by one
};

}  // namespace graphline
