#pragma once

// The kernels that cuDNN and cuBLASLt have nothing for. T is float, __half or __nv_bfloat16; sums
// and the functions themselves are in float. Each throws nothing and enqueues one kernel.

#include <cuda_runtime_api.h>

namespace two_models {

/// Image of float32 [batch, channels, pixels] to T [batch, pixels, padded], zeros in the channels
/// beyond.
template <class T>
void to_channels_last(const float* from, T* to, int batch, int channels, int padded, int pixels,
                      cudaStream_t stream);

/// Float32 values to T.
template <class T>
void convert(const float* from, T* to, long count, cudaStream_t stream);

/// Mean over the pixels: T [batch, pixels, channels] to T [batch, channels]; the channels are a
/// multiple of four.
template <class T>
void average(const T* from, T* to, int batch, int pixels, int channels, cudaStream_t stream);

/// x = gelu(x + bias), exact, on T [rows, columns] with one bias a column.
template <class T>
void add_bias_gelu(T* x, const T* bias, int rows, int columns, cudaStream_t stream);

/// y[row] = x[row] . w + bias, with T [rows, columns], into float32.
template <class T>
void dot_rows(const T* x, const T* w, const T* bias, float* y, int rows, int columns,
              cudaStream_t stream);

}  // namespace two_models
