#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "framework/device/device.hpp"

namespace graphline {

/// Device memory for the constants of a stage. The stages made for the buckets of one stage share
/// it, so that each constant exists once. Contents of equal size and equal 128-bit hash count as
/// equal.
class shared_constants {
 public:
  /// The device must outlive this object.
  explicit shared_constants(device& d) : device_(d) {}

  /// Returns the address of each of `contents` in device memory, aligned to 256 bytes and valid as
  /// long as this object. Copies new contents into one allocation and waits for the copies; from
  /// pinned memory they are fastest.
  std::vector<std::byte*> keep(const std::vector<std::span<const std::byte>>& contents);

 private:
  struct content_id {
    std::size_t bytes = 0;
    std::uint64_t hash = 0;
    std::uint64_t other_hash = 0;

    auto operator<=>(const content_id&) const = default;
  };
  static content_id id_of(std::span<const std::byte> content) noexcept;

  device& device_;
  std::vector<memory> blocks_;
  std::map<content_id, std::byte*> known_;
};

}  // namespace graphline
