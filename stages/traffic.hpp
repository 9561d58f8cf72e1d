#pragma once

#include <cstdint>
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
std::unique_ptr<device_stage> make_host_traffic(device& d, const stage_config& config);

/// The sum of elements in a row, as fast as one thread can read them: in 32 sums of float32 for
/// each quarter of them, each of every 32nd element, that are added up in the end. The same for
/// every processor.
float sum_of(const float* from, std::int64_t count);

/// Copies elements in a row, past the caches where the processor can: what is written is not read
/// before, as it is with ordinary stores. `to` is aligned to 64 bytes.
void copy_past_caches(float* to, const float* from, std::int64_t count);

/// Sets elements in a row in the same way.
void write_past_caches(float* to, float value, std::int64_t count);

}  // namespace graphline
