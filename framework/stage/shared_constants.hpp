#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace graphline {

class device;

/// Device memory for the constants of a stage. The stages made for the buckets of one stage share
/// it, so that each constant exists once.
class shared_constants {
 public:
  explicit shared_constants(device& d);
  ~shared_constants();
  shared_constants(const shared_constants&) = delete;
  shared_constants& operator=(const shared_constants&) = delete;

  /// Returns the address of each of `contents` in device memory, aligned to 256 bytes and valid as
  /// long as this object. Copies those whose bytes are not there yet, into one allocation.
  std::vector<std::byte*> keep(const std::vector<std::span<const std::byte>>& contents);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace graphline
