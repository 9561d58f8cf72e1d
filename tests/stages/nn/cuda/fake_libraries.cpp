// Replaces the kernels, cuDNN and cuBLASLt.

#include <atomic>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "framework/device/cuda/cuda_calls.hpp"
#include "stages/nn/cuda/cuda_library.hpp"
#include "stages/nn/cuda/kernel_forms.hpp"
#include "tests/device/cuda/fake/fake_cuda.hpp"
#include "tests/stages/nn/cuda/cpu_kernels.hpp"
#include "tests/stages/nn/cuda/reference_library.hpp"

namespace graphline::nn {

namespace {

std::atomic<std::size_t> enqueued{0};

using pointers = std::vector<void*>;

void launch(void* cuda_stream, const std::string& owner, const pointers& operands,
            std::function<void()> work) {
  ++enqueued;
  check_cuda(fake_cuda::launch_kernel(static_cast<cudaStream_t>(cuda_stream), "work",
                                      [work = std::move(work)] {
                                        work();
                                        return cudaSuccess;
                                      },
                                      {operands.begin(), operands.end()}),
             "a launch", owner);
}

class enqueued_operation final : public library_operation {
 public:
  enqueued_operation(std::unique_ptr<library_operation> reference, std::string owner)
      : reference_(std::move(reference)), owner_(std::move(owner)) {}

  std::string choice() const override { return reference_->choice(); }
  std::size_t workspace_bytes() const override { return reference_->workspace_bytes(); }
  plan_speed speed() const override { return reference_->speed(); }

  void enqueue(void* cuda_stream, std::span<void* const> operands, void* workspace) override {
    pointers touched(operands.begin(), operands.end());
    touched.push_back(workspace);
    launch(cuda_stream, owner_, touched,
           [this, all = pointers(operands.begin(), operands.end()), workspace] {
             reference_->enqueue(nullptr, all, workspace);
           });
  }

 private:
  std::unique_ptr<library_operation> reference_;
  std::string owner_;
};

class enqueuing_library final : public cuda_library {
 public:
  explicit enqueuing_library(std::string owner) : owner_(std::move(owner)) {}

  std::unique_ptr<library_operation> plan(const convolution_form& form,
                                          std::string& why_not) override {
    return enqueued_by(reference_.plan(form, why_not));
  }
  std::unique_ptr<library_operation> plan(const product_form& form, std::string& why_not) override {
    return enqueued_by(reference_.plan(form, why_not));
  }
  std::unique_ptr<library_operation> plan(const attention_form& form,
                                          std::string& why_not) override {
    return enqueued_by(reference_.plan(form, why_not));
  }
  bool prefers_tensor_cores(const convolution_form& form) override {
    return reference_.prefers_tensor_cores(form);
  }
  double memory_bandwidth() const override { return reference_.memory_bandwidth(); }

 private:
  std::unique_ptr<library_operation> enqueued_by(std::unique_ptr<library_operation> planned) const {
    return std::make_unique<enqueued_operation>(std::move(planned), owner_);
  }

  test::reference_library reference_;
  std::string owner_;
};

}  // namespace

void enqueue_kernel(const kernel_form& form, std::span<void* const> operands, void* cuda_stream,
                    const std::string& owner) {
  // Launches copy a kernel's arguments.
  const pointers all(operands.begin(), operands.end());
  launch(cuda_stream, owner, all, [form, all] { test::run_on_cpu(form, all); });
}

// Defines all of cuda_libraries.cpp, so that the linker omits the real one.

std::vector<std::pair<std::string, std::string>> cuda_library_versions() {
  return {};
}

std::unique_ptr<cuda_library> open_cuda_libraries(device& /*on*/, bool /*tune*/,
                                                  std::string owner) {
  return std::make_unique<enqueuing_library>(std::move(owner));
}

}  // namespace graphline::nn

namespace graphline::test {

std::size_t enqueued_operations() {
  return enqueued;
}

}  // namespace graphline::test
