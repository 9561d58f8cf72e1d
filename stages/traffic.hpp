#pragma once

#include <memory>

#include "framework/stage/stage.hpp"

namespace graphline {

/// What the `traffic` stage does with its tensor.
enum class traffic_method {
  read,   ///< adds all elements up, so that none of them can go unread
  write,  ///< sets another tensor of the same shape to zero, and reads nothing
  copy,   ///< writes them to another tensor
};

traffic_method traffic_method_of(const arguments& values);

/// What it amounts to on a tensor of so many float32.
cost traffic_cost(traffic_method method, std::int64_t elements);

/// The `traffic` stage on a `host` device, by its compute threads.
std::unique_ptr<device_stage> make_traffic_host(device& d, const stage_config& config);

}  // namespace graphline
