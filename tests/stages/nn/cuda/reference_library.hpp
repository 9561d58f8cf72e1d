#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "stages/nn/cuda/cuda_library.hpp"

namespace graphline::test {

using namespace nn;

/// A `cuda_library` that computes in host memory by plain loops, in double, and rounds its results
/// to the elements' type. Needs a workspace, which it overwrites.
class reference_library final : public cuda_library {
 public:
  /// Accepted forms; all if unset.
  std::function<bool(const convolution_form&)> takes_convolution;
  std::function<bool(const product_form&)> takes_product;

  std::function<bool(const attention_form&)> takes_attention;

  /// Speed of an accepted form's plan; unknown if unset.
  std::function<plan_speed(const convolution_form&)> speed_of_convolution;
  std::function<plan_speed(const product_form&)> speed_of_product;
  std::function<plan_speed(const attention_form&)> speed_of_attention;
  /// Bytes of workspace of an accepted form's plan; 64 if unset.
  std::function<std::size_t(const convolution_form&)> workspace_of;
  double bandwidth = 1e9;  ///< bytes per second

  std::vector<convolution_form> convolutions;  ///< planned, in order
  std::vector<product_form> products;
  std::vector<attention_form> attentions;

  std::unique_ptr<library_operation> plan(const convolution_form& form,
                                          std::string& why_not) override;
  std::unique_ptr<library_operation> plan(const product_form& form, std::string& why_not) override;
  std::unique_ptr<library_operation> plan(const attention_form& form,
                                          std::string& why_not) override;
  bool prefers_tensor_cores(const convolution_form& form) override {
    return !speed_of_convolution || speed_of_convolution(form).tensor_cores;
  }
  double memory_bandwidth() const override { return bandwidth; }
};

}  // namespace graphline::test
