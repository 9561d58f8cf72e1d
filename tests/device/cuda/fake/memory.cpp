// Allocation, and the pages that a device's memory lies on.

#include "tests/device/cuda/fake/memory.hpp"

#include <sanitizer/asan_interface.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <system_error>

#include "tests/device/cuda/fake/api.hpp"
#include "tests/device/cuda/fake/fake_cuda.hpp"
#include "tests/device/cuda/fake/objects.hpp"

namespace fake_cuda {
namespace {

constexpr std::size_t usual_capacity = std::size_t{256} << 20;
constexpr std::size_t pinned_capacity = std::size_t{1} << 30;
constexpr std::size_t alignment = 256;

/// Fresh memory reads as anything; this reads as NaN.
constexpr int unwritten = 0xff;

constexpr std::size_t page = 4096;

constexpr std::size_t rounded(std::size_t bytes, std::size_t to) {
  return (bytes + to - 1) / to * to;
}

/// The memory of one device, which nobody can read or write but while it is open. Each block ends
/// where a page does, before one that is never open; the address sanitizer also minds what lies
/// beside it on its own pages.
class device_pages {
 public:
  std::byte* take(std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    const std::size_t size = rounded(rounded(bytes, alignment), page);
    void* const made =
        ::mmap(nullptr, size + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    if (users_ > 0) ::mprotect(made, size, PROT_READ | PROT_WRITE);
    std::byte* const block = static_cast<std::byte*>(made) + size - rounded(bytes, alignment);
    ASAN_POISON_MEMORY_REGION(made, size);
    ASAN_UNPOISON_MEMORY_REGION(block, bytes);
    sizes_[block] = {made, size};
    return block;
  }

  void give_back(std::byte* block) {
    const std::scoped_lock lock(mutex_);
    const auto [begin, size] = sizes_.at(block);
    ASAN_UNPOISON_MEMORY_REGION(begin, size);
    ::munmap(begin, size + page);
    sizes_.erase(block);
  }

  /// Open from the first `open` to as many `close`.
  void open() {
    const std::scoped_lock lock(mutex_);
    if (++users_ == 1) allow(PROT_READ | PROT_WRITE);
  }
  void close() {
    const std::scoped_lock lock(mutex_);
    if (--users_ == 0) allow(PROT_NONE);
  }

 private:
  void allow(int how) {
    for (const auto& [block, pages] : sizes_) ::mprotect(pages.first, pages.second, how);
  }

  std::mutex mutex_;
  std::map<std::byte*, std::pair<void*, std::size_t>> sizes_;  ///< the pages of each block
  int users_ = 0;
};

struct block {
  std::size_t bytes = 0;
  bool pinned = false;
  int device = 0;
};

struct heap {
  std::map<const std::byte*, block, std::greater<>> blocks;
  std::size_t capacity = usual_capacity;
  std::size_t pinned = 0;
};

heap& memory() {
  static heap* const only = new heap;
  return *only;
}

std::array<device_pages, machine::most_devices>& all_pages() {
  static auto* const only = new std::array<device_pages, machine::most_devices>;
  return *only;
}

/// Memory filled with what nobody has written; null when there is none.
void* new_block(const block& b) {
  const std::size_t size = rounded(b.bytes, alignment);
  if (b.pinned) {
    void* const made = std::aligned_alloc(alignment, size);
    if (made != nullptr) std::memset(made, unwritten, size);
    return made;
  }
  std::byte* const made = all_pages()[static_cast<std::size_t>(b.device)].take(b.bytes);
  const memory_access access(b.device);
  std::memset(made, unwritten, b.bytes);
  return made;
}

void free_block(const std::byte* data, const block& b) {
  auto* const whole = const_cast<std::byte*>(data);
  if (b.pinned) return std::free(whole);
  all_pages()[static_cast<std::size_t>(b.device)].give_back(whole);
}

std::size_t& used_of(const block& b) {
  return b.pinned ? memory().pinned : the_machine().devices[b.device].allocated;
}

cudaError_t allocate(void** data, block b) {
  if (data == nullptr) return cudaErrorInvalidValue;
  *data = nullptr;
  if (b.bytes == 0) return cudaSuccess;
  std::size_t& used = used_of(b);
  if (b.bytes > (b.pinned ? pinned_capacity : memory().capacity) - used) {
    return cudaErrorMemoryAllocation;
  }
  *data = new_block(b);
  if (*data == nullptr) return cudaErrorMemoryAllocation;
  memory().blocks[static_cast<std::byte*>(*data)] = b;
  used += b.bytes;
  return cudaSuccess;
}

/// Frees as CUDA does: once the devices have done what they were given.
cudaError_t release(locked& lock, void* data, bool pinned) {
  if (data == nullptr) return cudaSuccess;
  const auto given = static_cast<const std::byte*>(data);
  auto found = memory().blocks.find(given);
  if (found == memory().blocks.end() || found->second.pinned != pinned) {
    return cudaErrorInvalidValue;
  }
  the_machine().wait_for_device(lock, found->second.device);
  found = memory().blocks.find(given);
  if (found == memory().blocks.end()) return cudaErrorInvalidValue;  // freed by two threads
  used_of(found->second) -= found->second.bytes;
  free_block(given, found->second);
  memory().blocks.erase(found);
  return cudaSuccess;
}

int count_blocks(bool pinned) {
  int count = 0;
  for (const auto& [data, b] : memory().blocks) count += b.pinned == pinned ? 1 : 0;
  return count;
}

}  // namespace

memory_access::memory_access(int device) : device_(device) {
  all_pages()[static_cast<std::size_t>(device_)].open();
}

memory_access::~memory_access() {
  all_pages()[static_cast<std::size_t>(device_)].close();
}

std::optional<int> device_of(const void* data) {
  if (place_of(data, 1) != place::device) return std::nullopt;
  return memory().blocks.lower_bound(static_cast<const std::byte*>(data))->second.device;
}

place place_of(const void* data, std::size_t bytes) {
  const auto* const begin = static_cast<const std::byte*>(data);
  const auto found = memory().blocks.lower_bound(begin);  // the last that begins at or before it
  if (found == memory().blocks.end()) return place::elsewhere;
  const auto offset = static_cast<std::size_t>(begin - found->first);
  const block& b = found->second;
  if (offset >= b.bytes) return place::elsewhere;
  if (bytes > b.bytes - offset) return place::out_of_range;
  return b.pinned ? place::pinned : place::device;
}

std::size_t device_capacity() {
  return memory().capacity;
}

int count_device_blocks() {
  return count_blocks(false);
}

int count_pinned_blocks() {
  return count_blocks(true);
}

void release_all_memory() {
  for (const auto& [data, b] : memory().blocks) {
    used_of(b) -= b.bytes;
    free_block(data, b);
  }
  memory().blocks.clear();
  memory().capacity = usual_capacity;
}

void set_device_capacity(std::size_t bytes) {
  const locked lock(the_machine().mutex);
  memory().capacity = bytes;
}

}  // namespace fake_cuda

using namespace fake_cuda;

cudaError_t cudaMalloc(void** data, size_t bytes) {
  return api("cudaMalloc", [&](locked&) {
    if (const auto refused = refuse_unsafe(); refused != cudaSuccess) return refused;
    return allocate(data, {bytes, false, current_device()});
  });
}

cudaError_t cudaFree(void* data) {
  return api("cudaFree", call_kind::releasing, [&](locked& lock) {
    if (const auto refused = refuse_unsafe(); refused != cudaSuccess) return refused;
    return release(lock, data, false);
  });
}

cudaError_t cudaHostAlloc(void** data, size_t bytes, unsigned flags) {
  return api("cudaHostAlloc", [&](locked&) {
    constexpr unsigned known =
        cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if ((flags & ~known) != 0) return cudaErrorInvalidValue;
    if (const auto refused = refuse_unsafe(); refused != cudaSuccess) return refused;
    return allocate(data, {bytes, true, current_device()});
  });
}

cudaError_t cudaFreeHost(void* data) {
  return api("cudaFreeHost", call_kind::releasing, [&](locked& lock) {
    if (const auto refused = refuse_unsafe(); refused != cudaSuccess) return refused;
    return release(lock, data, true);
  });
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return api("cudaMemGetInfo", [&](locked&) {
    *total = memory().capacity;
    *free = memory().capacity - the_machine().devices[current_device()].allocated;
    return cudaSuccess;
  });
}
