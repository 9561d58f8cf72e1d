#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "framework/base/clock.hpp"
#include "tests/device/conformance/subject.hpp"

namespace graphline::conformance {

/// A gate at which an operation of the device waits.
class function_gate final : public gate {
 public:
  ~function_gate() override { open(); }

  void open() override { *state_ = opened; }
  bool reached() const override { return *state_ == arrived; }

  std::function<void()> waiting() const {
    return [state = state_] {
      int expected = closed;
      state->compare_exchange_strong(expected, arrived);
      while (*state != opened) std::this_thread::yield();
    };
  }

 private:
  static constexpr int closed = 0, arrived = 1, opened = 2;

  std::shared_ptr<std::atomic<int>> state_ = std::make_shared<std::atomic<int>>(closed);
};

/// Subject for a device whose operations are host functions.
class function_subject : public subject {
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
    auto made = std::make_unique<function_gate>();
    enqueue(s, "gate", made->waiting());
    return made;
  }

 protected:
  explicit function_subject(std::unique_ptr<device> opened) : device_(std::move(opened)) {}

  virtual void enqueue(stream& s, const std::string& name, std::function<void()> work) = 0;

 private:
  std::unique_ptr<device> device_;
};

}  // namespace graphline::conformance
