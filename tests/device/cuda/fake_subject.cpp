// The `cuda` device as a subject of the conformance suite, on the fake of the CUDA runtime.

#include "framework/device/cuda/cuda_calls.hpp"
#include "framework/device/cuda/cuda_device.hpp"
#include "tests/device/conformance/function_subject.hpp"
#include "tests/device/cuda/fake/fake_cuda.hpp"

namespace graphline::conformance {
namespace {

class fake_subject final : public function_subject {
 public:
  fake_subject() : function_subject(open_cuda_device(0)) {}

  void enqueue_failure(stream& s) override {
    launch(s, "faulty", [] { return cudaErrorIllegalAddress; });
  }

  std::string failure_text() const override { return "cudaErrorIllegalAddress"; }

  bool does_one_thing_at_a_time() const override { return !fake_cuda::seed(); }

  /// The tracing library listens to the driver, of which there is none.
  bool can_be_traced() const override { return false; }

 private:
  void enqueue(stream& s, const std::string& name, std::function<void()> work) override {
    launch(s, name, [work = std::move(work)] {
      work();
      return cudaSuccess;
    });
  }

  /// On a device that has failed a launch fails too, and it is the waits that have to tell.
  static void launch(stream& s, const std::string& name, std::function<cudaError_t()> work) {
    const auto handle = static_cast<cudaStream_t>(s.native());
    const cudaError_t status = fake_cuda::launch_kernel(handle, name, std::move(work));
    if (status != cudaErrorIllegalAddress) check_cuda(status, "launch_kernel", name);
  }
};

}  // namespace

std::unique_ptr<subject> make_subject() {
  fake_cuda::reset();
  return std::make_unique<fake_subject>();
}

}  // namespace graphline::conformance
