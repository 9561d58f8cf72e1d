#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "framework/device/device.hpp"

namespace graphline::conformance {

/// A host function from a std::function. Declare it before the streams that call it, since their
/// destructors wait for it.
class test_function : public host_function {
 public:
  test_function(std::string name, std::function<void()> work)
      : name_(std::move(name)), work_(std::move(work)) {}

  std::string_view name() const noexcept override { return name_; }
  void call() noexcept override { work_(); }

 private:
  std::string name_;
  std::function<void()> work_;
};

/// A host function that waits until it is opened.
class held_function final : public test_function {
 public:
  explicit held_function(std::string name)
      : test_function(std::move(name), [this] {
          called_ = true;
          while (!open_) std::this_thread::yield();
        }) {}

  void open() { open_ = true; }

  void wait_until_called() const {
    while (!called_) std::this_thread::yield();
  }

 private:
  std::atomic<bool> called_{false};
  std::atomic<bool> open_{false};
};

/// Opens a function at scope exit, in case a test fails early. Declare it after the streams.
class opened_at_end {
 public:
  explicit opened_at_end(held_function& held) : held_(held) {}
  ~opened_at_end() { held_.open(); }
  opened_at_end(const opened_at_end&) = delete;
  opened_at_end& operator=(const opened_at_end&) = delete;

 private:
  held_function& held_;
};

}  // namespace graphline::conformance
