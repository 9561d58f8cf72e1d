#pragma once

#include <cublasLt.h>

#include <memory>
#include <string>

#include "stages/nn/cuda/cuda_library.hpp"
#include "stages/nn/cuda/plan_choices.hpp"

namespace graphline::nn {

/// Returns the version of the loaded library: "13.0.2".
std::string cublaslt_version();

/// A cuBLASLt handle for one device; thread-safe.
class cublaslt_handle {
 public:
  /// Uses the current device. @throws run_error if cuBLASLt is not available or fails.
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

/// Returns one or more plans for a form on the handle's device; null, with the reason in `why_not`,
/// if there is no plan. All plans are deterministic: partial sums are float32 and added in a fixed
/// order. Plans for `float32` do not use tensor cores.
std::unique_ptr<plan_choices> make_product_plans(const product_form& form,
                                                 std::shared_ptr<cublaslt_handle> handle,
                                                 std::string& why_not);

}  // namespace graphline::nn
