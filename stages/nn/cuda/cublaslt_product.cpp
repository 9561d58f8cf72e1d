#include "stages/nn/cuda/cublaslt_product.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "stages/nn/cuda/vendor_libraries.hpp"

namespace graphline::nn {
namespace {

/// Opens cuBLASLt and finds the functions used here. @throws run_error if it is not available.
struct cublaslt_functions {
  const shared_library& library = cublaslt_library_file();
#define GRAPHLINE_FUNCTION(name, function) \
  decltype(&function) name = function_of(library, #function);
  GRAPHLINE_FUNCTION(create, cublasLtCreate)
  GRAPHLINE_FUNCTION(destroy, cublasLtDestroy)
  GRAPHLINE_FUNCTION(version, cublasLtGetVersion)
  GRAPHLINE_FUNCTION(status_name, cublasLtGetStatusName)
  GRAPHLINE_FUNCTION(status_string, cublasLtGetStatusString)
  GRAPHLINE_FUNCTION(product_create, cublasLtMatmulDescCreate)
  GRAPHLINE_FUNCTION(product_destroy, cublasLtMatmulDescDestroy)
  GRAPHLINE_FUNCTION(product_set, cublasLtMatmulDescSetAttribute)
  GRAPHLINE_FUNCTION(layout_create, cublasLtMatrixLayoutCreate)
  GRAPHLINE_FUNCTION(layout_destroy, cublasLtMatrixLayoutDestroy)
  GRAPHLINE_FUNCTION(layout_set, cublasLtMatrixLayoutSetAttribute)
  GRAPHLINE_FUNCTION(preference_create, cublasLtMatmulPreferenceCreate)
  GRAPHLINE_FUNCTION(preference_destroy, cublasLtMatmulPreferenceDestroy)
  GRAPHLINE_FUNCTION(preference_set, cublasLtMatmulPreferenceSetAttribute)
  GRAPHLINE_FUNCTION(heuristic, cublasLtMatmulAlgoGetHeuristic)
  GRAPHLINE_FUNCTION(algorithm_capability, cublasLtMatmulAlgoCapGetAttribute)
  GRAPHLINE_FUNCTION(algorithm_setting, cublasLtMatmulAlgoConfigGetAttribute)
  GRAPHLINE_FUNCTION(multiply, cublasLtMatmul)
#undef GRAPHLINE_FUNCTION
};

const cublaslt_functions& cublaslt() {
  static const cublaslt_functions found;
  return found;
}

/// Returns "cublasLtMatmul failed: CUBLAS_STATUS_EXECUTION_FAILED (13), the GPU program ...".
std::string describe_cublas(cublasStatus_t status, std::string_view call) {
  return fmt::format("{} failed: {} ({}), {}", call, cublaslt().status_name(status),
                     static_cast<int>(status), cublaslt().status_string(status));
}

/// @throws run_error unless `status` is success. `owner` leads the message.
void check_cublas(cublasStatus_t status, std::string_view call, std::string_view owner) {
  if (status != CUBLAS_STATUS_SUCCESS) [[unlikely]]
    throw run_error(fmt::format("{}: {}", owner, describe_cublas(status, call)));
}

std::optional<cublasLtEpilogue_t> epilogue_of(const product_form& form) {
  if (form.activations.empty()) {
    return form.bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
  }
  if (form.activations.size() > 1) return std::nullopt;
  const pointwise_function function = form.activations.front().function;
  if (function == pointwise_function::relu) {
    return form.bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
  }
  if (function == pointwise_function::gelu_tanh) {
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

struct column_matrix {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::int64_t leading = 0;    ///< elements from one column to the next
  std::int64_t stride = 0;     ///< elements from one matrix of the batch to the next
  std::size_t alignment = 16;  ///< of the first matrix, in bytes
  cublasOperation_t operation = CUBLAS_OP_N;
};

/// Describes a row-major matrix to cuBLASLt, which reads it as its column-major transpose. cuBLASLt
/// transposes it if the form does.
column_matrix transposed(std::int64_t rows, std::int64_t columns, bool form_transposes,
                         std::int64_t leading, std::int64_t stride, std::size_t alignment) {
  const auto r = static_cast<std::uint64_t>(rows);
  const auto c = static_cast<std::uint64_t>(columns);
  if (form_transposes) return {r, c, leading, stride, alignment, CUBLAS_OP_T};
  return {c, r, leading, stride, alignment, CUBLAS_OP_N};
}

/// Returns an alignment, in bytes, that holds for every matrix of the batch.
std::uint32_t alignment_of(const product_form& form, const column_matrix& matrix) {
  std::uint64_t divides = matrix.alignment;
  if (form.batch > 1) {
    divides = std::gcd(divides,
                       static_cast<std::uint64_t>(matrix.stride) * element_bytes(form.precision));
  }
  return static_cast<std::uint32_t>(divides);
}

constexpr int candidate_limit = 16;
constexpr std::uint64_t workspace_limit = std::uint64_t{32} << 20;

/// Owning cuBLASLt descriptor; destroyed on destruction.
template <class Descriptor>
class owned {
 public:
  using destroy_function = cublasStatus_t (*)(Descriptor);

  explicit owned(destroy_function destroy) : destroy_(destroy) {}
  ~owned() {
    if (descriptor_ != nullptr) static_cast<void>(destroy_(descriptor_));
  }
  owned(const owned&) = delete;
  owned& operator=(const owned&) = delete;

  Descriptor get() const noexcept { return descriptor_; }
  Descriptor* place() noexcept { return &descriptor_; }

 private:
  Descriptor descriptor_ = nullptr;
  destroy_function destroy_;
};

/// Returns the implementations allowed for a precision. float32 excludes tensor cores, because they
/// round float32 operands.
std::uint64_t allowed_implementations(precision p) {
  if (p != precision::float32) return ~std::uint64_t{0};
  return ~std::uint64_t{
      CUBLASLT_NUMERICAL_IMPL_FLAGS_TENSOR_OP_MASK | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_TF32 |
      CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16F | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16BF};
}

/// Plans for a product. cuBLASLt is column-major, so it computes the transpose d' = b' a', in which
/// the bias per column of d is a bias per row of d'.
class product_plans final : public plan_choices {
 public:
  product_plans(const product_form& form, cublasLtEpilogue_t epilogue,
                std::shared_ptr<cublaslt_handle> handle)
      : form_(form),
        epilogue_(epilogue),
        left_(transposed(form.k, form.n, form.transpose_b, form.b_leading, form.b_stride,
                         form.alignment.b)),
        right_(transposed(form.m, form.k, form.transpose_a, form.a_leading, form.a_stride,
                          form.alignment.a)),
        result_(transposed(form.m, form.n, false, form.d_leading, form.d_stride, form.alignment.d)),
        handle_(std::move(handle)) {
    check(cublaslt().product_create(
              product_description_.place(),
              form.precision == precision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F,
              CUDA_R_32F),
          "cublasLtMatmulDescCreate");
    set_product(CUBLASLT_MATMUL_DESC_TRANSA, left_.operation);
    set_product(CUBLASLT_MATMUL_DESC_TRANSB, right_.operation);
    set_product(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
    if (form.bias) {
      // The heuristic reads the alignment of this address, not the bias.
      set_product(CUBLASLT_MATMUL_DESC_BIAS_POINTER, std::uintptr_t{16});
    }
    create_layout(left_layout_, left_);
    create_layout(right_layout_, right_);
    create_layout(result_layout_, result_);
  }

  /// Queries the heuristic. Returns false, with the reason, if there is no algorithm.
  bool search(std::string& why_not) {
    owned<cublasLtMatmulPreference_t> preference(cublaslt().preference_destroy);
    check(cublaslt().preference_create(preference.place()), "cublasLtMatmulPreferenceCreate");
    const auto set = [&](cublasLtMatmulPreferenceAttributes_t which, const auto& value) {
      check(cublaslt().preference_set(preference.get(), which, &value, sizeof value),
            "cublasLtMatmulPreferenceSetAttribute");
    };
    set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace_limit);
    // Other split-K schemes store partial sums in the result's type.
    set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
        std::uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
    set(CUBLASLT_MATMUL_PREF_IMPL_MASK, allowed_implementations(form_.precision));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(form_, left_));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(form_, right_));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_of(form_, result_));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_of(form_, result_));

