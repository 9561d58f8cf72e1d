#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/device/host/host_device.hpp"

namespace graphline {

/// A `host_operation` from a std::function.
class function_operation : public host_operation {
 public:
  function_operation(std::string name, std::function<void()> work)
      : name_(std::move(name)), work_(std::move(work)) {}

  std::string_view name() const noexcept override { return name_; }
  void run() override { work_(); }

 private:
  std::string name_;
  std::function<void()> work_;
};

/// An operation that runs until it is opened, then calls `last`.
class held_operation final : public function_operation {
 public:
  explicit held_operation(const std::function<void()>& last = [] {})
      : function_operation("held", [this, last] {
          begun_ = true;
          while (!open_) std::this_thread::yield();
          last();
        }) {}

  void open() { open_ = true; }
  void wait_until_begun() const {
    while (!begun_) std::this_thread::yield();
  }

 private:
  std::atomic<bool> begun_{false};
  std::atomic<bool> open_{false};
};

/// Opens a `host` device with one compute thread per test.
class host_test : public testing::Test {
 protected:
  std::unique_ptr<stream> make_stream(const std::string& name, priority level = priority::normal) {
    return dev_->make_stream(name, level);
  }

  /// Captures `body` on `origin` and instantiates the graph.
  std::unique_ptr<graph_exec> make_exec(stream& origin, const std::function<void()>& body) {
    return dev_->capture(origin, body)->instantiate();
  }

  /// Makes `to` wait for all work in `from` so far.
  void follow(stream& from, stream& to) {
    marks_.push_back(dev_->make_event("mark"));
    from.record(*marks_.back());
    to.wait(*marks_.back());
  }

  std::unique_ptr<device> dev_ = open_host_device(1);
  std::vector<std::unique_ptr<event>> marks_;
};

}  // namespace graphline
