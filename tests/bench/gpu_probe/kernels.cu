#include "tests/bench/gpu_probe/probe.hpp"

namespace gpu_probe {
namespace {

__device__ long long global_timer() {
  long long now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void empty_kernel() {}

__global__ void busy_kernel(long long nanoseconds) {
  const long long begin = global_timer();
  while (global_timer() - begin < nanoseconds) {
  }
}

__global__ void timer_changes_kernel(long long* to, int count) {
  long long last = 0;
  for (int found = 0; found < count;) {
    const long long now = global_timer();
    if (now != last) to[found++] = last = now;
  }
}

}  // namespace

void enqueue_empty(cudaStream_t stream) {
  empty_kernel<<<1, 1, 0, stream>>>();
  check(cudaGetLastError(), "empty_kernel");
}

void enqueue_busy(cudaStream_t stream, long long nanoseconds) {
  busy_kernel<<<1, 32, 0, stream>>>(nanoseconds);
  check(cudaGetLastError(), "busy_kernel");
}

void enqueue_timer_changes(cudaStream_t stream, long long* to, int count) {
  timer_changes_kernel<<<1, 1, 0, stream>>>(to, count);
  check(cudaGetLastError(), "timer_changes_kernel");
}

}  // namespace gpu_probe
