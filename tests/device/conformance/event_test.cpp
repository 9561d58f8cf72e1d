// Events: completion, waits and time stamps.

#include <thread>

#include "tests/device/conformance/fixture.hpp"

namespace graphline::conformance {
namespace {

class conformance_event : public device_test {};

TEST_F(conformance_event, counts_as_done_when_it_was_never_recorded) {
  const auto e = dev().make_event("e");
  EXPECT_TRUE(e->done());
  e->wait(wait_mode::spin);
  e->wait(wait_mode::yield);
  e->wait(wait_mode::block);
}

TEST_F(conformance_event, passes_after_what_was_enqueued_before_it) {
  const auto s = make_stream("s");
  const auto e = dev().make_event("e");  // refers to its latest recording
  for (const wait_mode how : {wait_mode::spin, wait_mode::yield, wait_mode::block}) {
    const auto held = on().enqueue_gate(*s);
    s->record(*e);
    EXPECT_FALSE(e->done());
    held->open();
    e->wait(how);
    EXPECT_TRUE(e->done());
  }
}

TEST_F(conformance_event, wakes_everybody_who_waits) {
  const auto s = make_stream("s");
  const auto early = dev().make_event("early");
  const auto late = dev().make_event("late");
  const memory counter = make_counter();
  const memory early_seen = make_reading();
  const memory late_seen = make_reading();
  const auto held = on().enqueue_gate(*s);
  enqueue_count(*s, counter, early_seen);
  s->record(*early);
  enqueue_count(*s, counter, late_seen);
  s->record(*late);

  std::vector<std::thread> waiting;
  for (const wait_mode how : {wait_mode::block, wait_mode::yield, wait_mode::block}) {
    waiting.emplace_back([&, how] {
      late->wait(how);
      EXPECT_EQ(value_of(late_seen), 2);
    });
    waiting.emplace_back([&, how] {
      early->wait(how);
      EXPECT_EQ(value_of(early_seen), 1);
    });
  }
  held->open();
  for (std::thread& t : waiting) t.join();
}

TEST_F(conformance_event, can_be_destroyed_while_it_is_pending) {
  const auto s = make_stream("s");
  const memory counter = make_counter();
  on().enqueue_busy(*s, 1000);
  auto timed = dev().make_timed_event("timed");
  auto plain = dev().make_event("plain");
  s->record(*timed);
  s->record(*plain);
  on().enqueue_add_one(*s, counter.data());
  timed.reset();
  plain.reset();
  dev().synchronize(wait_mode::block);
  EXPECT_EQ(read(counter), 1);
}

TEST_F(conformance_event, outlives_the_stream_it_was_recorded_on) {
  const auto e = dev().make_event("e");
  {
    const auto s = make_stream("short-lived");
    on().enqueue_busy(*s, 200);
    s->record(*e);
  }
  e->wait(wait_mode::block);
  // A new stream may reuse the first one's lane; the event remains passed.
  const auto next = make_stream("next");
  const auto held = on().enqueue_gate(*next);
  EXPECT_TRUE(e->done());
  held->open();
}

TEST_F(conformance_event, times_cover_the_operations_between_two) {
  const auto s = make_stream("s");
  std::vector<std::unique_ptr<timed_event>> marks;
  for (int i = 0; i < 5; ++i) {
    marks.push_back(dev().make_timed_event("mark"));
    s->record(*marks.back());
    on().enqueue_busy(*s, 500);
  }
  dev().synchronize(wait_mode::block);
  // Half the nominal time is a safe lower bound for any device clock.
  for (std::size_t i = 1; i < marks.size(); ++i) EXPECT_GE(marks[i]->since(*marks[i - 1]), 250'000);
  EXPECT_EQ(marks[0]->since(*marks[0]), 0);
  EXPECT_EQ(marks[4]->since(*marks[0]), -marks[0]->since(*marks[4]));
}

TEST_F(conformance_event, is_found_on_the_host_clock_between_host_stamps_around_it) {
  const auto s = make_stream("s");
  const auto e = dev().make_timed_event("e");
  for (int i = 0; i < 20; ++i) {
    const nanoseconds before = on().host_now();
    s->record(*e);
    e->wait(wait_mode::spin);
    const nanoseconds after = on().host_now();
    const host_point point = e->on_host_clock();
    EXPECT_GE(point.error, 0);
    EXPECT_GE(point.at, before - point.error);
    EXPECT_LE(point.at, after + point.error);
  }
}

}  // namespace
}  // namespace graphline::conformance
