#include "stages/cuda/cublaslt_form.hpp"

#include <limits>
#include <stdexcept>

namespace graphline {
namespace {

std::optional<cublasLtEpilogue_t> epilogue_of(const product_form& form) {
  if (form.activations.empty()) {
    return form.bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
  }
  if (form.activations.size() > 1) return std::nullopt;
  if (form.activations.front() == activation::relu) {
    return form.bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
  }
  if (form.activations.front() == activation::gelu_tanh) {
    return form.bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
  }
  return std::nullopt;
}

cudaDataType_t element_type(precision p) {
  switch (p) {
    case precision::float32:
    case precision::tf32:
      return CUDA_R_32F;
    case precision::float16:
      return CUDA_R_16F;
    case precision::bfloat16:
      return CUDA_R_16BF;
  }
  throw std::logic_error("a precision without a CUDA type");
}

/// A matrix of `rows` x `columns` as multiplied: stored row by row, it is its transpose stored
/// column by column. In a product of transposes it is therefore multiplied as it is stored unless
/// the form transposes it.
column_matrix transposed(std::int64_t rows, std::int64_t columns, bool form_transposes,
                         std::int64_t leading, std::int64_t stride) {
  const auto r = static_cast<std::uint64_t>(rows);
  const auto c = static_cast<std::uint64_t>(columns);
  if (form_transposes) return {r, c, leading, stride, true};
  return {c, r, leading, stride, false};
}

}  // namespace

std::optional<column_product> as_column_product(const product_form& form, std::string& why_not) {
  const std::optional<cublasLtEpilogue_t> epilogue = epilogue_of(form);
  if (!epilogue) {
    why_not = "cuBLASLt applies relu or gelu's tanh form to a product, and nothing after that";
    return std::nullopt;
  }
  if (form.batch > std::numeric_limits<std::int32_t>::max()) {
    why_not = "cuBLASLt counts the products of a batch in 32 bits";
    return std::nullopt;
  }
  column_product product;
  product.left = transposed(form.k, form.n, form.transpose_b, form.b_leading, form.b_stride);
  product.right = transposed(form.m, form.k, form.transpose_a, form.a_leading, form.a_stride);
  product.result = transposed(form.m, form.n, false, form.d_leading, form.d_stride);
  product.element = element_type(form.precision);
  product.element_bytes = element_bytes(form.precision);
  product.alignment = form.alignment;
  product.compute =
      form.precision == precision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  product.tensor_cores = form.precision != precision::float32;
  product.epilogue = *epilogue;
  product.batch = static_cast<std::int32_t>(form.batch);
  product.scale = form.scale;
  return product;
}

std::uint32_t alignment_of(const column_product& product, const column_matrix& matrix) {
  std::uint64_t divides = product.alignment;
  if (product.batch > 1) {
    const std::uint64_t step = static_cast<std::uint64_t>(matrix.stride) * product.element_bytes;
    while (step % divides != 0) divides /= 2;
  }
  return static_cast<std::uint32_t>(divides);
}

}  // namespace graphline
