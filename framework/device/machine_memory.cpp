#include "framework/device/machine_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "framework/base/error.hpp"
#include "framework/base/machine.hpp"
#include "framework/base/units.hpp"

namespace graphline {
namespace {

/// Allocates a block. Large blocks get huge pages, if available, to avoid TLB misses.
void* allocate_block(std::size_t bytes) {
  constexpr std::size_t huge_page = std::size_t{2} << 20;
  constexpr std::size_t line = 256;
  const std::size_t whole = bytes / huge_page * huge_page;
  const std::size_t alignment = whole > 0 ? huge_page : line;
  const std::size_t rounded = (bytes + line - 1) / line * line;
  // std::aligned_alloc accepts only multiples of the alignment.
  void* data = nullptr;
  if (::posix_memalign(&data, alignment, rounded) != 0) return nullptr;
#ifdef MADV_HUGEPAGE
  // The last, partial huge page is excluded because it would take more memory than requested.
  if (whole > 0) ::madvise(data, whole, MADV_HUGEPAGE);
#endif
  return data;
}

void release_block(void* from, void* data, std::size_t bytes) noexcept {
  static_cast<memory_account*>(from)->bytes.fetch_sub(bytes);
  std::free(data);
}

}  // namespace

memory machine_memory::allocate(memory_account& to, std::size_t bytes, const char* kind) {
  if (bytes == 0) return {};
  // Checked first, because Linux overcommits and would kill the program later. Reading the
  // limits takes 0.7 ms, so blocks of less than a megabyte are checked together.
  constexpr std::size_t between_looks = std::size_t{1} << 20;
  std::optional<std::uint64_t> available;
  if (since_look_.fetch_add(bytes) + bytes > between_looks) {
    since_look_ = 0;
    available = available_memory();
  }
  void* data = nullptr;
  if (bytes <= available.value_or(bytes)) {
    data = allocate_block(bytes);
  }
  if (data == nullptr) {
    throw run_error(fmt::format(
        "cannot allocate {} of {} memory on the {} device{}; use smaller tensors or fewer frames "
        "in flight",
        format_bytes(bytes), kind, on_,
        available ? fmt::format(": {} is available", format_bytes(*available)) : ""));
  }
  // Floats read as NaN, which exposes uninitialized reads. The write also makes the system provide
  // all pages before anything is timed.
  constexpr unsigned char unwritten = 0xff;
  std::memset(data, unwritten, bytes);

  to.add(bytes);
  return memory(data, bytes, &to, &release_block);
}

}  // namespace graphline
