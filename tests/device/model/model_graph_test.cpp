// Graphs, overheads and busy time on the `model` device, to the nanosecond.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "tests/device/model/model_fixture.hpp"

namespace graphline {
namespace {

using testing::ElementsAre;
using model_graph = model_test;

TEST_F(model_graph, replays_the_branches_of_a_graph_as_their_dependencies_allow) {
  for (const int at_once : {1, 2}) {
    open({.operations_at_once = at_once});
    starts_.clear();
    const nanoseconds t = clock_.now();
    const auto s = make_stream("s");
    const auto side = make_stream("side");
    const auto left = dev_->make_timed_event("left");
    const auto right = dev_->make_timed_event("right");
    nanoseconds time_of_root = 10;
    const auto exec = make_exec(*s, [&] {
      model_operate(*s, "root", [&] { return time_of_root; });
      follow(*s, *side);
      operate(*s, "left 1", 5);
      operate(*s, "left 2", 5);
      s->stamp(*left);
      operate(*side, "right", 7);
      side->stamp(*right);
      follow(*side, *s);
      operate(*s, "join", 1);
    });
    s->launch(*exec);
    if (at_once == 1) {
      EXPECT_EQ(finish() - t, 28);
      EXPECT_THAT(starts_, ElementsAre(started{"left 1", t + 10}, started{"right", t + 15},
                                       started{"left 2", t + 22}, started{"join", t + 27}));
      EXPECT_EQ(right->on_host_clock().at, t + 22);
    } else {
      EXPECT_EQ(finish() - t, 21);
      EXPECT_THAT(starts_, ElementsAre(started{"left 1", t + 10}, started{"right", t + 10},
                                       started{"left 2", t + 15}, started{"join", t + 20}));
      EXPECT_EQ(left->since(*right), 3);
    }
    // Each launch calls the duration functions.
    time_of_root = 110;
    const nanoseconds second = clock_.now();
    s->launch(*exec);
    EXPECT_EQ(finish() - second, at_once == 1 ? 128 : 121);
    EXPECT_EQ(left->on_host_clock().at, second + (at_once == 1 ? 127 : 120));
    marks_.clear();
  }
}

TEST_F(model_graph, starts_late_after_it_was_idle_and_at_once_while_it_is_busy) {
  open({.idle_start = 30});
  const auto a = make_stream("a");
  const auto b = make_stream("b");
  const auto end = dev_->make_timed_event("end");
  operate(*a, "a1", 20);  // 30 to 50
  operate(*b, "b1", 20);  // 50 to 70
  operate(*a, "a2", 20);  // 70 to 90
  a->record(*end);
  EXPECT_EQ(finish(), 90);
  EXPECT_EQ(end->on_host_clock().at, 90);
  clock_.advance_to(100);
  operate(*b, "b2", 20);  // 130 to 150
  clock_.advance_to(110);
  operate(*a, "a3", 5);  // 150 to 155
  EXPECT_EQ(finish(), 155);
}

TEST_F(model_graph, starts_later_after_it_was_idle_for_long) {
  open({.idle_start = 30, .short_idle_start = 2, .long_idle = 100});
  const auto a = make_stream("a");
  clock_.advance_to(100);
  operate(*a, "a1", 20);  // 130 to 150
  EXPECT_EQ(finish(), 150);
  clock_.advance_to(249);
  operate(*a, "a2", 20);  // 251 to 271
  EXPECT_EQ(finish(), 271);
  clock_.advance_to(371);
  operate(*a, "a3", 20);  // 401 to 421
  EXPECT_EQ(finish(), 421);
}

TEST_F(model_graph, spends_overheads_before_operations_and_graphs_and_occupies_nothing) {
  open({.copy_latency = 4, .operation_overhead = 2, .graph_overhead = 30});
  const memory block = dev_->allocate(1);
  const auto a = make_stream("a");
  const auto b = make_stream("b");
  const auto begin = dev_->make_timed_event("begin");
  const auto end = dev_->make_timed_event("end");
  const auto exec = make_exec(*b, [&] {
    operate(*b, "node 1", 10);
    operate(*b, "node 2", 10);
  });
  a->record(*begin);
  operate(*a, "a1", 20);                   // 2 to 22
  operate(*a, "a2", 20);                   // 24 to 44
  a->fill(block.data(), std::byte{1}, 1);  // ready at 46, behind node 1
  a->record(*end);
  b->launch(*exec);  // node 1 ready at 32: 44 to 54; node 2 ready at 56
  EXPECT_EQ(finish(), 68);
  EXPECT_THAT(starts_, ElementsAre(started{"a1", 2}, started{"a2", 24}, started{"node 1", 44},
                                   started{"node 2", 58}));
  EXPECT_EQ(end->since(*begin), 58);
  EXPECT_EQ(end->busy_since(*begin), 44);
}

TEST_F(model_graph, spends_the_time_of_the_selected_body) {
  open({.operation_overhead = 2});
  const memory selector = dev_->allocate_pinned(sizeof(std::uint32_t));
  const auto selected = static_cast<std::uint32_t*>(selector.data());
  timed_function choose("choose", 3, [&] { ++*selected; });
  const auto begin = dev_->make_timed_event("begin");
  const auto end = dev_->make_timed_event("end");
  const auto s = make_stream("s");
  const auto side = make_stream("side");
  const auto exec = make_exec(*s, [&] {
    follow(*s, *side);
    operate(*side, "beside", 50);
    s->stamp(*begin);
    s->call(choose);
    s->select(selected, std::vector<std::function<void()>>{[&] { operate(*s, "one", 10); },
                                                           [&] {
                                                             operate(*s, "two", 20);
                                                             operate(*s, "three", 30);
                                                           },
                                                           [] {}});
    s->stamp(*end);
    operate(*s, "last", 1);
    follow(*side, *s);
  });
  *selected = static_cast<std::uint32_t>(-1);
  for (const auto& [span, busy] : {std::pair{62, 10}, {104, 50}, {3, 0}, {3, 0}}) {
    starts_.clear();
    const nanoseconds t = clock_.now();
    s->launch(*exec);  // beside 2 to 52; the call to 3; the body's first operation from 52
    EXPECT_EQ(finish() - t, busy == 0 ? 53 : span + 3);
    EXPECT_EQ(end->since(*begin), span);
    EXPECT_EQ(end->busy_since(*begin), busy);
  }
}

TEST_F(model_graph, tells_busy_time_apart_from_time_spent_on_other_streams) {
  open({.operations_at_once = 2});
  EXPECT_TRUE(dev_->properties().reports_busy_time);
  const auto other = make_stream("other", priority::high);
  const auto s = make_stream("s");
  const auto side = make_stream("side");
  const auto begin = dev_->make_timed_event("begin");
  const auto end = dev_->make_timed_event("end");
  const auto side_begin = dev_->make_timed_event("side begin");
  const auto side_end = dev_->make_timed_event("side end");
  const auto exec = make_exec(*s, [&] {
    follow(*s, *side);
    side->stamp(*side_begin);
    operate(*s, "left", 10);
    operate(*side, "right", 4);
    side->stamp(*side_end);
    follow(*side, *s);
  });
  operate(*other, "other", 100);
  s->record(*begin);
  s->launch(*exec);  // left 0 to 10, right 10 to 14 on the engine that is free
  operate(*s, "after", 6);
  s->record(*end);
  EXPECT_EQ(finish(), 100);
  EXPECT_EQ(end->since(*begin), 20);
  EXPECT_EQ(end->busy_since(*begin), 20);
  EXPECT_EQ(side_end->since(*side_begin), 14);
  EXPECT_EQ(side_end->busy_since(*side_begin), 4);
  s->record(*begin);
  s->launch(*exec);  // side by side
  s->record(*end);
  EXPECT_EQ(finish(), 110);
  EXPECT_EQ(end->busy_since(*begin), 10);
}

}  // namespace
}  // namespace graphline
