// The `cuda` device as a subject of the conformance suite, on the fake of the CUDA runtime.

#include <atomic>
#include <functional>
#include <thread>

#include "framework/base/clock.hpp"
#include "framework/device/cuda/cuda_calls.hpp"
#include "framework/device/cuda/cuda_device.hpp"
#include "tests/device/conformance/subject.hpp"
#include "tests/device/cuda/fake/fake_cuda.hpp"

namespace graphline::conformance {
namespace {

class fake_gate final : public gate {
 public:
  explicit fake_gate(std::shared_ptr<std::atomic<int>> state) : state_(std::move(state)) {}
  ~fake_gate() override { open(); }

  void open() override { state_->store(opened); }
  bool reached() const override { return state_->load() == arrived; }

  static constexpr int closed = 0, arrived = 1, opened = 2;

 private:
  std::shared_ptr<std::atomic<int>> state_;
};

class fake_subject final : public subject {
 public:
  device& dev() override { return *device_; }

  void enqueue_add_one(stream& s, void* counter) override {
    enqueue(s, "add_one", [p = static_cast<std::int32_t*>(counter)] {
      ++*p;
      return cudaSuccess;
    });
  }

  void enqueue_busy(stream& s, std::int64_t microseconds) override {
    enqueue(s, "busy", [microseconds] {
      for (const nanoseconds until = now() + microseconds * 1000; now() < until;) {
      }
      return cudaSuccess;
    });
  }

  std::unique_ptr<gate> enqueue_gate(stream& s) override {
    auto state = std::make_shared<std::atomic<int>>(fake_gate::closed);
    enqueue(s, "gate", [state] {
      int expected = fake_gate::closed;
      state->compare_exchange_strong(expected, fake_gate::arrived);
      while (state->load() != fake_gate::opened) std::this_thread::yield();
      return cudaSuccess;
    });
    return std::make_unique<fake_gate>(state);
  }

  void enqueue_failure(stream& s) override {
    enqueue(s, "faulty", [] { return cudaErrorIllegalAddress; });
  }

  std::string failure_text() const override { return "cudaErrorIllegalAddress"; }

  bool does_one_thing_at_a_time() const override { return !fake_cuda::seed(); }

  /// The tracing library listens to the driver, of which there is none.
  bool can_be_traced() const override { return false; }

 private:
  /// On a device that has failed a launch fails too, and it is the waits that have to tell.
  static void enqueue(stream& s, const std::string& name, std::function<cudaError_t()> work) {
    const auto handle = static_cast<cudaStream_t>(s.native());
    const cudaError_t status = fake_cuda::launch_kernel(handle, name, std::move(work));
    if (status != cudaErrorIllegalAddress) check_cuda(status, "launch_kernel", name);
  }

  std::unique_ptr<device> device_ = open_cuda_device(0);
};

}  // namespace

std::unique_ptr<subject> make_subject() {
  fake_cuda::reset();
  return std::make_unique<fake_subject>();
}

}  // namespace graphline::conformance
