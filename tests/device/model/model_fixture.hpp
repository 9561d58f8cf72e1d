#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/virtual_clock.hpp"
#include "framework/device/model/model_device.hpp"
#include "tests/device/conformance/test_function.hpp"

namespace graphline {

/// A host function that takes time.
class timed_function final : public conformance::test_function, public model_timed_call {
 public:
  timed_function(std::string name, nanoseconds time, std::function<void()> work)
      : test_function(std::move(name), std::move(work)), time_(time) {}
  nanoseconds call_time() override { return time_; }

 private:
  nanoseconds time_;
};

/// Opens a `model` device with default settings; `open` replaces it.
class model_test : public testing::Test {
 protected:
  using started = std::pair<std::string, nanoseconds>;

  void open(const model_settings& settings) { dev_ = open_model_device(clock_, settings); }

  std::unique_ptr<stream> make_stream(const std::string& name, priority level = priority::normal) {
    return dev_->make_stream(name, level);
  }

  /// Enqueues an operation that records its start in `starts_`.
  void operate(stream& s, const std::string& name, nanoseconds time) {
    model_operate(s, name, [this, name, time] {
      starts_.emplace_back(name, clock_.now());
      return time;
    });
  }

  void follow(stream& from, stream& to) {
    marks_.push_back(dev_->make_event("mark"));
    from.record(*marks_.back());
    to.wait(*marks_.back());
  }

  std::unique_ptr<graph_exec> make_exec(stream& origin, const std::function<void()>& body) {
    return dev_->capture(origin, body)->instantiate();
  }

  /// Advances the clock until the device is idle; returns the time.
  nanoseconds finish() {
    dev_->synchronize(wait_mode::block);
    return clock_.now();
  }

  virtual_clock clock_;
  std::vector<started> starts_;
  std::unique_ptr<device> dev_ = open_model_device(clock_, {});
  std::vector<std::unique_ptr<event>> marks_;
};

}  // namespace graphline
