#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "framework/base/error.hpp"
#include "framework/device/host/host_device.hpp"

namespace graphline {
namespace {

/// Notes whether an earlier operation, on another device, is done.
struct noted_operation final : host_operation {
  explicit noted_operation(std::atomic<int>& number) : done(number) {}
  std::string_view name() const noexcept override { return "noted"; }
  void run() override {
    if (slow) std::this_thread::sleep_for(std::chrono::milliseconds(3));
    seen = done.fetch_add(1);
  }
  std::atomic<int>& done;
  bool slow = false;
  int seen = -1;
};

TEST(host_peers, wait_for_events_of_each_other_asleep_or_not) {
  const auto a = open_host_device(1);
  const auto b = open_host_device(1);
  const auto on_a = a->make_stream("on a", priority::normal);
  const auto on_b = b->make_stream("on b", priority::normal);
  const auto first = a->make_event("first");
  const auto second = b->make_event("second");
  std::atomic<int> done = 0;
  noted_operation one(done);
  noted_operation two(done);
  noted_operation three(done);
  for (int round = 0; round < 200; ++round) {
    done = 0;
    one.slow = round % 10 == 0;  // longer than an idle device polls
    host_enqueue(*on_a, one);
    on_a->record(*first);
    on_b->wait(*first);
    host_enqueue(*on_b, two);
    on_b->record(*second);
    on_a->wait(*second);
    host_enqueue(*on_a, three);
    a->synchronize(wait_mode::block);
    ASSERT_EQ(one.seen, 0) << round;
    ASSERT_EQ(two.seen, 1) << round;
    ASSERT_EQ(three.seen, 2) << round;
  }
}

TEST(host_peers, pass_what_is_complete_or_was_never_recorded) {
  const auto a = open_host_device(1);
  const auto b = open_host_device(1);
  const auto on_b = b->make_stream("on b", priority::normal);
  const auto never = a->make_event("never");
  on_b->wait(*never);
  b->synchronize(wait_mode::block);
  const auto on_a = a->make_stream("on a", priority::normal);
  on_a->record(*never);
  a->synchronize(wait_mode::block);
  on_b->wait(*never);
  b->synchronize(wait_mode::block);
}

TEST(host_peers, are_refused_in_captures) {
  const auto a = open_host_device(1);
  const auto b = open_host_device(1);
  const auto on_a = a->make_stream("on a", priority::normal);
  const auto on_b = b->make_stream("on b", priority::normal);
  const auto e = a->make_event("e");
  on_a->record(*e);
  EXPECT_THROW(static_cast<void>(b->capture(*on_b, [&] { on_b->wait(*e); })), run_error);
  b->synchronize(wait_mode::block);
}

}  // namespace
}  // namespace graphline
