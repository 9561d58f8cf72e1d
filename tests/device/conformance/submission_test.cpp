// More work than a device can hold back at once.

#include <thread>

#include "tests/device/conformance/fixture.hpp"

namespace graphline::conformance {
namespace {

class conformance_submission : public device_test {};

TEST_F(conformance_submission, loses_nothing_when_far_more_is_enqueued_than_fits) {
  constexpr int count = 20'000;
  const auto s = make_stream("s");
  const memory counter = make_counter();
  const auto held = on().enqueue_gate(*s);
  std::atomic<bool> started = false;
  std::thread caller([&] {
    started.store(true);
    for (int i = 0; i < count; ++i) on().enqueue_add_one(*s, counter.data());
  });
  while (!started.load()) std::this_thread::yield();
  held->open();
  caller.join();
  dev().synchronize(wait_mode::block);
  EXPECT_EQ(read(counter), count);
}

TEST_F(conformance_submission, a_full_stream_does_not_hold_another_up) {
  constexpr int count = 5'000;
  const auto full = make_stream("full");
  const auto other = make_stream("other");
  const auto freed = dev().make_event("freed");
  const memory counter = make_counter();
  const memory other_counter = make_counter();

  const auto held = on().enqueue_gate(*other);
  other->record(*freed);
  full->wait(*freed);
  std::thread caller([&] {
    for (int i = 0; i < count; ++i) on().enqueue_add_one(*full, counter.data());
  });
  for (int i = 0; i < 100; ++i) on().enqueue_add_one(*other, other_counter.data());
  held->open();
  caller.join();
  dev().synchronize(wait_mode::block);
  EXPECT_EQ(read(counter), count);
  EXPECT_EQ(read(other_counter), 100);
}

TEST_F(conformance_submission, keeps_time_over_many_recordings_of_few_events) {
  const auto s = make_stream("s");
  const auto begin = dev().make_timed_event("begin");
  const auto end = dev().make_timed_event("end");
  const memory counter = make_counter();
  for (int i = 0; i < 3'000; ++i) {
    s->record(*begin);
    on().enqueue_add_one(*s, counter.data());
    s->record(*end);
  }
  end->wait(wait_mode::block);
  EXPECT_GE(end->since(*begin), 0);
}

}  // namespace
}  // namespace graphline::conformance
