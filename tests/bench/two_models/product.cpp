#include "tests/bench/two_models/product.hpp"

#include <cublasLt.h>

#include <array>
#include <limits>

#include "stages/cuda/vendor_libraries.hpp"
#include "tests/bench/two_models/check.hpp"

namespace two_models {
namespace {

using graphline::precision;

constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

void check(cublasStatus_t status, const char* call) {
  require(status == CUBLAS_STATUS_SUCCESS,
          std::string(call) + " failed with status " + std::to_string(static_cast<int>(status)));
}

struct cublaslt_functions {
  const graphline::shared_library& library = graphline::cublaslt_library_file();
  decltype(&cublasLtCreate) create = graphline::function_of(library, "cublasLtCreate");
  decltype(&cublasLtMatmulDescCreate) make_operation =
      graphline::function_of(library, "cublasLtMatmulDescCreate");
  decltype(&cublasLtMatmulDescSetAttribute) set_operation =
      graphline::function_of(library, "cublasLtMatmulDescSetAttribute");
  decltype(&cublasLtMatrixLayoutCreate) make_layout =
      graphline::function_of(library, "cublasLtMatrixLayoutCreate");
  decltype(&cublasLtMatmulPreferenceCreate) make_preference =
      graphline::function_of(library, "cublasLtMatmulPreferenceCreate");
  decltype(&cublasLtMatmulPreferenceSetAttribute) set_preference =
      graphline::function_of(library, "cublasLtMatmulPreferenceSetAttribute");
  decltype(&cublasLtMatmulAlgoGetHeuristic) suggest =
      graphline::function_of(library, "cublasLtMatmulAlgoGetHeuristic");
  decltype(&cublasLtMatmul) multiply = graphline::function_of(library, "cublasLtMatmul");
};

const cublaslt_functions& lt() {
  static const cublaslt_functions found;
  return found;
}

cublasLtHandle_t shared_handle() {
  static const cublasLtHandle_t handle = [] {
    cublasLtHandle_t made = nullptr;
    check(lt().create(&made), "cublasLtCreate");
    return made;
  }();
  return handle;
}

cudaDataType_t element_type(precision p) {
  if (p == precision::float16) return CUDA_R_16F;
  if (p == precision::bfloat16) return CUDA_R_16BF;
  return CUDA_R_32F;
}

cublasLtMatrixLayout_t layout(cudaDataType_t type, int rows, int columns, int leading) {
  cublasLtMatrixLayout_t made = nullptr;
  check(lt().make_layout(&made, type, static_cast<std::uint64_t>(rows),
                         static_cast<std::uint64_t>(columns), leading),
        "cublasLtMatrixLayoutCreate");
  return made;
}

/// cuBLASLt's matrices are column-major: what it computes is y^T = w x^T. Descriptors live as long
/// as the program.
class cublaslt_product final : public product {
 public:
  cublaslt_product(int rows, int in, int out, precision p, const void* x, const void* w, void* y,
                   cudaStream_t stream)
      : x_(x), w_(w), y_(y) {
    const auto compute = p == precision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    check(lt().make_operation(&operation_, compute, CUDA_R_32F), "cublasLtMatmulDescCreate");
    const cublasOperation_t transposed = CUBLAS_OP_T;
    check(
        lt().set_operation(operation_, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed),
        "cublasLtMatmulDescSetAttribute");
    const cudaDataType_t type = element_type(p);
    w_layout_ = layout(type, in, out, in);
    x_layout_ = layout(type, in, rows, in);
    y_layout_ = layout(type, out, rows, out);
    ::check(cudaMalloc(&workspace_, workspace_bytes), "cudaMalloc");
    choose(stream);
  }

  ~cublaslt_product() override { static_cast<void>(cudaFree(workspace_)); }

  void enqueue(cudaStream_t stream) override { check(multiply(stream), "cublasLtMatmul"); }

 private:
  cublasStatus_t multiply(cudaStream_t stream) const {
    const float one = 1;
    const float zero = 0;
    return lt().multiply(shared_handle(), operation_, &one, w_, w_layout_, x_, x_layout_, &zero, y_,
                         y_layout_, y_, y_layout_, &algorithm_, workspace_, workspace_bytes,
                         stream);
  }

  void choose(cudaStream_t stream) {
    cublasLtMatmulPreference_t preference = nullptr;
    check(lt().make_preference(&preference), "cublasLtMatmulPreferenceCreate");
    check(lt().set_preference(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                              &workspace_bytes, sizeof workspace_bytes),
          "cublasLtMatmulPreferenceSetAttribute");
    std::array<cublasLtMatmulHeuristicResult_t, 8> suggestions{};
    int count = 0;
    check(
        lt().suggest(shared_handle(), operation_, w_layout_, x_layout_, y_layout_, y_layout_,
                     preference, static_cast<int>(suggestions.size()), suggestions.data(), &count),
        "cublasLtMatmulAlgoGetHeuristic");
    int best = -1;
    float shortest = std::numeric_limits<float>::infinity();
    for (int i = 0; i < count; ++i) {
      algorithm_ = suggestions[static_cast<std::size_t>(i)].algo;
      const float ms = time(stream);
      if (ms < shortest) {
        shortest = ms;
        best = i;
      }
    }
    require(best >= 0, "cuBLASLt has no algorithm for a fully connected layer");
    algorithm_ = suggestions[static_cast<std::size_t>(best)].algo;
  }

  /// Of twenty in a row, in milliseconds; infinite for an algorithm that fails.
  float time(cudaStream_t stream) const {
    if (multiply(stream) != CUBLAS_STATUS_SUCCESS) return std::numeric_limits<float>::infinity();
    cudaEvent_t begin = nullptr;
    cudaEvent_t end = nullptr;
    ::check(cudaEventCreate(&begin), "cudaEventCreate");
    ::check(cudaEventCreate(&end), "cudaEventCreate");
    ::check(cudaEventRecord(begin, stream), "cudaEventRecord");
    for (int i = 0; i < 20; ++i) check(multiply(stream), "cublasLtMatmul");
    ::check(cudaEventRecord(end, stream), "cudaEventRecord");
    ::check(cudaEventSynchronize(end), "cudaEventSynchronize");
    float ms = 0;
    ::check(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
    ::check(cudaEventDestroy(begin), "cudaEventDestroy");
    ::check(cudaEventDestroy(end), "cudaEventDestroy");
    return ms;
  }

  const void* x_;
  const void* w_;
  void* y_;
  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatrixLayout_t w_layout_ = nullptr;
  cublasLtMatrixLayout_t x_layout_ = nullptr;
  cublasLtMatrixLayout_t y_layout_ = nullptr;
  cublasLtMatmulAlgo_t algorithm_{};
  void* workspace_ = nullptr;
};

}  // namespace

std::unique_ptr<product> make_product(int rows, int in, int out, precision p, const void* x,
                                      const void* w, void* y, cudaStream_t stream) {
  return std::make_unique<cublaslt_product>(rows, in, out, p, x, w, y, stream);
}

}  // namespace two_models
