#pragma once

#include <cstdint>
#include <memory>

#include "framework/stage/stage.hpp"

namespace graphline {

/// What a `traffic` stage does with its tensor.
enum class traffic_method {
  read,   ///< adds up all elements, so that each is read
  write,  ///< sets another tensor of the same shape to zero
  copy,   ///< copies it to another tensor
};

traffic_method traffic_method_of(const arguments& values);

/// The cost for a tensor of `elements` float32.
cost traffic_cost(traffic_method method, std::int64_t elements);

/// The `traffic` stage on the compute threads of a `host` device.
std::unique_ptr<device_stage> make_host_traffic(device& d, const stage_config& config);

/// Adds up consecutive elements, as fast as one thread can read them: 32 sums in float32 for each
/// quarter, each of every 32nd element, then the sum of these. The result is the same on every
/// processor.
float sum_of(const float* from, std::int64_t count);

/// Copies consecutive elements with non-temporal stores if the processor has them, which unlike
/// ordinary stores do not read a line before they write it.
/// @pre `to` is aligned to 64 bytes
void copy_past_caches(float* to, const float* from, std::int64_t count);

/// Sets consecutive elements in the same way.
void write_past_caches(float* to, float value, std::int64_t count);

}  // namespace graphline