    std::array<cublasLtMatmulHeuristicResult_t, candidate_limit> found{};
    int count = 0;
    const cublasStatus_t status =
        cublaslt().heuristic(handle_->get(), product_description_.get(), left_layout_.get(),
                             right_layout_.get(), result_layout_.get(), result_layout_.get(),
                             preference.get(), candidate_limit, found.data(), &count);
    // With an epilogue, CUBLAS_STATUS_INVALID_VALUE may mean that the epilogue is unsupported.
    if (status == CUBLAS_STATUS_NOT_SUPPORTED ||
        (status == CUBLAS_STATUS_INVALID_VALUE && epilogue_ != CUBLASLT_EPILOGUE_DEFAULT)) {
      why_not = describe_cublas(status, "cublasLtMatmulAlgoGetHeuristic");
      return false;
    }
    check(status, "cublasLtMatmulAlgoGetHeuristic");
    for (int i = 0; i < count; ++i) {
      const cublasLtMatmulHeuristicResult_t& result = found[static_cast<std::size_t>(i)];
      if (result.state == CUBLAS_STATUS_SUCCESS && precise(result.algo)) {
        algorithms_.push_back(result);
      }
    }
    if (algorithms_.empty()) why_not = "cuBLASLt has no algorithm that computes as precisely";
    return !algorithms_.empty();
  }

