// Host functions in streams and graphs, alone and concurrent with other work.
//
// While a call is blocked, nothing is allocated, freed or used for the first time, since that may
// synchronize the device.

#include <algorithm>
#include <thread>

#include "tests/device/conformance/fixture.hpp"
#include "tests/device/conformance/test_function.hpp"

namespace graphline::conformance {
namespace {

class conformance_call : public device_test {
 protected:
  static constexpr const char* no_real_time = "calls run on the waiting thread";

  /// Increments the counter, copies it to `reading` and calls `note`.
  void enqueue_note(stream& s, const memory& counter, const memory& reading, test_function& note) {
    enqueue_count(s, counter, reading);
    s.call(note);
  }
};

TEST_F(conformance_call, is_called_when_what_is_before_it_in_its_stream_is_done) {
  const memory counter = make_counter();
  const memory reading = make_reading();
  std::vector<std::int32_t> seen;
  test_function note("note", [&] { seen.push_back(value_of(reading)); });
  const auto s = make_stream("s");
  on().enqueue_busy(*s, 200);
  for (int i = 0; i < 3; ++i) enqueue_note(*s, counter, reading, note);
  dev().synchronize(wait_mode::block);
  EXPECT_THAT(seen, testing::ElementsAre(1, 2, 3));
}

TEST_F(conformance_call, has_returned_when_what_follows_in_its_stream_starts) {
  const memory source = make_reading();
  const memory target = make_counter();
  test_function write("write", [&] {
    const std::int32_t value = 7;
    std::memcpy(source.data(), &value, sizeof value);
  });
  const auto s = make_stream("s");
  s->call(write);
  s->copy(target.data(), source.data(), sizeof(std::int32_t));
  dev().synchronize(wait_mode::block);
  EXPECT_EQ(read(target), 7);
}

TEST_F(conformance_call, is_asynchronous_to_the_caller) {
  std::thread::id thread;
  std::atomic<bool> called = false;
  test_function note("note", [&] {
    thread = std::this_thread::get_id();
    called = true;
  });
  const auto s = make_stream("s");
  const auto held = on().enqueue_gate(*s);
  s->call(note);
  EXPECT_FALSE(called);
  held->open();
  dev().synchronize(wait_mode::block);
  EXPECT_TRUE(called);
  EXPECT_EQ(thread != std::this_thread::get_id(), on().goes_on_by_itself());
}

TEST_F(conformance_call, holds_up_its_own_stream_and_those_that_wait_for_it) {
  if (!on().goes_on_by_itself()) GTEST_SKIP() << no_real_time;
  const memory counter = make_counter();
  const auto after = dev().make_event("after");
  const auto end = dev().make_event("end");
  held_function held("held");
  const auto s = make_stream("s");
  const auto waiting = make_stream("waiting");
  on().enqueue_add_one(*waiting, counter.data());
  dev().synchronize(wait_mode::block);
  const opened_at_end opened(held);

  s->call(held);
  s->record(*after);
  waiting->wait(*after);
  on().enqueue_add_one(*waiting, counter.data());
  waiting->record(*end);
  held.wait_until_called();
  EXPECT_FALSE(after->done());
  EXPECT_FALSE(end->done());
  held.open();
  end->wait(wait_mode::block);
  EXPECT_TRUE(after->done());
  EXPECT_EQ(read(counter), 2);
}

TEST_F(conformance_call, lets_other_streams_go_on_while_it_is_held_up) {
  if (!on().goes_on_by_itself()) GTEST_SKIP() << no_real_time;
  const memory counter = make_counter();
  const memory reading = make_reading();
  const auto end = dev().make_event("end");
  const auto after = dev().make_event("after");
  held_function held("held");
  const auto s = make_stream("s");
  const auto other = make_stream("other");
  const auto exec = make_exec(*other, [&] { enqueue_count(*other, counter, reading); });
  enqueue_count(*other, counter, reading);
  other->launch(*exec);
  dev().synchronize(wait_mode::block);
  const opened_at_end opened(held);

  s->call(held);
  s->record(*after);
  held.wait_until_called();
  for (const wait_mode how : {wait_mode::spin, wait_mode::yield, wait_mode::block}) {
    const std::int32_t before = value_of(reading);
    enqueue_count(*other, counter, reading);
    other->launch(*exec);
    other->record(*end);
    end->wait(how);
    EXPECT_EQ(value_of(reading), before + 2);
  }
  EXPECT_FALSE(after->done());
  held.open();
  dev().synchronize(wait_mode::block);
}

TEST_F(conformance_call, never_runs_beside_another) {
  constexpr int each = 100;
  std::atomic<int> inside = 0;
  int most_inside = 0;
  int calls = 0;  // not atomic: calls never overlap
  test_function count("count", [&] {
    most_inside = std::max(most_inside, inside.fetch_add(1) + 1);
    ++calls;
    std::this_thread::yield();
    inside.fetch_sub(1);
  });
  const auto a = make_stream("a", priority::low);
  const auto b = make_stream("b", priority::high);
  for (int i = 0; i < each; ++i) {
    a->call(count);
    b->call(count);
  }
  dev().synchronize(wait_mode::block);
  EXPECT_EQ(calls, 2 * each);
  EXPECT_EQ(most_inside, 1);
}

TEST_F(conformance_call, in_a_graph_keeps_its_place_at_every_launch) {
  const memory counter = make_counter();
  const memory before = make_reading();
  const memory after = make_reading();
  std::vector<std::int32_t> seen;
  test_function note("note", [&] {
    seen.push_back(value_of(before));
    const std::int32_t raised = value_of(before) + 10;
    std::memcpy(after.data(), &raised, sizeof raised);
  });
  const auto s = make_stream("s");
  const auto exec = make_exec(*s, [&] {
    enqueue_note(*s, counter, before, note);
    s->copy(counter.data(), after.data(), sizeof(std::int32_t));
  });
  dev().synchronize(wait_mode::block);
  EXPECT_THAT(seen, testing::IsEmpty());
  for (int i = 0; i < 3; ++i) s->launch(*exec);
  dev().synchronize(wait_mode::block);
  EXPECT_THAT(seen, testing::ElementsAre(1, 12, 23));
  EXPECT_EQ(read(counter), 33);
}

TEST_F(conformance_call, in_each_branch_of_a_graph_is_made_before_the_branches_join) {
  const memory left = make_counter();
  const memory right = make_counter(100);
  const memory left_read = make_reading();
  const memory right_read = make_reading();
  std::vector<std::int32_t> left_seen;
  std::vector<std::int32_t> right_seen;
  std::vector<std::int32_t> sums;
  test_function note_left("left", [&] { left_seen.push_back(value_of(left_read)); });
  test_function note_right("right", [&] { right_seen.push_back(value_of(right_read)); });
  test_function add("add", [&] { sums.push_back(left_seen.back() + right_seen.back()); });
  const auto s = make_stream("origin");
  const auto side = make_stream("side");
  const auto exec = make_exec(*s, [&] {
    follow(*s, *side);
    enqueue_note(*side, right, right_read, note_right);
    enqueue_note(*s, left, left_read, note_left);
    follow(*side, *s);
    s->call(add);
  });
  for (int i = 0; i < 3; ++i) s->launch(*exec);
  dev().synchronize(wait_mode::block);
  EXPECT_THAT(left_seen, testing::ElementsAre(1, 2, 3));
  EXPECT_THAT(right_seen, testing::ElementsAre(101, 102, 103));
  EXPECT_THAT(sums, testing::ElementsAre(102, 104, 106));
}

TEST_F(conformance_call, in_a_graph_is_made_before_the_executable_is_gone) {
  int calls = 0;
  test_function note("note", [&] { ++calls; });
  const auto s = make_stream("s");
  auto exec = make_exec(*s, [&] {
    on().enqueue_busy(*s, 200);
    s->call(note);
  });
  s->launch(*exec);
  exec.reset();
  dev().synchronize(wait_mode::block);
  EXPECT_EQ(calls, 1);
}

TEST_F(conformance_call, is_skipped_once_the_device_has_failed) {
  int calls = 0;
  test_function note("note", [&] { ++calls; });
  const auto end = dev().make_event("end");
  const auto s = make_stream("s");
  const auto exec = make_exec(*s, [&] {
    on().enqueue_failure(*s);
    s->call(note);
  });
  s->launch(*exec);
  s->call(note);
  s->record(*end);
  expect_run_error([&] { end->wait(wait_mode::block); }, on().failure_text());
  expect_run_error([&] { dev().synchronize(wait_mode::block); }, on().failure_text());
  EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace graphline::conformance
