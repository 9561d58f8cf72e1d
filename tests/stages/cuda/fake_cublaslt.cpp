// As much of cuBLASLt as is used here, for float32 in host memory and without a GPU: it takes the
// attributes in the sizes that its header gives them, refuses what does not fit together, and
// multiplies column by column.

#include <cublasLt.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace {

struct product {
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
  std::uint64_t rows;
  std::uint64_t columns;
  std::int64_t leading;
  std::int32_t batch = 1;
  std::int64_t stride = 0;

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
};

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

bool fit(const product& p, const layout& left, const layout& right, const layout& result) {
  for (const layout& l : {left, right, result}) {
    if (l.leading < static_cast<std::int64_t>(l.rows) || l.batch != result.batch) return false;
  }
  return rows_of(left, p.left) == result.rows && columns_of(right, p.right) == result.columns &&
         columns_of(left, p.left) == rows_of(right, p.right) &&
         (result.batch == 1 || result.stride != 0) && p.has_bias() == (p.bias != nullptr);
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

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* p, cublasComputeType_t,
                                        cudaDataType_t) {
  *p = reinterpret_cast<cublasLtMatmulDesc_t>(new product);
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

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* p, cudaDataType,
                                          std::uint64_t rows, std::uint64_t columns,
                                          std::int64_t leading) {
  *p = reinterpret_cast<cublasLtMatrixLayout_t>(new layout{rows, columns, leading});
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
  std::uint32_t alignment = 0;
  return take(alignment, value, bytes);
}

/// Three algorithms, the middle one on tensor cores; for a depth of 13 none.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t p,
                                              cublasLtMatrixLayout_t left,
                                              cublasLtMatrixLayout_t right, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t result,
                                              cublasLtMatmulPreference_t preferred, int requested,
                                              cublasLtMatmulHeuristicResult_t found[], int* count) {
  if (!fit(*as_product(p), *as_layout(left), *as_layout(right), *as_layout(result)) ||
      as_preference(preferred)->reductions != CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (rows_of(*as_layout(right), as_product(p)->right) == 13) return CUBLAS_STATUS_NOT_SUPPORTED;
  *count = std::min(requested, 3);
  for (int i = 0; i < *count; ++i) {
    found[i] = {};
    found[i].algo.data[0] = static_cast<std::uint64_t>(10 + i);
    found[i].workspaceSize = std::min<std::size_t>(as_preference(preferred)->workspace, 512);
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
      algorithm->data[0] == 11
          ? CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_TF32
          : CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_32F;
  return give(flags, value, bytes, written);
}
cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t* algorithm,
                                                    cublasLtMatmulAlgoConfigAttributes_t which,
                                                    void* value, std::size_t bytes,
                                                    std::size_t* written) {
  if (which != CUBLASLT_ALGO_CONFIG_ID) return CUBLAS_STATUS_INVALID_VALUE;
  return give(static_cast<std::int32_t>(algorithm->data[0]), value, bytes, written);
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t description, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t left, const void* b,
                              cublasLtMatrixLayout_t right, const void* beta, const void* c,
                              cublasLtMatrixLayout_t, void* d, cublasLtMatrixLayout_t result,
                              const cublasLtMatmulAlgo_t* algorithm, void*, std::size_t,
                              cudaStream_t) {
  const product& p = *as_product(description);
  const layout& l = *as_layout(left);
  const layout& r = *as_layout(right);
  const layout& to = *as_layout(result);
  const float scale = *static_cast<const float*>(alpha);
  if (!fit(p, l, r, to) || *static_cast<const float*>(beta) != 0 || c != d ||
      algorithm->data[0] < 10) {
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
        *const_cast<float*>(to.at(d, i, row, column, CUBLAS_OP_N)) =
            p.has_relu() ? std::max(sum, 0.0F) : sum;
      }
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"
