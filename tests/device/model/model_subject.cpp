// The `model` device as a subject of the conformance suite.

#include <atomic>
#include <deque>
#include <memory>
#include <stdexcept>
#include <thread>

#include "framework/base/virtual_clock.hpp"
#include "framework/device/model/model_device.hpp"
#include "tests/device/conformance/subject.hpp"
#include "tests/device/conformance/test_function.hpp"

namespace graphline::conformance {
namespace {

constexpr nanoseconds time_of_one = 1'000;

/// An operation, then a call that blocks the waiting thread and thereby the clock.
class model_gate final : public gate {
 public:
  model_gate(virtual_clock& clock, stream& s) : clock_(clock), state_(std::make_shared<state>()) {
    model_operate(s, "gate", [state = state_] {
      state->is_reached = true;
      return time_of_one;
    });
    s.call(state_->held);
  }
  ~model_gate() override { open(); }

  std::shared_ptr<test_function> call() const { return {state_, &state_->held}; }

  void open() override { state_->held.open(); }

  bool reached() const override {
    if (!state_->is_reached) clock_.step();
    return state_->is_reached;
  }

 private:
  struct state {
    bool is_reached = false;
    held_function held{"gate"};
  };

  virtual_clock& clock_;
  std::shared_ptr<state> state_;
};

/// Objects that outlive the device.
struct outliving {
  virtual_clock clock;
  std::deque<std::shared_ptr<test_function>> calls;
};

class model_subject final : private outliving, public subject {
 public:
  device& dev() override { return *device_; }

  void enqueue_add_one(stream& s, void* counter) override {
    model_operate(s, "add one", [p = static_cast<std::int32_t*>(counter)] {
      ++*p;
      return time_of_one;
    });
  }

  void enqueue_busy(stream& s, std::int64_t microseconds) override {
    model_operate(s, "busy", microseconds * 1'000);
  }

  std::unique_ptr<gate> enqueue_gate(stream& s) override {
    auto made = std::make_unique<model_gate>(clock, s);
    calls.push_back(made->call());
    return made;
  }

  void enqueue_failure(stream& s) override {
    model_operate(s, "faulty",
                  []() -> nanoseconds { throw std::runtime_error("the bolt is loose"); });
  }

  std::string failure_text() const override {
    return "operation 'faulty' failed on the model device: the bolt is loose";
  }

  nanoseconds host_now() const override { return device_->check_clock().at; }
  bool goes_on_by_itself() const override { return false; }

 private:
  std::unique_ptr<device> device_ = open_model_device(clock, {});
};

}  // namespace

std::unique_ptr<subject> make_subject() {
  return std::make_unique<model_subject>();
}

}  // namespace graphline::conformance
