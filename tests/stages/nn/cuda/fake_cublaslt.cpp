// The subset of cuBLASLt in use, for float32 in host memory, without a GPU. It checks attribute
// sizes against the header, refuses inconsistent layouts and misaligned memory, and multiplies in
// column-major order.

#include <cublasLt.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace {

struct product {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  cublasOperation_t left = CUBLAS_OP_N;
  cublasOperation_t right = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const float* bias = nullptr;

  bool has_bias() const {
    return epilogue == CUBLASLT_EPILOGUE_BIAS || epilogue == CUBLASLT_EPILOGUE_RELU_BIAS;
  }
  bool has_relu() const {
    return epilogue == CUBLASLT_EPILOGUE_RELU || epilogue == CUBLASLT_EPILOGUE_RELU_BIAS;
  }
};

struct layout {
  cudaDataType_t type;
  std::uint64_t rows;
  std::uint64_t columns;
  std::int64_t leading;
  std::int32_t batch = 1;
  std::int64_t stride = 0;

  bool operator==(const layout&) const = default;

  const float* at(const void* data, std::int32_t matrix, std::uint64_t row, std::uint64_t column,
                  cublasOperation_t transposition) const {
    if (transposition == CUBLAS_OP_T) std::swap(row, column);
    return static_cast<const float*>(data) + matrix * stride +
           static_cast<std::int64_t>(column) * leading + static_cast<std::int64_t>(row);
  }
};

struct preference {
  std::uint64_t workspace = 0;
  std::uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_MASK;
  std::uint32_t left = 256;  ///< what divides the addresses, as the three below
  std::uint32_t right = 256;
  std::uint32_t added = 256;
  std::uint32_t result = 256;
};

/// Contents of an algorithm's words; the last one stands for bytes that cuBLASLt leaves as they
/// are.
enum algorithm_word { number, workspace_bytes, left, right, result, bias, uninitialized = 7 };
constexpr std::uintptr_t workspace_alignment = 256;

product* as_product(cublasLtMatmulDesc_t p) {
  return reinterpret_cast<product*>(p);
}
layout* as_layout(cublasLtMatrixLayout_t p) {
  return reinterpret_cast<layout*>(p);
}
preference* as_preference(cublasLtMatmulPreference_t p) {
  return reinterpret_cast<preference*>(p);
}

