#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "framework/base/error.hpp"
#include "tests/device/conformance/subject.hpp"

namespace graphline::conformance {

/// Opens a device per test. Counters in its memory show what ran, and in which order.
class device_test : public testing::Test {
 protected:
  void SetUp() override {
    subject_ = make_subject();
    if (subject_ == nullptr) GTEST_SKIP() << "this machine has no such device";
  }

  device& dev() { return subject_->dev(); }
  subject& on() { return *subject_; }

  std::unique_ptr<stream> make_stream(const std::string& name, priority level = priority::normal) {
    return dev().make_stream(name, level);
  }

  /// Makes `to` wait for all work in `from` so far.
  void follow(stream& from, stream& to) {
    marks_.push_back(dev().make_event("mark"));
    from.record(*marks_.back());
    to.wait(*marks_.back());
  }

  /// Captures `body` on `origin` and instantiates the graph.
  std::unique_ptr<graph_exec> make_exec(stream& origin, const std::function<void()>& body) {
    return dev().capture(origin, body)->instantiate();
  }

  /// An int32 in device memory.
  memory make_counter(std::int32_t start = 0) {
    memory counter = dev().allocate(sizeof start);
    write(counter, start);
    return counter;
  }

  /// An int32 in pinned memory, target of copies of a counter.
  memory make_reading() {
    memory reading = dev().allocate_pinned(sizeof(std::int32_t));
    const std::int32_t none = -1;
    std::memcpy(reading.data(), &none, sizeof none);
    return reading;
  }

  static std::int32_t value_of(const memory& reading) {
    std::int32_t value = 0;
    std::memcpy(&value, reading.data(), sizeof value);
    return value;
  }

  /// Waits for the device and returns the value of a counter.
  std::int32_t read(const memory& counter) {
    const memory reading = make_reading();
    const auto s = make_stream("read");
    s->copy(reading.data(), counter.data(), sizeof(std::int32_t));
    dev().synchronize(wait_mode::block);
    return value_of(reading);
  }

  void write(const memory& counter, std::int32_t value) {
    const memory source = dev().allocate_pinned(sizeof value);
    std::memcpy(source.data(), &value, sizeof value);
    const auto s = make_stream("write");
    s->copy(counter.data(), source.data(), sizeof value);
    dev().synchronize(wait_mode::block);
  }

  /// Increments the counter and copies it to `reading`, whose value shows the order of execution.
  void enqueue_count(stream& s, const memory& counter, const memory& reading) {
    on().enqueue_add_one(s, counter.data());
    s.copy(reading.data(), counter.data(), sizeof(std::int32_t));
  }

 private:
  std::unique_ptr<subject> subject_;
  std::vector<std::unique_ptr<event>> marks_;
};

/// Expects a `run_error` whose message contains `part`.
template <class F>
void expect_run_error(F&& f, const std::string& part) {
  try {
    f();
    ADD_FAILURE() << "nothing was thrown; expected a run_error with \"" << part << '"';
  } catch (const run_error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr(part));
  }
}

}  // namespace graphline::conformance
