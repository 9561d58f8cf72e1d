#include "stages/cuda/cublaslt_product.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "stages/cuda/cublaslt_form.hpp"
#include "stages/cuda/vendor_libraries.hpp"

namespace graphline {
namespace {

/// The functions of cuBLASLt that are used here, found in the library when it is opened.
struct cublaslt_functions {
  decltype(&cublasLtCreate) create;
  decltype(&cublasLtDestroy) destroy;
  decltype(&cublasLtGetVersion) version;
  decltype(&cublasLtGetStatusName) status_name;
  decltype(&cublasLtGetStatusString) status_string;
  decltype(&cublasLtMatmulDescCreate) product_create;
  decltype(&cublasLtMatmulDescDestroy) product_destroy;
  decltype(&cublasLtMatmulDescSetAttribute) product_set;
  decltype(&cublasLtMatrixLayoutCreate) layout_create;
  decltype(&cublasLtMatrixLayoutDestroy) layout_destroy;
  decltype(&cublasLtMatrixLayoutSetAttribute) layout_set;
  decltype(&cublasLtMatmulPreferenceCreate) preference_create;
  decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy;
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic;
  decltype(&cublasLtMatmulAlgoCapGetAttribute) algorithm_capability;
  decltype(&cublasLtMatmulAlgoConfigGetAttribute) algorithm_setting;
  decltype(&cublasLtMatmul) multiply;
};

/// Opens cuBLASLt at the first call. Throws `run_error` when it cannot be had.
const cublaslt_functions& cublaslt() {
  static const cublaslt_functions found = [] {
    const shared_library& library = cublaslt_library_file();
    cublaslt_functions f{};
    const auto look_up = [&]<class Function>(Function*& function, const char* name) {
      function = library.function<Function>(name);
    };
    look_up(f.create, "cublasLtCreate");
    look_up(f.destroy, "cublasLtDestroy");
    look_up(f.version, "cublasLtGetVersion");
    look_up(f.status_name, "cublasLtGetStatusName");
    look_up(f.status_string, "cublasLtGetStatusString");
    look_up(f.product_create, "cublasLtMatmulDescCreate");
    look_up(f.product_destroy, "cublasLtMatmulDescDestroy");
    look_up(f.product_set, "cublasLtMatmulDescSetAttribute");
    look_up(f.layout_create, "cublasLtMatrixLayoutCreate");
    look_up(f.layout_destroy, "cublasLtMatrixLayoutDestroy");
    look_up(f.layout_set, "cublasLtMatrixLayoutSetAttribute");
    look_up(f.preference_create, "cublasLtMatmulPreferenceCreate");
    look_up(f.preference_destroy, "cublasLtMatmulPreferenceDestroy");
    look_up(f.preference_set, "cublasLtMatmulPreferenceSetAttribute");
    look_up(f.heuristic, "cublasLtMatmulAlgoGetHeuristic");
    look_up(f.algorithm_capability, "cublasLtMatmulAlgoCapGetAttribute");
    look_up(f.algorithm_setting, "cublasLtMatmulAlgoConfigGetAttribute");
    look_up(f.multiply, "cublasLtMatmul");
    return f;
  }();
  return found;
}

/// "cublasLtMatmul failed: CUBLAS_STATUS_EXECUTION_FAILED (13), the GPU program failed to execute".
std::string describe_cublas(cublasStatus_t status, std::string_view call) {
  return fmt::format("{} failed: {} ({}), {}", call, cublaslt().status_name(status),
                     static_cast<int>(status), cublaslt().status_string(status));
}

/// Throws `run_error` unless `status` is a success; `owner` is whom the call was made for.
void check_cublas(cublasStatus_t status, std::string_view call, std::string_view owner) {
  if (status != CUBLAS_STATUS_SUCCESS) [[unlikely]]
    throw run_error(fmt::format("{}: {}", owner, describe_cublas(status, call)));
}

constexpr int candidate_limit = 16;
constexpr std::uint64_t workspace_limit = std::uint64_t{32} << 20;

/// What cuBLASLt creates, and its function that destroys it.
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

/// Which parts of a GPU an algorithm of that arithmetic may use.
std::uint64_t allowed_implementations(const column_product& product) {
  if (product.tensor_cores) return ~std::uint64_t{0};
  return ~std::uint64_t{
      CUBLASLT_NUMERICAL_IMPL_FLAGS_TENSOR_OP_MASK | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_TF32 |
      CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16F | CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16BF};
}

class product_plans final : public plan_choices {
 public:
  product_plans(const column_product& product, bool bias, std::shared_ptr<cublaslt_handle> handle)
      : product_(product), bias_(bias), handle_(std::move(handle)) {
    check(cublaslt().product_create(product_description_.place(), product.compute, CUDA_R_32F),
          "cublasLtMatmulDescCreate");
    set_product(CUBLASLT_MATMUL_DESC_TRANSA, transposition(product.left));
    set_product(CUBLASLT_MATMUL_DESC_TRANSB, transposition(product.right));
    set_product(CUBLASLT_MATMUL_DESC_EPILOGUE, product.epilogue);
    if (bias) {
      // The search for algorithms looks at nothing but its alignment.
      set_product(CUBLASLT_MATMUL_DESC_BIAS_POINTER, std::uintptr_t{product_.alignment});
    }
    create_layout(left_, product.left);
    create_layout(right_, product.right);
    create_layout(result_, product.result);
  }

