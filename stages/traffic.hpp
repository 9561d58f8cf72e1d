#pragma once

#include <cstdint>
#include <memory>

#include "framework/stage/stage.hpp"

namespace graphline {

/// What a `traffic` stage does with its tensor.
enum class traffic_method {
  read,   ///< adds up all elements, so that each is read
  write,  ///< sets a second tensor of the same shape to zero
  copy,   ///< copies the tensor to a second one
};

traffic_method traffic_method_of(const arguments& values);

/// Returns the cost for a tensor of `elements` float32 elements.
cost traffic_cost(traffic_method method, std::int64_t elements);

/// Makes the `traffic` stage, which runs on the compute threads of a `host` device.
std::unique_ptr<device_stage> make_host_traffic(device& d, const stage_config& config);

/// Adds up consecutive elements as fast as one thread can read them. Each quarter is added in 32
/// float32 sums, each of every 32nd element; then these sums are added. The result is the same on
/// every processor.
float sum_of(const float* from, std::int64_t count);

/// Copies consecutive elements, with non-temporal stores if the processor has AVX2. Unlike ordinary
/// stores, these do not read a cache line before they write it.
/// @pre `to` is aligned to 64 bytes
void copy_past_caches(float* to, const float* from, std::int64_t count);

/// Sets consecutive elements, with the same kind of stores.
void write_past_caches(float* to, float value, std::int64_t count);

}  // namespace graphline