  std::size_t size() const noexcept override { return algorithms_.size(); }

  /// Returns the algorithm's settings. Its bytes would not do: on an H200, cuBLASLt 13.1 leaves
  /// some of them uninitialized.
  std::string identity(std::size_t plan) const override {
    std::string text =
        fmt::format("algorithm {}", setting<std::int32_t>(plan, CUBLASLT_ALGO_CONFIG_ID));
    for (const auto which :
         {CUBLASLT_ALGO_CONFIG_TILE_ID, CUBLASLT_ALGO_CONFIG_STAGES_ID,
          CUBLASLT_ALGO_CONFIG_SPLITK_NUM, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME,
          CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION}) {
      text += fmt::format(" {}", setting<std::uint32_t>(plan, which));
    }
    for (const auto which :
         {CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID}) {
      text += fmt::format(" {}", setting<std::uint16_t>(plan, which));
    }
    return text + fmt::format(", workspace {}", workspace_bytes(plan));
  }

  std::string describe(std::size_t plan) const override {
    return fmt::format("cuBLASLt algorithm {}{}",
                       setting<std::int32_t>(plan, CUBLASLT_ALGO_CONFIG_ID),
                       uses_tensor_cores(plan) ? ", tensor cores" : "");
  }

  bool uses_tensor_cores(std::size_t plan) const override {
    return (implementation(algorithms_[plan].algo) &
            CUBLASLT_NUMERICAL_IMPL_FLAGS_TENSOR_OP_MASK) != 0;
  }

  // The heuristic has checked the algorithms. There is nothing to build or release.
  bool build(std::size_t /*plan*/, std::string& /*why_not*/) override { return true; }
  void keep_only(std::size_t /*plan*/) override {}

  std::size_t workspace_bytes(std::size_t plan) const override {
    return algorithms_[plan].workspaceSize;
  }

  void run(std::size_t plan, cudaStream_t stream, std::span<void* const> operands,
           void* workspace) override {
    const void* a = operands[0];
    const void* b = operands[1];
    void* d = operands.back();
    const float scale = form_.scale;
    // With beta = 0, cuBLASLt does not read c.
    const float beta = form_.add ? 1 : 0;
    const void* c = form_.add ? operands[operands.size() - 2] : d;
    const std::lock_guard lock(lock_);
    if (form_.bias) set_product(CUBLASLT_MATMUL_DESC_BIAS_POINTER, operands[2]);
    check(cublaslt().multiply(handle_->get(), product_description_.get(), &scale, b,
                              left_layout_.get(), a, right_layout_.get(), &beta, c,
                              result_layout_.get(), d, result_layout_.get(),
                              &algorithms_[plan].algo, workspace, workspace_bytes(plan), stream),
          "cublasLtMatmul");
  }