  /// Asks for the algorithms. False, with the reason, when there is none.
  bool search(std::string& why_not) {
    owned<cublasLtMatmulPreference_t> preference(cublaslt().preference_destroy);
    check(cublaslt().preference_create(preference.place()), "cublasLtMatmulPreferenceCreate");
    const auto set = [&](cublasLtMatmulPreferenceAttributes_t which, const auto& value) {
      check(cublaslt().preference_set(preference.get(), which, &value, sizeof value),
            "cublasLtMatmulPreferenceSetAttribute");
    };
    set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace_limit);
    // The other schemes for sums made in parts keep these in the type of the result.
    set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
        std::uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
    set(CUBLASLT_MATMUL_PREF_IMPL_MASK, allowed_implementations(product_));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(product_, product_.left));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(product_, product_.right));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_of(product_, product_.result));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_of(product_, product_.result));

    std::array<cublasLtMatmulHeuristicResult_t, candidate_limit> found{};
    int count = 0;
    const cublasStatus_t status = cublaslt().heuristic(
        handle_->get(), product_description_.get(), left_.get(), right_.get(), result_.get(),
        result_.get(), preference.get(), candidate_limit, found.data(), &count);
    // With an epilogue, an invalid value may be its way of saying that it has none such.
    const bool epilogue = product_.epilogue != CUBLASLT_EPILOGUE_DEFAULT;
    if (status == CUBLAS_STATUS_NOT_SUPPORTED ||
        (status == CUBLAS_STATUS_INVALID_VALUE && epilogue)) {
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
  std::size_t alignment() const noexcept override { return product_.alignment; }

  std::string identity(std::size_t plan) const override {
    std::string text;
    for (const std::uint64_t word : algorithms_[plan].algo.data) {
      text += fmt::format("{:016x}", word);
    }
    return text;
  }

  std::string describe(std::size_t plan) const override {
    const cublasLtMatmulAlgo_t& algorithm = algorithms_[plan].algo;
    const bool cores =
        (implementation(algorithm) & CUBLASLT_NUMERICAL_IMPL_FLAGS_TENSOR_OP_MASK) != 0;
    std::int32_t number = -1;
    std::size_t written = 0;
    check(cublaslt().algorithm_setting(&algorithm, CUBLASLT_ALGO_CONFIG_ID, &number, sizeof number,
                                       &written),
          "cublasLtMatmulAlgoConfigGetAttribute");
    return fmt::format("cuBLASLt algorithm {}{}", number, cores ? ", tensor cores" : "");
  }

  // The search has checked them; there is nothing to be made ready or given up.
  bool build(std::size_t /*plan*/, std::string& /*why_not*/) override { return true; }
  void keep_only(std::size_t /*plan*/) override {}

  std::size_t workspace_bytes(std::size_t plan) const override {
    return algorithms_[plan].workspaceSize;
  }

  void run(std::size_t plan, cudaStream_t stream, std::span<void* const> operands,
           void* workspace) override {
    const std::size_t expected = bias_ ? 4 : 3;
    if (operands.size() != expected) {
      throw run_error(fmt::format("{}: a product of {} operands was given {}", handle_->owner(),
                                  expected, operands.size()));
    }
    const void* a = operands[0];
    const void* b = operands[1];
    void* d = operands.back();
    const float scale = product_.scale;
    const float zero = 0;
    const std::lock_guard lock(lock_);
    if (bias_) set_product(CUBLASLT_MATMUL_DESC_BIAS_POINTER, operands[2]);
    // With a factor of zero what d holds before is not read.
    check(cublaslt().multiply(handle_->get(), product_description_.get(), &scale, b, left_.get(), a,
                              right_.get(), &zero, d, result_.get(), d, result_.get(),
                              &algorithms_[plan].algo, workspace, workspace_bytes(plan), stream),
          "cublasLtMatmul");
  }

 private:
  static cublasOperation_t transposition(const column_matrix& matrix) {
    return matrix.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  }

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
    check(cublaslt().layout_create(layout.place(), product_.element, matrix.rows, matrix.columns,
                                   matrix.leading),
          "cublasLtMatrixLayoutCreate");
    const auto set = [&](cublasLtMatrixLayoutAttribute_t which, const auto& value) {
      check(cublaslt().layout_set(layout.get(), which, &value, sizeof value),
            "cublasLtMatrixLayoutSetAttribute");
    };
    set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, product_.batch);
    set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, matrix.stride);
  }

  std::uint64_t implementation(const cublasLtMatmulAlgo_t& algorithm) const {
    std::uint64_t flags = 0;
    std::size_t written = 0;
    check(cublaslt().algorithm_capability(&algorithm, CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS,
                                          &flags, sizeof flags, &written),
          "cublasLtMatmulAlgoCapGetAttribute");
    return flags;
  }

  /// The mask given to the search is a wish; this holds.
  bool precise(const cublasLtMatmulAlgo_t& algorithm) const {
    return (implementation(algorithm) & ~allowed_implementations(product_)) == 0;
  }

  column_product product_;
  bool bias_;
  std::shared_ptr<cublaslt_handle> handle_;
  owned<cublasLtMatmulDesc_t> product_description_{cublaslt().product_destroy};
  owned<cublasLtMatrixLayout_t> left_{cublaslt().layout_destroy};
  owned<cublasLtMatrixLayout_t> right_{cublaslt().layout_destroy};
  owned<cublasLtMatrixLayout_t> result_{cublaslt().layout_destroy};
  std::vector<cublasLtMatmulHeuristicResult_t> algorithms_;
  std::mutex lock_;  ///< the description holds the bias while a product is enqueued
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
  const std::optional<column_product> product = as_column_product(form, why_not);
  if (!product) return nullptr;
  auto plans = std::make_unique<product_plans>(*product, form.bias, std::move(handle));
  if (!plans->search(why_not)) return nullptr;
  return plans;
}

}  // namespace graphline
