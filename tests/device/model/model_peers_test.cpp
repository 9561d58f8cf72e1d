#include <gtest/gtest.h>

#include "framework/base/error.hpp"
#include "framework/base/virtual_clock.hpp"
#include "framework/device/model/model_device.hpp"

namespace graphline {
namespace {

TEST(model_peers, work_side_by_side_and_wait_for_each_other) {
  virtual_clock clock;
  const auto a = open_model_device(clock, {});
  const auto b = open_model_device(clock, {});
  a->exchange_with(*b);
  const auto on_a = a->make_stream("on a", priority::normal);
  const auto on_b = b->make_stream("on b", priority::normal);
  const auto first = a->make_timed_event("first");
  const auto second = b->make_timed_event("second");
  const auto last = a->make_timed_event("last");
  model_operate(*on_b, "beside", 40);
  model_operate(*on_a, "one", 30);
  on_a->record(*first);
  on_b->wait(*first);
  model_operate(*on_b, "two", 5);
  on_b->record(*second);
  on_a->wait(*second);
  model_operate(*on_a, "three", 7);
  on_a->record(*last);
  a->synchronize(wait_mode::block);
  EXPECT_EQ(first->on_host_clock().at, 30);
  EXPECT_EQ(second->on_host_clock().at, 45);  // after "beside", whose end is later than "one"
  EXPECT_EQ(last->on_host_clock().at, 52);
}

TEST(model_peers, wake_a_device_that_waits_for_nothing_else) {
  virtual_clock clock;
  const auto a = open_model_device(clock, {.idle_start = 3});
  const auto b = open_model_device(clock, {.idle_start = 3});
  const auto on_a = a->make_stream("on a", priority::normal);
  const auto on_b = b->make_stream("on b", priority::normal);
  const auto first = a->make_timed_event("first");
  const auto second = b->make_timed_event("second");
  model_operate(*on_a, "one", 30);
  on_a->record(*first);
  on_b->wait(*first);
  model_operate(*on_b, "two", 5);
  on_b->record(*second);
  b->synchronize(wait_mode::block);
  EXPECT_EQ(second->on_host_clock().at, 38);
}

TEST(model_peers, fail_with_the_device_that_they_wait_for) {
  virtual_clock clock;
  const auto a = open_model_device(clock, {});
  const auto b = open_model_device(clock, {});
  const auto on_a = a->make_stream("on a", priority::normal);
  const auto on_b = b->make_stream("on b", priority::normal);
  const auto first = a->make_event("first", wait_mode::block);
  model_operate(*on_a, "broken", -1);
  on_a->record(*first);
  on_b->wait(*first);
  EXPECT_THROW(b->synchronize(wait_mode::block), run_error);
}

TEST(model_peers, are_those_of_one_clock) {
  virtual_clock clock;
  virtual_clock another;
  const auto a = open_model_device(clock, {});
  const auto b = open_model_device(another, {});
  EXPECT_THROW(a->exchange_with(*b), run_error);
  const auto on_a = a->make_stream("on a", priority::normal);
  const auto on_b = b->make_stream("on b", priority::normal);
  const auto e = a->make_event("e", wait_mode::block);
  on_a->record(*e);
  EXPECT_THROW(on_b->wait(*e), run_error);
}

TEST(model_peers, are_refused_in_captures) {
  virtual_clock clock;
  const auto a = open_model_device(clock, {});
  const auto b = open_model_device(clock, {});
  const auto on_a = a->make_stream("on a", priority::normal);
  const auto on_b = b->make_stream("on b", priority::normal);
  const auto e = a->make_event("e", wait_mode::block);
  on_a->record(*e);
  EXPECT_THROW(static_cast<void>(b->capture(*on_b, [&] { on_b->wait(*e); })), run_error);
}

}  // namespace
}  // namespace graphline