 private:
  void check(cublasStatus_t status, const char* call) const {
    check_cublas(status, call, handle_->owner());
  }

  template <class Value>
  void set_product(cublasLtMatmulDescAttributes_t which, const Value& value) {
    static_assert(sizeof(Value) == 4 || sizeof(Value) == sizeof(void*));
    check(cublaslt().product_set(product_description_.get(), which, &value, sizeof value),
          "cublasLtMatmulDescSetAttribute");
  }

  void create_layout(owned<cublasLtMatrixLayout_t>& layout, const column_matrix& matrix) {
    check(cublaslt().layout_create(layout.place(), element_type(form_.precision), matrix.rows,
                                   matrix.columns, matrix.leading),
          "cublasLtMatrixLayoutCreate");
    const auto set = [&](cublasLtMatrixLayoutAttribute_t which, const auto& value) {
      check(cublaslt().layout_set(layout.get(), which, &value, sizeof value),
            "cublasLtMatrixLayoutSetAttribute");
    };
    set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<std::int32_t>(form_.batch));
    set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, matrix.stride);
  }

  template <class Value>
  Value setting(std::size_t plan, cublasLtMatmulAlgoConfigAttributes_t which) const {
    Value value{};
    std::size_t written = 0;
    check(cublaslt().algorithm_setting(&algorithms_[plan].algo, which, &value, sizeof value,
                                       &written),
          "cublasLtMatmulAlgoConfigGetAttribute");
    return value;
  }

  std::uint64_t implementation(const cublasLtMatmulAlgo_t& algorithm) const {
    std::uint64_t flags = 0;
    std::size_t written = 0;
    check(cublaslt().algorithm_capability(&algorithm, CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS,
                                          &flags, sizeof flags, &written),
          "cublasLtMatmulAlgoCapGetAttribute");
    return flags;
  }

  /// Returns true if the precision allows an algorithm; the heuristic does not enforce its mask.
  bool precise(const cublasLtMatmulAlgo_t& algorithm) const {
    return (implementation(algorithm) & ~allowed_implementations(form_.precision)) == 0;
  }

  product_form form_;
  cublasLtEpilogue_t epilogue_;
  column_matrix left_;   ///< the form's b
  column_matrix right_;  ///< the form's a
  column_matrix result_;
  std::shared_ptr<cublaslt_handle> handle_;
  owned<cublasLtMatmulDesc_t> product_description_{cublaslt().product_destroy};
  owned<cublasLtMatrixLayout_t> left_layout_{cublaslt().layout_destroy};
  owned<cublasLtMatrixLayout_t> right_layout_{cublaslt().layout_destroy};
  owned<cublasLtMatrixLayout_t> result_layout_{cublaslt().layout_destroy};
  std::vector<cublasLtMatmulHeuristicResult_t> algorithms_;
  std::mutex lock_;  ///< guards the bias pointer in the description during enqueue
};

}  // namespace

std::string cublaslt_version() {
  const std::size_t version = cublaslt().version();
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

cublaslt_handle::cublaslt_handle(std::string owner) : owner_(std::move(owner)) {
  check_cublas(cublaslt().create(&handle_), "cublasLtCreate", owner_);
}

cublaslt_handle::~cublaslt_handle() {
  static_cast<void>(cublaslt().destroy(handle_));
}

std::unique_ptr<plan_choices> make_product_plans(const product_form& form,
                                                 std::shared_ptr<cublaslt_handle> handle,
                                                 std::string& why_not) {
  const std::optional<cublasLtEpilogue_t> epilogue = epilogue_of(form);
  if (!epilogue) {
    why_not = "cuBLASLt applies relu or gelu's tanh form to a product, and nothing after that";
    return nullptr;
  }
  if (form.batch > std::numeric_limits<std::int32_t>::max()) {
    why_not = "cuBLASLt counts the products of a batch in 32 bits";
    return nullptr;
  }
  auto plans = std::make_unique<product_plans>(form, *epilogue, std::move(handle));
  if (!plans->search(why_not)) return nullptr;
  return plans;
}

}  // namespace graphline::nn
