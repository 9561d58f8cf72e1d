#pragma once

#include <cstdint>
#include <optional>

#include "framework/base/precision.hpp"

namespace graphline {

/// What a stage or a part of one amounts to in a frame, as it was carried out: counted as
/// docs/costs.md says, without what only passed between layers that were computed as one. Absent:
/// not known.
struct cost_record {
  std::optional<std::int64_t> flops;
  std::optional<std::int64_t> bytes_read;
  std::optional<std::int64_t> bytes_written;
  precision arithmetic = precision::float32;  ///< of its products
  friend bool operator==(const cost_record&, const cost_record&) = default;
};

/// Read and written together; not known where one of them is not.
inline std::optional<std::int64_t> bytes_of(const cost_record& cost) {
  if (!cost.bytes_read || !cost.bytes_written) return std::nullopt;
  return *cost.bytes_read + *cost.bytes_written;
}

}  // namespace graphline
