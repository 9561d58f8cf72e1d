// The `host` device as a subject of the conformance suite.

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "framework/base/clock.hpp"
#include "tests/device/conformance/subject.hpp"
#include "tests/device/host/host_fixture.hpp"

namespace graphline::conformance {
namespace {

class host_gate final : public gate {
 public:
  explicit host_gate(std::shared_ptr<std::atomic<int>> state) : state_(std::move(state)) {}
  ~host_gate() override { open(); }

  void open() override { state_->store(opened); }
  bool reached() const override { return state_->load() == arrived; }

  static constexpr int closed = 0, arrived = 1, opened = 2;

 private:
  std::shared_ptr<std::atomic<int>> state_;
};

class host_subject final : public subject {
 public:
  device& dev() override { return *device_; }

  void enqueue_add_one(stream& s, void* counter) override {
    enqueue(s, "add one", [p = static_cast<std::int32_t*>(counter)] { ++*p; });
  }

  void enqueue_busy(stream& s, std::int64_t microseconds) override {
    enqueue(s, "busy", [microseconds] {
      for (const nanoseconds until = now() + microseconds * 1000; now() < until;) {
      }
    });
  }

  std::unique_ptr<gate> enqueue_gate(stream& s) override {
    auto state = std::make_shared<std::atomic<int>>(host_gate::closed);
    enqueue(s, "gate", [state] {
      int expected = host_gate::closed;
      state->compare_exchange_strong(expected, host_gate::arrived);
      while (state->load() != host_gate::opened) std::this_thread::yield();
    });
    return std::make_unique<host_gate>(state);
  }

  void enqueue_failure(stream& s) override {
    enqueue(s, "faulty", [] { throw std::runtime_error("the bolt is loose"); });
  }

  std::string failure_text() const override {
    return "operation 'faulty' failed on the host device: the bolt is loose";
  }

 private:
  void enqueue(stream& s, std::string name, std::function<void()> work) {
    host_operation* operation = nullptr;
    {
      const std::scoped_lock lock(mutex_);
      operation = &operations_.emplace_back(std::move(name), std::move(work));
    }
    host_enqueue(s, *operation);
  }

  std::mutex mutex_;
  std::deque<function_operation> operations_;  // they must outlive the device's use of them
  std::unique_ptr<device> device_ = open_host_device(1);
};

}  // namespace

std::unique_ptr<subject> make_subject() {
  return std::make_unique<host_subject>();
}

}  // namespace graphline::conformance
