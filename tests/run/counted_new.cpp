#include "tests/run/counted_new.hpp"

#include <cstdlib>
#include <limits>
#include <new>

namespace counted_new {
std::atomic<long> allocations{0};
std::atomic<long> bytes{0};
std::atomic<long> largest{std::numeric_limits<long>::max()};
}  // namespace counted_new

using counted_new::allocations;

// Every form of operator new in use ends in one of the first two; the third does so by itself but
// under the address sanitizer, whose forms do not call each other. GCC takes the inlined malloc and
// free for a mismatch with the library's own operators.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  counted_new::bytes.fetch_add(static_cast<long>(size), std::memory_order_relaxed);
  if (static_cast<long>(size) > counted_new::largest) throw std::bad_alloc();
  if (void* p = std::malloc(size == 0 ? 1 : size)) return p;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  const auto a = static_cast<std::size_t>(alignment);
  if (void* p = std::aligned_alloc(a, (size + a - 1) / a * a)) return p;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}
