// Allocation, and the pages that a device's memory lies on.

#include "tests/device/cuda/fake/memory.hpp"

#include <sanitizer/asan_interface.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
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

/// The memory of one device: a range of addresses of its own, which nobody can read or write but
/// while it is open. Blocks end where a page does, and at least a page lies between two; under the
/// address sanitizer what is between them is out of reach even then.
class device_pages {
 public:
  /// Zero bytes are none. Null where the range has no room left.
  std::byte* take(std::size_t bytes);
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

constexpr std::size_t page = 4096;
constexpr std::size_t range_bytes = std::size_t{1} << 36;

constexpr std::size_t rounded(std::size_t bytes, std::size_t to) {
  return (bytes + to - 1) / to * to;
}

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

std::byte* device_pages::take(std::size_t bytes) {
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

struct sigaction before_us;

/// Says what is wrong where a process is about to end for want of right to an address.
void explain(int /*signal*/, siginfo_t* info, void* /*context*/) {
  constexpr std::string_view text =
      "\nfake CUDA: the host touched device memory, which only kernels, copies and fills may\n";
  if (std::ranges::any_of(all_pages(),
                          [&](const auto& pages) { return pages.holds(info->si_addr); })) {
    static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
  }
  ::sigaction(SIGSEGV, &before_us, nullptr);  // and the access is tried once more
}

void explain_faults() {
  static const bool done = [] {
    struct sigaction ours {};
    ours.sa_sigaction = &explain;
    ours.sa_flags = SA_SIGINFO;
    return ::sigaction(SIGSEGV, &ours, &before_us) == 0;
  }();
  static_cast<void>(done);
}

/// Memory filled with what nobody has written; null when there is none.
void* new_block(const block& b) {
  const std::size_t size = rounded(b.bytes, alignment);
  if (b.pinned) {
    void* const made = std::aligned_alloc(alignment, size);
    if (made != nullptr) std::memset(made, unwritten, size);
    return made;
  }
  explain_faults();
  device_pages& pages = all_pages()[static_cast<std::size_t>(b.device)];
  std::byte* const made = pages.take(b.bytes);
  const memory_access access(b.device);
  if (made != nullptr) std::memset(made, unwritten, b.bytes);
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

void release_memory_of(int device) {
  std::erase_if(memory().blocks, [&](const auto& entry) {
    if (entry.second.device != device) return false;
    used_of(entry.second) -= entry.second.bytes;
    free_block(entry.first, entry.second);
    return true;
  });
}

void release_all_memory() {
  for (int i = 0; i < machine::most_devices; ++i) release_memory_of(i);
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