template <class Value>
cublasStatus_t take(Value& to, const void* from, std::size_t bytes) {
  if (bytes != sizeof(Value)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&to, from, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

template <class Value>
cublasStatus_t give(const Value& from, void* to, std::size_t bytes, std::size_t* written) {
  if (bytes != sizeof(Value)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(to, &from, bytes);
  *written = bytes;
  return CUBLAS_STATUS_SUCCESS;
}

std::uint64_t rows_of(const layout& l, cublasOperation_t t) {
  return t == CUBLAS_OP_T ? l.columns : l.rows;
}
std::uint64_t columns_of(const layout& l, cublasOperation_t t) {
  return t == CUBLAS_OP_T ? l.rows : l.columns;
}

/// Type combinations with float32 accumulation in the manual's table.
bool has_types(const product& p, cudaDataType_t element) {
  const bool tf32 = p.compute == CUBLAS_COMPUTE_32F_FAST_TF32;
  const bool whole = element == CUDA_R_32F;
  const bool half = element == CUDA_R_16F || element == CUDA_R_16BF;
  return p.scale == CUDA_R_32F && (p.compute == CUBLAS_COMPUTE_32F || tf32) &&
         (whole || (half && !tf32));
}

bool fit(const product& p, const layout& left, const layout& right, const layout& added,
         const layout& result) {
  for (const layout& l : {left, right, result}) {
    if (l.leading < static_cast<std::int64_t>(l.rows) || l.batch != result.batch ||
        l.type != result.type) {
      return false;
    }
  }
  return added == result && has_types(p, result.type) && rows_of(left, p.left) == result.rows &&
         columns_of(right, p.right) == result.columns &&
         columns_of(left, p.left) == rows_of(right, p.right) &&
         (result.batch == 1 || result.stride != 0) && p.has_bias() == (p.bias != nullptr);
}

bool divides(std::uint64_t alignment, const void* address) {
  return alignment == 0 || reinterpret_cast<std::uintptr_t>(address) % alignment == 0;
}

/// For every matrix of a batch.
bool divides(std::uint64_t alignment, const layout& l, const void* data) {
  for (std::int32_t i = 0; i < l.batch; ++i) {
    if (!divides(alignment, l.at(data, i, 0, 0, CUBLAS_OP_N))) return false;
  }
  return true;
}

}  // namespace

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  static int something = 0;
  *handle = reinterpret_cast<cublasLtHandle_t>(&something);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t) {
  return CUBLAS_STATUS_SUCCESS;
}
std::size_t cublasLtGetVersion() {
  return 130102;
}
const char* cublasLtGetStatusName(cublasStatus_t status) {
  return status == CUBLAS_STATUS_NOT_SUPPORTED ? "NOT_SUPPORTED" : "OTHER";
}
const char* cublasLtGetStatusString(cublasStatus_t) {
  return "told in words";
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* p, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  *p = reinterpret_cast<cublasLtMatmulDesc_t>(new product{compute, scale});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t p) {
  delete as_product(p);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t p,
                                              cublasLtMatmulDescAttributes_t which,
                                              const void* value, std::size_t bytes) {
  product& to = *as_product(p);
  if (which == CUBLASLT_MATMUL_DESC_TRANSA) return take(to.left, value, bytes);
  if (which == CUBLASLT_MATMUL_DESC_TRANSB) return take(to.right, value, bytes);
  if (which == CUBLASLT_MATMUL_DESC_EPILOGUE) return take(to.epilogue, value, bytes);
  if (which == CUBLASLT_MATMUL_DESC_BIAS_POINTER) return take(to.bias, value, bytes);
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* p, cudaDataType type,
                                          std::uint64_t rows, std::uint64_t columns,
                                          std::int64_t leading) {
  *p = reinterpret_cast<cublasLtMatrixLayout_t>(new layout{type, rows, columns, leading});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t p) {
  delete as_layout(p);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t p,
                                                cublasLtMatrixLayoutAttribute_t which,
                                                const void* value, std::size_t bytes) {
  layout& to = *as_layout(p);
  if (which == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) return take(to.batch, value, bytes);
  if (which == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET) return take(to.stride, value, bytes);
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* p) {
  *p = reinterpret_cast<cublasLtMatmulPreference_t>(new preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t p) {
  delete as_preference(p);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t p,
                                                    cublasLtMatmulPreferenceAttributes_t which,
                                                    const void* value, std::size_t bytes) {
  preference& to = *as_preference(p);
  if (which == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) return take(to.workspace, value, bytes);
  if (which == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK) return take(to.reductions, value, bytes);
  std::uint64_t implementations = 0;
  if (which == CUBLASLT_MATMUL_PREF_IMPL_MASK) return take(implementations, value, bytes);
  if (which == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES) return take(to.left, value, bytes);
  if (which == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES) return take(to.right, value, bytes);
  if (which == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES) return take(to.added, value, bytes);
  if (which == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES) return take(to.result, value, bytes);
  return CUBLAS_STATUS_INVALID_VALUE;
}

/// Three algorithms, the second on tensor cores; none for a depth of 13. Each relies on the stated
/// alignments; the bias's is its pointer's.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t description,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preferred, int requested,
                                              cublasLtMatmulHeuristicResult_t found[], int* count) {
  const product& p = *as_product(description);
  const preference& wanted = *as_preference(preferred);
  if (!fit(p, *as_layout(a), *as_layout(b), *as_layout(c), *as_layout(d)) || requested <= 0 ||
      wanted.reductions != CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (rows_of(*as_layout(b), p.right) == 13) return CUBLAS_STATUS_NOT_SUPPORTED;
  const auto pointer = reinterpret_cast<std::uintptr_t>(p.bias);
  *count = std::min(requested, 3);
  for (int i = 0; i < *count; ++i) {
    found[i] = {};
    std::uint64_t* const words = found[i].algo.data;
    words[number] = static_cast<std::uint64_t>(10 + i);
    words[workspace_bytes] = std::min<std::uint64_t>(wanted.workspace, 512);
    words[left] = wanted.left;
    words[right] = wanted.right;
    words[result] = std::min(wanted.added, wanted.result);
    words[bias] = pointer & (~pointer + 1);
    static std::uint64_t leftover = 0;
    words[uninitialized] = ++leftover;
    found[i].workspaceSize = words[workspace_bytes];
    found[i].state = CUBLAS_STATUS_SUCCESS;
  }
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t* algorithm,
                                                 cublasLtMatmulAlgoCapAttributes_t which,
                                                 void* value, std::size_t bytes,
                                                 std::size_t* written) {
  if (which != CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS) return CUBLAS_STATUS_INVALID_VALUE;
  const std::uint64_t flags =
      algorithm->data[number] == 11
          ? CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_TF32
          : CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_32F;
  return give(flags, value, bytes, written);
}
cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t* algorithm,
                                                    cublasLtMatmulAlgoConfigAttributes_t which,
                                                    void* value, std::size_t bytes,
                                                    std::size_t* written) {
  if (which == CUBLASLT_ALGO_CONFIG_ID) {
    return give(static_cast<std::int32_t>(algorithm->data[number]), value, bytes, written);
  }
  if (which == CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID ||
      which == CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID) {
    return give(std::uint16_t{0}, value, bytes, written);
  }
  return give(static_cast<std::uint32_t>(which), value, bytes, written);
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t description, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                              cublasLtMatrixLayout_t b_layout, const void* beta, const void* c,
                              cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              std::size_t workspace_size, cudaStream_t) {
  const product& p = *as_product(description);
  const layout& l = *as_layout(a_layout);
  const layout& r = *as_layout(b_layout);
  const layout& to = *as_layout(d_layout);
  const float scale = *static_cast<const float*>(alpha);
  const float added = *static_cast<const float*>(beta);
  const std::uint64_t* const words = algorithm->data;
  if (!fit(p, l, r, *as_layout(c_layout), to) || to.type != CUDA_R_32F ||
      (added == 0 ? c != d : added != 1) || words[number] < 10 || workspace == nullptr ||
      workspace_size < words[workspace_bytes] || !divides(workspace_alignment, workspace) ||
      !divides(words[left], l, a) || !divides(words[right], r, b) ||
      !divides(words[result], to, d) || !divides(words[result], to, c) ||
      !divides(words[bias], p.bias)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  for (std::int32_t i = 0; i < to.batch; ++i) {
    for (std::uint64_t column = 0; column < to.columns; ++column) {
      for (std::uint64_t row = 0; row < to.rows; ++row) {
        float sum = 0;
        for (std::uint64_t k = 0; k < columns_of(l, p.left); ++k) {
          sum += *l.at(a, i, row, k, p.left) * *r.at(b, i, k, column, p.right);
        }
        sum = sum * scale + (p.has_bias() ? p.bias[row] : 0);
        if (added != 0) sum += *to.at(c, i, row, column, CUBLAS_OP_N);
        *const_cast<float*>(to.at(d, i, row, column, CUBLAS_OP_N)) =
            p.has_relu() ? std::max(sum, 0.0F) : sum;
      }
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"
