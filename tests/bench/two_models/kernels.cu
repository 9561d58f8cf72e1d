#include "tests/bench/two_models/kernels.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "tests/bench/two_models/check.hpp"

namespace two_models {
namespace {

constexpr int threads = 256;
constexpr int lanes = 32;  // of a warp

/// Four neighboring elements, loaded at once.
template <class T>
struct alignas(4 * sizeof(T)) four {
  T at[4];
};

unsigned blocks_for(long count) {
  return static_cast<unsigned>((count + threads - 1) / threads);
}

void check_launch(const char* kernel) {
  check(cudaGetLastError(), kernel);
}

template <class T>
__global__ void to_channels_last_kernel(const float* from, T* to, int batch, int channels,
                                        int padded, int pixels) {
  const long i = static_cast<long>(blockIdx.x) * threads + threadIdx.x;
  if (i >= static_cast<long>(batch) * pixels) return;
  const float* const image = from + i / pixels * channels * pixels + i % pixels;
  for (int c = 0; c < padded; ++c) {
    const float value = c < channels ? image[static_cast<long>(c) * pixels] : 0.0F;
    to[i * padded + c] = static_cast<T>(value);
  }
}

template <class T>
__global__ void convert_kernel(const float* from, T* to, long count) {
  const long i = static_cast<long>(blockIdx.x) * threads + threadIdx.x;
  if (i < count) to[i] = static_cast<T>(from[i]);
}

/// A block is 32 x 8 threads: each warp goes over every eighth pixel, each lane over four channels.
template <class T>
__global__ void average_kernel(const four<T>* from, T* to, int pixels, int channels) {
  constexpr int warps = threads / lanes;
  const int quads = channels / 4;
  const int quad = static_cast<int>(blockIdx.x) * lanes + static_cast<int>(threadIdx.x);
  float sum[4] = {0, 0, 0, 0};
  if (quad < quads) {
    const four<T>* const image = from + static_cast<long>(blockIdx.y) * pixels * quads + quad;
#pragma unroll 8
    for (int p = static_cast<int>(threadIdx.y); p < pixels; p += warps) {
      const four<T> value = image[static_cast<long>(p) * quads];
      for (int k = 0; k < 4; ++k) sum[k] += static_cast<float>(value.at[k]);
    }
  }
  __shared__ float sums[warps][lanes][4];
  for (int k = 0; k < 4; ++k) sums[threadIdx.y][threadIdx.x][k] = sum[k];
  __syncthreads();
  if (threadIdx.y != 0 || quad >= quads) return;
  for (int k = 0; k < 4; ++k) {
    float total = 0;
    for (int w = 0; w < warps; ++w) total += sums[w][threadIdx.x][k];
    to[static_cast<long>(blockIdx.y) * channels + quad * 4 + k] =
        static_cast<T>(total / static_cast<float>(pixels));
  }
}

template <class T>
__global__ void add_bias_gelu_kernel(T* x, const T* bias, int count, int columns) {
  const int i = static_cast<int>(blockIdx.x) * threads + static_cast<int>(threadIdx.x);
  if (i >= count) return;
  const float value = static_cast<float>(x[i]) + static_cast<float>(bias[i % columns]);
  constexpr float inverse_root_of_two = 0.70710678118654752F;
  x[i] = static_cast<T>(0.5F * value * (1.0F + erff(value * inverse_root_of_two)));
}

/// One warp a row.
template <class T>
__global__ void dot_rows_kernel(const T* x, const T* w, const T* bias, float* y, int columns) {
  const long row = blockIdx.x;
  float sum = 0;
  for (int c = static_cast<int>(threadIdx.x); c < columns; c += lanes) {
    sum += static_cast<float>(x[row * columns + c]) * static_cast<float>(w[c]);
  }
  for (int distance = lanes / 2; distance > 0; distance /= 2) {
    sum += __shfl_down_sync(0xffffffffU, sum, static_cast<unsigned>(distance));
  }
  if (threadIdx.x == 0) y[row] = sum + static_cast<float>(bias[0]);
}

}  // namespace

template <class T>
void to_channels_last(const float* from, T* to, int batch, int channels, int padded, int pixels,
                      cudaStream_t stream) {
  to_channels_last_kernel<<<blocks_for(static_cast<long>(batch) * pixels), threads, 0, stream>>>(
      from, to, batch, channels, padded, pixels);
  check_launch("to_channels_last");
}

template <class T>
void convert(const float* from, T* to, long count, cudaStream_t stream) {
  convert_kernel<<<blocks_for(count), threads, 0, stream>>>(from, to, count);
  check_launch("convert");
}

template <class T>
void average(const T* from, T* to, int batch, int pixels, int channels, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>((channels / 4 + lanes - 1) / lanes),
                  static_cast<unsigned>(batch));
  average_kernel<<<grid, dim3(lanes, threads / lanes), 0, stream>>>(
      reinterpret_cast<const four<T>*>(from), to, pixels, channels);
  check_launch("average");
}

template <class T>
void add_bias_gelu(T* x, const T* bias, int rows, int columns, cudaStream_t stream) {
  const int count = rows * columns;
  add_bias_gelu_kernel<<<blocks_for(count), threads, 0, stream>>>(x, bias, count, columns);
  check_launch("add_bias_gelu");
}

template <class T>
void dot_rows(const T* x, const T* w, const T* bias, float* y, int rows, int columns,
              cudaStream_t stream) {
  dot_rows_kernel<<<static_cast<unsigned>(rows), lanes, 0, stream>>>(x, w, bias, y, columns);
  check_launch("dot_rows");
}

#define TWO_MODELS_KERNELS_FOR(T)                                                     \
  template void to_channels_last(const float*, T*, int, int, int, int, cudaStream_t); \
  template void convert(const float*, T*, long, cudaStream_t);                        \
  template void average(const T*, T*, int, int, int, cudaStream_t);                   \
  template void add_bias_gelu(T*, const T*, int, int, cudaStream_t);                  \
  template void dot_rows(const T*, const T*, const T*, float*, int, int, cudaStream_t);

TWO_MODELS_KERNELS_FOR(float)
TWO_MODELS_KERNELS_FOR(__half)
TWO_MODELS_KERNELS_FOR(__nv_bfloat16)

}  // namespace two_models
