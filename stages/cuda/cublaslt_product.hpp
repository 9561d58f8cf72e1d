#pragma once

#include <cublasLt.h>

#include <memory>
#include <string>
#include <string_view>

#include "stages/cuda/cuda_library.hpp"
#include "stages/cuda/plan_choices.hpp"

namespace graphline {

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
const cublaslt_functions& cublaslt();

/// "cublasLtMatmul failed: CUBLAS_STATUS_EXECUTION_FAILED (13), the GPU program failed to execute".
std::string describe_cublas(cublasStatus_t status, std::string_view call);

/// Throws `run_error` unless `status` is a success; `owner` is whom the call was made for.
void check_cublas(cublasStatus_t status, std::string_view call, std::string_view owner);

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
