#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "stages/cuda/cuda_library.hpp"
#include "stages/cuda/plan_choices.hpp"

namespace graphline {

// A row-major product in cuBLASLt's terms, which are those of columns.

/// A matrix as it is stored, column by column.
struct column_matrix {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::int64_t leading = 0;  ///< elements from one column to the next
  std::int64_t stride = 0;   ///< elements from one matrix of the batch to the next
  bool transposed = false;   ///< as it is multiplied
};

/// A product whose result, read row by row, is that of a form: its transpose, d' = b' a'. The bias,
/// one per column of d, is one per row of d', as cuBLASLt has it.
struct column_product {
  column_matrix left;   ///< the form's b
  column_matrix right;  ///< the form's a
  column_matrix result;
  cudaDataType_t element = CUDA_R_32F;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  std::int32_t batch = 1;
  float scale = 1;
  std::size_t element_bytes = 4;
  std::size_t alignment = 16;  ///< bytes that divide every operand's address
  bool tensor_cores = true;    ///< whether they may be used: for float32 they would round operands
};

/// Nothing, and the reason in `why_not`, for what cuBLASLt has no name for.
std::optional<column_product> as_column_product(const product_form& form, std::string& why_not);

/// The largest power of two, up to the product's alignment, that divides the address of every
/// matrix of a batch, in bytes.
std::uint32_t alignment_of(const column_product& product, const column_matrix& matrix);

/// "13.0.2", of the library that is loaded.
std::string cublaslt_version();

/// What cuBLASLt keeps for one device; several threads may use it at once.
class cublaslt_handle {
 public:
  /// For the current device. Throws `run_error` when there is no cuBLASLt or it fails.
  explicit cublaslt_handle(std::string owner);
  ~cublaslt_handle();
  cublaslt_handle(const cublaslt_handle&) = delete;
  cublaslt_handle& operator=(const cublaslt_handle&) = delete;

  cublasLtHandle_t get() const noexcept { return handle_; }
  const std::string& owner() const noexcept { return owner_; }

 private:
  std::string owner_;
  cublasLtHandle_t handle_ = nullptr;
};

/// The plans for a form on the handle's device, at least one. All give the same bits at each run:
/// where a sum is made in parts, these are kept in float32 and added in a fixed order. None of
/// `float32` uses tensor cores. Null, and the reason in `why_not`, when there is none.
std::unique_ptr<plan_choices> make_product_plans(const product_form& form,
                                                 std::shared_ptr<cublaslt_handle> handle,
                                                 std::string& why_not);

}  // namespace graphline
