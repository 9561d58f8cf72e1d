#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/device/device.hpp"

namespace graphline::testing_kinds {

/// A device that is another one and writes down what a session tells it besides work: ranges,
/// profiling and clock checks. Its clock is as wrong as it is told to be.
class watched_device final : public device {
 public:
  explicit watched_device(std::unique_ptr<device> inner)
      : stated(inner->properties()), inner_(std::move(inner)) {}

  device_properties stated;

  const device_properties& properties() const noexcept override { return stated; }
  memory allocate(std::size_t bytes) override { return inner_->allocate(bytes); }
  memory allocate_pinned(std::size_t bytes) override { return inner_->allocate_pinned(bytes); }
  memory_usage usage() const noexcept override { return inner_->usage(); }
  std::unique_ptr<stream> make_stream(std::string name, priority level) override {
    return inner_->make_stream(std::move(name), level);
  }
  std::unique_ptr<event> make_event(std::string name, wait_mode how) override {
    return inner_->make_event(std::move(name), how);
  }
  std::unique_ptr<timed_event> make_timed_event(std::string name) override {
    return inner_->make_timed_event(std::move(name));
  }
  std::unique_ptr<graph> capture(stream& origin, const std::function<void()>& body) override {
    return inner_->capture(origin, body);
  }
  void synchronize(wait_mode how) override { inner_->synchronize(how); }
  std::unique_ptr<operation_trace> trace_operations() override {
    if (!trace_problem.empty()) throw run_error(trace_problem);
    if (notes_no_operation) return std::make_unique<empty_trace>();
    return inner_->trace_operations();
  }

  clock_check check_clock() override {
    note("check");
    if (!clock_problem.empty()) throw run_error(clock_problem);
    return clock_checks++ == 0 ? first_check : later_check;
  }
  bool shows_ranges() const noexcept override { return true; }
  void begin_range(const char* name) noexcept override { note(name); }
  void end_range() noexcept override { note("end"); }
  void profile(bool on) noexcept override { note(on ? "profile" : "no profile"); }

  /// What it was told so far; forgotten by the call.
  std::vector<std::string> take_log() {
    const std::lock_guard lock(mutex_);
    return std::exchange(log_, {});
  }

  clock_check first_check;
  clock_check later_check;
  int clock_checks = 0;
  std::string clock_problem;        ///< thrown by a check when not empty
  std::string trace_problem;        ///< thrown instead of tracing when not empty
  bool notes_no_operation = false;  ///< traces stay empty, for a device that has none

 private:
  class empty_trace final : public operation_trace {
    std::vector<operation_time> take() override { return {}; }
  };

  void note(const char* what) {
    const std::lock_guard lock(mutex_);
    log_.emplace_back(what);
  }

  std::unique_ptr<device> inner_;
  std::mutex mutex_;
  std::vector<std::string> log_;
};

}  // namespace graphline::testing_kinds
