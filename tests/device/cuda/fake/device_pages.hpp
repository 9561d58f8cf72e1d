#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace fake_cuda {

/// The memory of one device: a range of addresses of its own, which nobody can read or write but
/// while it is open. Blocks end where a page does, and at least a page lies between two; under the
/// address sanitizer what is between them is out of reach even then.
class device_pages {
 public:
  /// Zero bytes are none. Null where the range has no room left.
  std::byte* take(std::size_t bytes, std::size_t alignment);
  void give_back(std::byte* block);

  /// Open from the first `open` to as many `close`.
  void open();
  void close();

  bool holds(const void* address) const;

 private:
  void allow(std::size_t begin, std::size_t end, int how);
  std::byte* range();

  mutable std::mutex mutex_;
  std::byte* range_ = nullptr;                ///< once something was taken
  std::map<std::size_t, std::size_t> taken_;  ///< where pages that are in use begin and end
  std::size_t used_ = 0;                      ///< where all that was ever taken ends
  int users_ = 0;
};

}  // namespace fake_cuda
