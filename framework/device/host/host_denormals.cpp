#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include <cstdint>

#include "framework/device/host/host_worker.hpp"

namespace graphline {
namespace {

/// Sets whether the calling thread flushes denormals to zero.
void set_denormals(bool flush) noexcept {
#if defined(__SSE2__)
  constexpr unsigned int flush_to_zero = 0x8040;  // results (FTZ) and operands (DAZ)
  _mm_setcsr(flush ? _mm_getcsr() | flush_to_zero : _mm_getcsr() & ~flush_to_zero);
#elif defined(__aarch64__)
  constexpr std::uint64_t flush_to_zero = std::uint64_t{1} << 24;
  std::uint64_t control = 0;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  control = flush ? control | flush_to_zero : control & ~flush_to_zero;
  asm volatile("msr fpcr, %0" : : "r"(control));
#else
  static_cast<void>(flush);
#endif
}

}  // namespace

/// Sets the mode of the worker and its OpenMP team. Threads that join later inherit it.
void host_worker::flush_denormals(bool flush) noexcept {
  if (flush == flushes_denormals_) return;
  flushes_denormals_ = flush;
  // LLVM's OpenMP restores a thread's mode after a parallel region, so set it outside one too.
  set_denormals(flush);
#pragma omp parallel
  set_denormals(flush);
}

}  // namespace graphline
