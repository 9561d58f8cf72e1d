#pragma once

#include <cublasLt.h>

#include <memory>
#include <string>

#include "stages/nn/cuda/cuda_library.hpp"
#include "stages/nn/cuda/plan_choices.hpp"

namespace graphline::nn {

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

}  // namespace graphline::nn
