#include "tests/device/cuda/fake/device_pages.hpp"

#include <sanitizer/asan_interface.h>
#include <sys/mman.h>

#include <cerrno>
#include <iterator>
#include <system_error>

namespace fake_cuda {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t range_bytes = std::size_t{1} << 36;

constexpr std::size_t rounded(std::size_t bytes, std::size_t to) {
  return (bytes + to - 1) / to * to;
}

}  // namespace

std::byte* device_pages::range() {
  if (range_ != nullptr) return range_;
  void* const made =
      ::mmap(nullptr, range_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  return range_ = static_cast<std::byte*>(made);
}

void device_pages::allow(std::size_t begin, std::size_t end, int how) {
  if (begin == end) return;
  if (::mprotect(range() + begin, end - begin, how) != 0) {
    throw std::system_error(errno, std::generic_category(), "mprotect");
  }
}

std::byte* device_pages::take(std::size_t bytes, std::size_t alignment) {
  const std::scoped_lock lock(mutex_);
  const std::size_t size = rounded(rounded(bytes, alignment), page) + page;
  std::size_t begin = 0;
  for (const auto& [from, to] : taken_) {
    if (from - begin >= size) break;
    begin = to;
  }
  const std::size_t end = begin + size;
  if (end > range_bytes) return nullptr;
  taken_[begin] = end;
  if (end > used_) {
    if (users_ > 0) allow(used_, end, PROT_READ | PROT_WRITE);
    used_ = end;
  }
  std::byte* const block = range() + end - page - rounded(bytes, alignment);
  ASAN_POISON_MEMORY_REGION(range() + begin, size);
  ASAN_UNPOISON_MEMORY_REGION(block, bytes);
  return block;
}

void device_pages::give_back(std::byte* block) {
  const std::scoped_lock lock(mutex_);
  const auto at = static_cast<std::size_t>(block - range_);
  const auto found = std::prev(taken_.upper_bound(at));
  ASAN_POISON_MEMORY_REGION(range() + found->first, found->second - found->first);
  ::madvise(range() + found->first, found->second - found->first, MADV_DONTNEED);
  taken_.erase(found);
}

void device_pages::open() {
  const std::scoped_lock lock(mutex_);
  if (++users_ == 1) allow(0, used_, PROT_READ | PROT_WRITE);
}

void device_pages::close() {
  const std::scoped_lock lock(mutex_);
  if (--users_ == 0) allow(0, used_, PROT_NONE);
}

bool device_pages::holds(const void* address) const {
  const std::scoped_lock lock(mutex_);
  const auto* const at = static_cast<const std::byte*>(address);
  return range_ != nullptr && at >= range_ && at < range_ + range_bytes;
}

}  // namespace fake_cuda
