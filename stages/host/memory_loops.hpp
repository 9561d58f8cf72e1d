#pragma once

#include <cstdint>
#include <string_view>

namespace graphline {

/// The sum of elements in a row, as fast as one thread can read them: in 128 sums of float32, each
/// of every 128th element, that are added up in the end. The same for every processor.
float sum_of(const float* from, std::int64_t count);

/// What `sum_of` is carried out with on this processor: "AVX-512".
std::string_view sum_instructions() noexcept;

/// Copies elements in a row, past the caches where the processor can: what is written is not read
/// before, as it is with ordinary stores. `to` is aligned to 16 bytes.
void copy_past_caches(float* to, const float* from, std::int64_t count);

/// What `copy_past_caches` is carried out with.
std::string_view copy_instructions() noexcept;

}  // namespace graphline
