#pragma once

#include <string>
#include <utility>

#include "stages/cuda/kernel_forms.hpp"
#include "stages/cuda/kernels.hpp"
#include "stages/cuda/plan_choices.hpp"

namespace graphline {

/// A kernel of the project's as the only plan there is, so that it is timed as a library's plans
/// are.
class kernel_plan final : public plan_choices {
 public:
  kernel_plan(kernel_form form, std::string owner)
      : form_(std::move(form)), owner_(std::move(owner)) {}

  std::size_t size() const noexcept override { return 1; }
  std::string identity(std::size_t /*plan*/) const override { return "kernel"; }
  std::string describe(std::size_t /*plan*/) const override { return "a kernel of its own"; }
  bool build(std::size_t /*plan*/, std::string& /*why_not*/) override { return true; }
  std::size_t workspace_bytes(std::size_t /*plan*/) const override { return 0; }
  void keep_only(std::size_t /*plan*/) override {}

  void run(std::size_t /*plan*/, cudaStream_t stream, std::span<void* const> operands,
           void* /*workspace*/) override {
    enqueue_kernel(form_, operands, stream, owner_);
  }

 private:
  kernel_form form_;
  std::string owner_;
};

}  // namespace graphline
