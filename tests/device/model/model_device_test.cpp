// Exact times of the `model` device. model_schedule_test.cpp checks random programs.

#include <cstddef>
#include <cstring>
#include <vector>

#include "framework/base/error.hpp"
#include "tests/device/conformance/test_function.hpp"
#include "tests/device/model/model_fixture.hpp"

namespace graphline {
namespace {

using conformance::test_function;
using testing::ElementsAre;
using model_device = model_test;

TEST_F(model_device, carries_out_one_operation_at_a_time_in_turns) {
  EXPECT_TRUE(dev_->properties().one_at_a_time);
  const auto a = make_stream("a");
  const auto b = make_stream("b");
  operate(*a, "a1", 10);
  operate(*a, "a2", 20);
  operate(*b, "b1", 5);
  operate(*b, "b2", 1);
  EXPECT_EQ(finish(), 36);
  EXPECT_THAT(starts_, ElementsAre(started{"a1", 0}, started{"b1", 10}, started{"a2", 15},
                                   started{"b2", 35}));
}

TEST_F(model_device, prefers_the_higher_priority_where_an_operation_ends) {
  const auto low = make_stream("low", priority::low);
  const auto normal = make_stream("normal");
  const auto high = make_stream("high", priority::high);
  operate(*low, "low 1", 10);
  operate(*low, "low 2", 10);
  clock_.advance_to(3);
  operate(*normal, "normal", 10);
  clock_.advance_to(5);
  operate(*high, "high", 10);
  EXPECT_EQ(finish(), 40);
  EXPECT_THAT(starts_, ElementsAre(started{"low 1", 0}, started{"high", 10}, started{"normal", 20},
                                   started{"low 2", 30}));
}

TEST_F(model_device, picks_later_than_all_that_is_due_at_a_time) {
  const auto low = make_stream("low", priority::low);
  const auto high = make_stream("high", priority::high);
  clock_.at(5, [&] {
    operate(*low, "low", 10);
    clock_.at(5, [&] { operate(*high, "high", 10); });
  });
  clock_.advance_to(100);
  EXPECT_THAT(starts_, ElementsAre(started{"high", 5}, started{"low", 15}));
}

TEST_F(model_device, copies_beside_operations_by_latency_and_bandwidth) {
  open({.copies_apart = true, .copy_latency = 100, .copy_bandwidth = 2e9});
  EXPECT_FALSE(dev_->properties().one_at_a_time);
  const memory from = dev_->allocate(1'000);
  const memory to = dev_->allocate(1'000);
  const auto a = make_stream("a");
  const auto b = make_stream("b");
  const auto end = dev_->make_timed_event("end");
  a->fill(from.data(), std::byte{7}, 1'000);  // 0 to 600
  a->copy(to.data(), from.data(), 400);       // 701 to 1001, behind that of b
  b->copy(from.at(999), from.data(), 1);      // 600 to 701 (half a nanosecond, rounded)
  a->record(*end);
  operate(*b, "b1", 50);
  clock_.advance_to(599);
  EXPECT_NE(*from.at(0), std::byte{7});
  clock_.advance_to(600);
  EXPECT_EQ(*from.at(0), std::byte{7});
  EXPECT_EQ(finish(), 1'001);
  EXPECT_EQ(end->on_host_clock().at, 1'001);
  EXPECT_THAT(starts_, ElementsAre(started{"b1", 701}));
  EXPECT_EQ(std::memcmp(to.data(), from.data(), 400), 0);
}

TEST_F(model_device, does_nothing_before_its_clock_goes_on) {
  const memory block = dev_->allocate(1);
  int calls = 0;
  test_function note("note", [&] { ++calls; });
  const auto s = make_stream("s");
  const auto passed = dev_->make_event("passed");
  s->fill(block.data(), std::byte{1}, 1);
  s->call(note);
  s->record(*passed);
  operate(*s, "later", 10);
  EXPECT_FALSE(passed->done());
  EXPECT_EQ(calls, 0);
  EXPECT_NE(*block.at(0), std::byte{1});
  passed->wait(wait_mode::spin);
  EXPECT_TRUE(passed->done());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(*block.at(0), std::byte{1});
  EXPECT_EQ(clock_.now(), 0);
  EXPECT_EQ(finish(), 10);
}

TEST_F(model_device, calls_host_functions_at_the_end_of_their_time_and_one_at_a_time) {
  std::vector<nanoseconds> called;
  test_function free("free", [&] { called.push_back(clock_.now()); });
  timed_function slow("slow", 40, [&] { called.push_back(clock_.now()); });
  const auto a = make_stream("a");
  const auto b = make_stream("b", priority::high);
  operate(*a, "a1", 10);
  a->call(free);
  a->call(slow);  // 10 to 50
  operate(*a, "a2", 1);
  operate(*b, "b1", 20);  // goes first: 0 to 20, so that a1 ends at 30
  b->call(slow);          // 20 to 60
  operate(*b, "b2", 1);
  EXPECT_EQ(finish(), 101);
  EXPECT_THAT(called, ElementsAre(60, 60, 100));
  EXPECT_THAT(starts_, ElementsAre(started{"b1", 0}, started{"a1", 20}, started{"b2", 60},
                                   started{"a2", 100}));
}

TEST_F(model_device, reads_times_as_coarsely_as_its_clock_ticks) {
  open({.clock_tick = 32});
  const auto s = make_stream("s");
  const auto begin = dev_->make_timed_event("begin");
  const auto end = dev_->make_timed_event("end");
  operate(*s, "first", 50);
  s->record(*begin);
  operate(*s, "second", 100);
  s->record(*end);
  finish();
  EXPECT_EQ(begin->on_host_clock().at, 32);
  EXPECT_EQ(end->on_host_clock().at, 128);
  EXPECT_EQ(end->on_host_clock().error, 31);
  EXPECT_EQ(end->since(*begin), 96);
  EXPECT_EQ(end->busy_since(*begin), 100);
  EXPECT_EQ(dev_->check_clock().error, 31);
  EXPECT_EQ(dev_->check_clock().at, 150);
  EXPECT_EQ(dev_->check_clock().drift, 0);
}

TEST_F(model_device, traces_operations_and_copies_with_their_times) {
  open({.operations_at_once = 2, .copy_latency = 3});
  EXPECT_FALSE(dev_->properties().one_at_a_time);
  const memory block = dev_->allocate(4);
  const auto a = make_stream("a");
  const auto b = make_stream("b");
  const auto trace = dev_->trace_operations();
  operate(*a, "long", 10);
  operate(*b, "short", 2);
  b->fill(block.data(), std::byte{0}, 4);
  finish();
  std::vector<started> noted;
  for (const operation_time& o : trace->take()) noted.emplace_back(o.name, o.duration);
  EXPECT_THAT(noted, ElementsAre(started{"long", 10}, started{"short", 2}, started{"fill 4 B", 3}));
}

TEST_F(model_device, may_be_used_by_what_is_due_on_its_clock) {
  const auto s = make_stream("s");
  const auto end = dev_->make_timed_event("end");
  clock_.at(5, [&] {
    operate(*s, "one", 10);
    s->record(*end);
    end->wait(wait_mode::block);
    EXPECT_EQ(clock_.now(), 15);
    operate(*s, "two", 10);
  });
  clock_.at(9, [&] { operate(*s, "between", 1); });
  while (clock_.step()) {
  }
  EXPECT_EQ(clock_.now(), 26);
  EXPECT_THAT(starts_, ElementsAre(started{"one", 5}, started{"between", 15}, started{"two", 16}));
}

TEST_F(model_device, fails_in_an_operation_that_is_told_to_take_less_than_no_time) {
  const auto s = make_stream("s");
  model_operate(*s, "early", -3);
  operate(*s, "after", 10);
  try {
    finish();
    FAIL() << "it goes back in time";
  } catch (const run_error& e) {
    EXPECT_STREQ(e.what(), "operation 'early' failed on the model device: its duration is -3 ns");
  }
  EXPECT_EQ(clock_.now(), 0);
  EXPECT_THAT(starts_, testing::IsEmpty());
}

TEST_F(model_device, refuses_settings_without_meaning_and_streams_of_others) {
  EXPECT_THROW(open({.operations_at_once = 0}), input_error);
  EXPECT_THROW(open({.copy_latency = -1}), input_error);
  EXPECT_THROW(open({.copy_bandwidth = -1}), input_error);
  EXPECT_THROW(open({.operation_overhead = -1}), input_error);
  EXPECT_THROW(open({.graph_overhead = -1}), input_error);
  EXPECT_THROW(open({.idle_start = -1}), input_error);
  EXPECT_THROW(open({.clock_tick = 0}), input_error);
  const auto other = open_model_device(clock_, {});
  const auto e = other->make_event("e");
  const auto s = make_stream("s");
  EXPECT_THROW(s->record(*e), run_error);
}

}  // namespace
}  // namespace graphline
