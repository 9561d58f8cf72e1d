// Several streams: order by events, and priorities.

#include "tests/device/conformance/fixture.hpp"

namespace graphline::conformance {
namespace {

class conformance_ordering : public device_test {};

TEST_F(conformance_ordering, a_stream_that_waits_starts_after_the_event) {
  const auto first = make_stream("first", priority::low);
  const auto second = make_stream("second", priority::high);
  const memory counter = make_counter();
  const memory seen = make_reading();

  on().enqueue_busy(*first, 500);
  for (int i = 0; i < 5; ++i) on().enqueue_add_one(*first, counter.data());
  follow(*first, *second);
  second->copy(seen.data(), counter.data(), sizeof(std::int32_t));
  dev().synchronize(wait_mode::block);
  EXPECT_EQ(value_of(seen), 5);
}

TEST_F(conformance_ordering, two_streams_can_hand_work_back_and_forth) {
  const auto a = make_stream("a");
  const auto b = make_stream("b");
  const auto a_done = dev().make_event("a done");
  const auto b_done = dev().make_event("b done");
  const memory counter = make_counter();
  std::vector<memory> readings;
  for (int round = 0; round < 50; ++round) {
    readings.push_back(make_reading());
    a->wait(*b_done);
    enqueue_count(*a, counter, readings.back());
    a->record(*a_done);
    readings.push_back(make_reading());
    b->wait(*a_done);
    enqueue_count(*b, counter, readings.back());
    b->record(*b_done);
  }
  dev().synchronize(wait_mode::block);
  for (std::size_t i = 0; i < readings.size(); ++i) {
    EXPECT_EQ(value_of(readings[i]), static_cast<std::int32_t>(i) + 1);
  }
}

TEST_F(conformance_ordering, a_join_waits_for_every_branch) {
  const auto join = make_stream("join", priority::high);
  const memory counter = make_counter();
  const memory seen = make_reading();
  std::vector<std::unique_ptr<stream>> branches;
  std::vector<std::unique_ptr<event>> ends;
  for (int i = 0; i < 8; ++i) {
    branches.push_back(make_stream("branch"));
    ends.push_back(dev().make_event("end"));
    on().enqueue_busy(*branches.back(), 100);
    on().enqueue_add_one(*branches.back(), counter.data());
    branches.back()->record(*ends.back());
    join->wait(*ends.back());
  }
  join->copy(seen.data(), counter.data(), sizeof(std::int32_t));
  dev().synchronize(wait_mode::block);
  EXPECT_EQ(value_of(seen), 8);
}

TEST_F(conformance_ordering, a_wait_refers_to_the_recording_there_was_when_it_was_called) {
  const auto held_up = make_stream("held up");
  const auto waiting = make_stream("waiting");
  const auto e = dev().make_event("e");
  const memory counter = make_counter();
  const memory seen = make_reading();

  on().enqueue_add_one(*held_up, counter.data());
  held_up->record(*e);
  waiting->wait(*e);
  waiting->copy(seen.data(), counter.data(), sizeof(std::int32_t));
  const auto seen_it = dev().make_event("seen it");
  waiting->record(*seen_it);

  // Recorded again after a wait for `waiting`: a wait for the latest recording would never end.
  held_up->wait(*seen_it);
  on().enqueue_add_one(*held_up, counter.data());
  held_up->record(*e);
  dev().synchronize(wait_mode::block);
  EXPECT_EQ(value_of(seen), 1);
  EXPECT_TRUE(e->done());
}

TEST_F(conformance_ordering, an_event_recorded_on_a_faster_stream_does_not_release_earlier_waits) {
  const auto slow = make_stream("slow", priority::low);
  const auto fast = make_stream("fast", priority::high);
  const auto waiting = make_stream("waiting", priority::high);
  const auto e = dev().make_event("e");
  const memory counter = make_counter();
  const memory seen = make_reading();

  const auto held = on().enqueue_gate(*slow);
  on().enqueue_add_one(*slow, counter.data());
  slow->record(*e);
  waiting->wait(*e);
  waiting->copy(seen.data(), counter.data(), sizeof(std::int32_t));
  fast->record(*e);  // passes first
  held->open();
  dev().synchronize(wait_mode::block);
  EXPECT_EQ(value_of(seen), 1);
}

TEST_F(conformance_ordering, the_more_urgent_stream_goes_first_at_the_next_operation) {
  if (dev().properties().priority_levels < 3) GTEST_SKIP() << "the device tells fewer apart";
  if (!on().does_one_thing_at_a_time()) GTEST_SKIP() << "the device overlaps streams";
  const auto blocker = make_stream("blocker");
  const auto low = make_stream("low", priority::low);
  const auto normal = make_stream("normal", priority::normal);
  const auto high = make_stream("high", priority::high);
  const memory counter = make_counter();
  const memory low_seen = make_reading();
  const memory normal_seen = make_reading();
  const memory high_seen = make_reading();

  const auto held = on().enqueue_gate(*blocker);
  while (!held->reached()) std::this_thread::yield();
  on().enqueue_add_one(*low, counter.data());
  enqueue_count(*low, counter, low_seen);
  on().enqueue_add_one(*normal, counter.data());
  enqueue_count(*normal, counter, normal_seen);
  on().enqueue_add_one(*high, counter.data());
  enqueue_count(*high, counter, high_seen);
  held->open();
  dev().synchronize(wait_mode::block);
  EXPECT_EQ(value_of(high_seen), 2);
  EXPECT_EQ(value_of(normal_seen), 4);
  EXPECT_EQ(value_of(low_seen), 6);
}

TEST_F(conformance_ordering, an_urgent_stream_that_is_freed_by_an_event_goes_next) {
  if (dev().properties().priority_levels < 2) GTEST_SKIP() << "the device tells none apart";
  if (!on().does_one_thing_at_a_time()) GTEST_SKIP() << "the device overlaps streams";
  const auto low = make_stream("low", priority::low);
  const auto high = make_stream("high", priority::high);
  const auto freed = dev().make_event("freed");
  const memory counter = make_counter();
  const memory low_seen = make_reading();
  const memory high_seen = make_reading();

  const auto held = on().enqueue_gate(*low);
  low->record(*freed);
  enqueue_count(*low, counter, low_seen);
  high->wait(*freed);
  enqueue_count(*high, counter, high_seen);
  held->open();
  dev().synchronize(wait_mode::block);
  EXPECT_EQ(value_of(high_seen), 1);
  EXPECT_EQ(value_of(low_seen), 2);
}

}  // namespace
}  // namespace graphline::conformance
