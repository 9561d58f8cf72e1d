#pragma once

#include <cstdint>

namespace graphline {

/// Theoretical cost of an operation, independent of its implementation. One MAC is two FLOPs. Each
/// input and weight is read once and each output is written once. Element-wise layers, pools and
/// norms have no MACs. docs/costs.md lists the formulas of their FLOPs.
struct cost {
  std::int64_t parameters = 0;  ///< number of weight elements
  std::int64_t macs = 0;
  std::int64_t flops = 0;  ///< 2 * `macs` plus all other arithmetic
  std::int64_t bytes_read = 0;
  std::int64_t bytes_written = 0;
  std::int64_t bytes_rearranged = 0;  ///< additional bytes moved by implementations that copy data

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
