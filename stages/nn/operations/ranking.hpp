#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace graphline::nn {

/// A value and its index in one integer, which is fast to compare. Sorts as PyTorch does: NaN
/// first, then by falling value (-0 equals +0), then by rising index. The index must be below 2^32.
class ranked {
 public:
  ranked() = default;
  ranked(float value, std::uint32_t index) noexcept
      : key_(std::uint64_t{ordered_bits(value)} << 32 | static_cast<std::uint32_t>(~index)) {}

  std::uint32_t index() const noexcept { return ~static_cast<std::uint32_t>(key_); }

  /// Returns true if this comes before `other`.
  bool operator<(const ranked& other) const noexcept { return key_ > other.key_; }

 private:
  /// Returns the bits of a float, changed so that they sort as unsigned integers.
  static std::uint32_t ordered_bits(float value) noexcept {
    if (std::isnan(value)) return std::numeric_limits<std::uint32_t>::max();
    const auto bits = std::bit_cast<std::uint32_t>(value + 0.0F);  // -0 becomes +0
    constexpr std::uint32_t sign = 0x80000000U;
    return (bits & sign) != 0 ? ~bits : bits | sign;
  }

  std::uint64_t key_ = 0;
};

}  // namespace graphline::nn
