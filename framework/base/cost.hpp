#pragma once

#include <cstdint>

namespace graphline {

/// Theoretical cost of an operation, independent of its implementation. One MAC is two FLOPs. Bytes
/// count each input, weight and output once. Element-wise layers, pools and norms count the
/// arithmetic of their formula in `flops` and no MACs. docs/costs.md has every formula.
struct cost {
  std::int64_t parameters = 0;  ///< number of weight elements
  std::int64_t macs = 0;
  std::int64_t flops = 0;  ///< 2 * macs plus the rest
  std::int64_t bytes_read = 0;
  std::int64_t bytes_written = 0;
  std::int64_t bytes_rearranged = 0;  ///< extra traffic of an implementation that copies data

  cost& operator+=(const cost& other) noexcept {
    parameters += other.parameters;
    macs += other.macs;
    flops += other.flops;
    bytes_read += other.bytes_read;
    bytes_written += other.bytes_written;
    bytes_rearranged += other.bytes_rearranged;
    return *this;
  }
};

}  // namespace graphline
