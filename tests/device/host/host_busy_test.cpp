// Busy time that the `host` device reports per stream, for operations of known duration.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "framework/base/clock.hpp"
#include "tests/device/host/host_fixture.hpp"

namespace graphline {
namespace {

constexpr nanoseconds time_of_one = 3'000'000;

void work() {
  for (const nanoseconds end = now() + time_of_one; now() < end;) {
  }
}

/// Operations of one stream between two events.
struct timed_stream {
  std::unique_ptr<stream> on;
  std::unique_ptr<timed_event> begin;
  std::unique_ptr<timed_event> end;

  timed_stream(device& d, const std::string& name)
      : on(d.make_stream(name, priority::normal)),
        begin(d.make_timed_event(name + " begin")),
        end(d.make_timed_event(name + " end")) {}
  nanoseconds span() const { return end->since(*begin); }
  nanoseconds busy() const { return end->busy_since(*begin).value(); }
};

using host_busy_time = host_test;

TEST_F(host_busy_time, leaves_out_what_the_device_did_for_another_stream) {
  EXPECT_TRUE(dev_->properties().one_at_a_time);
  EXPECT_TRUE(dev_->properties().reports_busy_time);
  function_operation operation("operation", work);
  timed_stream a(*dev_, "a");
  timed_stream b(*dev_, "b");
  // Enqueued during another operation, so that both begin events pass before either operation.
  const auto first = make_stream("first", priority::high);
  host_enqueue(*first, operation);
  for (auto* s : {&a, &b}) {
    s->on->record(*s->begin);
    host_enqueue(*s->on, operation);
    host_enqueue(*s->on, operation);
    s->on->record(*s->end);
  }
  dev_->synchronize(wait_mode::block);
  for (const auto* s : {&a, &b}) {
    EXPECT_GE(s->busy(), 2 * time_of_one);
    EXPECT_LE(s->busy(), s->span());
  }
  // One of the two has waited for the other.
  EXPECT_GE(std::max(a.span(), b.span()), std::max(a.busy(), b.busy()) + time_of_one);
  const nanoseconds all = std::max(a.end->on_host_clock().at, b.end->on_host_clock().at) -
                          std::min(a.begin->on_host_clock().at, b.begin->on_host_clock().at);
  EXPECT_LE(a.busy() + b.busy(), all);
}

TEST_F(host_busy_time, is_told_of_each_stream_of_a_graph) {
  function_operation operation("operation", work);
  timed_stream a(*dev_, "a");
  timed_stream b(*dev_, "b");
  const auto exec = make_exec(*a.on, [&] {
    follow(*a.on, *b.on);
    a.on->stamp(*a.begin);
    b.on->stamp(*b.begin);
    host_enqueue(*a.on, operation);
    host_enqueue(*b.on, operation);
    host_enqueue(*a.on, operation);
    b.on->stamp(*b.end);
    follow(*b.on, *a.on);
    a.on->stamp(*a.end);
  });
  for (int launch = 0; launch < 2; ++launch) {
    a.on->launch(*exec);
    dev_->synchronize(wait_mode::block);
    EXPECT_GE(a.busy(), 2 * time_of_one);
    EXPECT_GE(b.busy(), time_of_one);
    EXPECT_LE(a.busy() + b.busy(), a.span());
  }
}

TEST_F(host_busy_time, counts_a_launched_graph_for_the_stream_that_launched_it) {
  function_operation operation("operation", work);
  timed_stream a(*dev_, "a");
  const auto exec = make_exec(*a.on, [&] { host_enqueue(*a.on, operation); });
  a.on->record(*a.begin);
  a.on->launch(*exec);
  a.on->launch(*exec);
  a.on->record(*a.end);
  dev_->synchronize(wait_mode::block);
  EXPECT_GE(a.busy(), 2 * time_of_one);
  EXPECT_LE(a.busy(), a.span());
}

}  // namespace
}  // namespace graphline
