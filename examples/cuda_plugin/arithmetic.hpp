#pragma once

// The arithmetic of my.normalize, shared by GPU and CPU, so tests on a CPU cover the kernel.

#include <algorithm>
#include <cstdint>

#ifdef __CUDACC__
#define HOST_AND_DEVICE __host__ __device__
#else
#define HOST_AND_DEVICE
#endif

namespace my {

/// Packed float32 images [n, c, h, w] and the constants of their channels, in device memory.
struct normalization {
  const float* in;
  float* out;
  const float* mean;       ///< [c]
  const float* deviation;  ///< [c]
  std::int64_t channels;   ///< c
  std::int64_t planes;     ///< n * c
  std::int64_t plane;      ///< h * w
};

/// Position of a thread in a grid of `columns` times `rows` blocks of `threads` threads.
struct grid_position {
  std::int64_t column, columns;
  std::int64_t row, rows;
  std::int64_t thread, threads;
};

/// Does the work of one thread. A row of blocks processes whole planes, so each thread computes the
/// channel once per plane, and neighboring threads access neighboring elements.
///
/// A subtraction and a division give the same bits on CPU and GPU. A multiplication and an addition
/// may not, because a compiler can fuse them.
HOST_AND_DEVICE inline void normalize_share(const normalization& n, const grid_position& at) {
  for (std::int64_t p = at.row; p < n.planes; p += at.rows) {
    const float mean = n.mean[p % n.channels];
    const float deviation = n.deviation[p % n.channels];
    const float* const in = n.in + p * n.plane;
    float* const out = n.out + p * n.plane;
    const std::int64_t step = at.columns * at.threads;
    for (std::int64_t i = at.column * at.threads + at.thread; i < n.plane; i += step) {
      out[i] = (in[i] - mean) / deviation;
    }
  }
}

constexpr int threads_per_block = 256;

/// Size of the grid; CUDA allows at most 65535 rows.
struct grid_extents {
  unsigned columns, rows;
};

inline grid_extents grid_for(const normalization& n) {
  constexpr std::int64_t elements_per_block = 4 * threads_per_block;
  const std::int64_t columns = (n.plane + elements_per_block - 1) / elements_per_block;
  return {static_cast<unsigned>(std::min<std::int64_t>(columns, 65535)),
          static_cast<unsigned>(std::min<std::int64_t>(n.planes, 65535))};
}

}  // namespace my
