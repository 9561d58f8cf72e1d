// Graphs: capture of one stream and of several, listing, launching.

#include <stdexcept>
#include <thread>

#include "tests/device/conformance/fixture.hpp"
#include "tests/device/conformance/test_function.hpp"

namespace graphline::conformance {
namespace {

class conformance_capture : public device_test {
 protected:
  /// A graph that adds `times` to the counter, one by one.
  std::unique_ptr<graph> capture_adds(stream& s, const memory& counter, int times) {
    return dev().capture(s, [&] {
      for (int i = 0; i < times; ++i) on().enqueue_add_one(s, counter.data());
    });
  }
};

TEST_F(conformance_capture, replays_what_it_captured_at_every_launch) {
  const auto s = make_stream("s");
  const memory counter = make_counter();
  const auto exec = capture_adds(*s, counter, 3)->instantiate();  // outlives the graph
  for (int i = 0; i < 4; ++i) s->launch(*exec);
  dev().synchronize(wait_mode::block);
  EXPECT_EQ(read(counter), 12);
}

TEST_F(conformance_capture, replays_copies_and_fills_on_the_memory_as_it_is_then) {
  const auto s = make_stream("s");
  const memory source = dev().allocate_pinned(8);
  const memory block = dev().allocate(16);
  const memory target = dev().allocate_pinned(16);
  const auto exec = make_exec(*s, [&] {
    s->fill(block.data(), std::byte{'-'}, 16);
    s->copy(block.at(4), source.data(), 8);
    s->copy(target.data(), block.data(), 16);
  });
  for (const char* text : {"12345678", "abcdefgh"}) {
    std::memcpy(source.data(), text, 8);
    s->launch(*exec);
    dev().synchronize(wait_mode::block);
    EXPECT_EQ(std::string(static_cast<const char*>(target.data()), 16),
              "----" + std::string(text) + "----");
  }
}

TEST_F(conformance_capture, launches_keep_the_order_of_their_stream) {
  const auto s = make_stream("s");
  const memory counter = make_counter();
  const auto exec = capture_adds(*s, counter, 10)->instantiate();
  const memory before = make_reading();
  const memory between = make_reading();
  const memory after = make_reading();
  enqueue_count(*s, counter, before);
  s->launch(*exec);
  s->copy(between.data(), counter.data(), sizeof(std::int32_t));
  s->launch(*exec);
  enqueue_count(*s, counter, after);
  dev().synchronize(wait_mode::block);
  EXPECT_EQ(value_of(before), 1);
  EXPECT_EQ(value_of(between), 11);
  EXPECT_EQ(value_of(after), 22);
}

TEST_F(conformance_capture, launches_are_asynchronous_to_the_caller) {
  const auto s = make_stream("s");
  const memory counter = make_counter();
  const auto exec = capture_adds(*s, counter, 2)->instantiate();
  const auto end = dev().make_event("end");
  const auto held = on().enqueue_gate(*s);
  s->launch(*exec);
  s->record(*end);
  EXPECT_FALSE(end->done());
  held->open();
  end->wait(wait_mode::block);
  EXPECT_EQ(read(counter), 2);
}

TEST_F(conformance_capture, one_executable_never_overlaps_itself_on_two_streams) {
  const auto a = make_stream("a", priority::low);
  const auto b = make_stream("b", priority::high);
  const memory counter = make_counter();
  const memory first = make_reading();
  const memory second = make_reading();
  const auto exec = make_exec(*a, [&] {
    // Copies the last reading and takes a new one; overlapping launches would lose a value.
    a->copy(second.data(), first.data(), sizeof(std::int32_t));
    enqueue_count(*a, counter, first);
  });
  const auto held = on().enqueue_gate(*a);
  for (int i = 0; i < 20; ++i) {
    a->launch(*exec);
    b->launch(*exec);
  }
  held->open();
  dev().synchronize(wait_mode::block);
  EXPECT_EQ(value_of(first), 40);
  EXPECT_EQ(value_of(second), 39);
}

TEST_F(conformance_capture, an_executable_can_be_destroyed_right_after_its_launch) {
  const auto s = make_stream("s");
  const memory counter = make_counter();
  auto exec = capture_adds(*s, counter, 3)->instantiate();
  on().enqueue_busy(*s, 500);
  s->launch(*exec);
  exec.reset();
  dev().synchronize(wait_mode::block);
  EXPECT_EQ(read(counter), 3);
}

TEST_F(conformance_capture, an_empty_graph_can_be_launched) {
  const auto s = make_stream("s");
  const auto g = dev().capture(*s, [] {});
  EXPECT_TRUE(g->nodes().empty());
  const auto exec = g->instantiate();
  const auto end = dev().make_event("end");
  s->launch(*exec);
  s->record(*end);
  end->wait(wait_mode::block);
}

TEST_F(conformance_capture, lists_its_nodes_with_type_and_dependencies) {
  const memory counter = make_counter();
  const memory reading = make_reading();
  const auto e = dev().make_timed_event("e");
  test_function note("note", [] {});
  const auto s = make_stream("s");
  const auto g = dev().capture(*s, [&] {
    s->fill(counter.data(), std::byte{0}, sizeof(std::int32_t));
    on().enqueue_add_one(*s, counter.data());
    s->stamp(*e);
    s->call(note);
    s->copy(reading.data(), counter.data(), sizeof(std::int32_t));
  });
  const std::vector<graph_node> nodes = g->nodes();
  std::vector<std::string> types;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    types.push_back(nodes[i].type);
    EXPECT_FALSE(nodes[i].name.empty());
    EXPECT_EQ(nodes[i].after, i == 0 ? std::vector<std::size_t>{} : std::vector{i - 1});
  }
  EXPECT_THAT(types, testing::ElementsAre("fill", "operation", "stamp", "call", "copy"));
  EXPECT_EQ(nodes[3].name, "note");
}

TEST_F(conformance_capture, spreads_over_streams_that_wait_for_it_and_joins_them_again) {
  const auto s = make_stream("origin");
  const auto side = make_stream("side");
  const memory left = make_counter();
  const memory right = make_counter();
  const memory left_seen = make_reading();
  const memory right_seen = make_reading();
  const auto g = dev().capture(*s, [&] {
    on().enqueue_add_one(*s, left.data());
    follow(*s, *side);
    on().enqueue_add_one(*side, right.data());
    on().enqueue_add_one(*s, left.data());
    follow(*side, *s);
    s->copy(left_seen.data(), left.data(), sizeof(std::int32_t));
    s->copy(right_seen.data(), right.data(), sizeof(std::int32_t));
  });

  const std::vector<graph_node> nodes = g->nodes();
  ASSERT_EQ(nodes.size(), 5U);
  std::size_t with_two = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const std::size_t before : nodes[i].after) EXPECT_LT(before, i);
    with_two += nodes[i].after.size() == 2 ? 1 : 0;
  }
  EXPECT_EQ(with_two, 1U);  // the first copy, which follows both branches

  const auto exec = g->instantiate();
  s->launch(*exec);
  s->launch(*exec);
  // The side stream has left the capture.
  on().enqueue_add_one(*side, right.data());
  dev().synchronize(wait_mode::block);
  EXPECT_EQ(value_of(left_seen), 4);
  EXPECT_GE(value_of(right_seen), 2);
  EXPECT_EQ(read(right), 3);
}

TEST_F(conformance_capture, leaves_timed_events_unstamped) {
  const auto s = make_stream("s");
  const auto e = dev().make_timed_event("e");
  const memory counter = make_counter();
  const auto exec = make_exec(*s, [&] {
    on().enqueue_add_one(*s, counter.data());
    s->record(*e);
  });
  s->launch(*exec);
  dev().synchronize(wait_mode::block);
  EXPECT_THROW(static_cast<void>(e->on_host_clock()), run_error);
  // It can be recorded on a stream again.
  s->record(*e);
  e->wait(wait_mode::block);
  EXPECT_GT(e->on_host_clock().at, 0);
}

TEST_F(conformance_capture, refuses_a_branch_that_is_not_joined_and_names_it) {
  const auto s = make_stream("origin");
  const auto side = make_stream("lost branch");
  const memory counter = make_counter();
  expect_run_error(
      [&] {
        dev().capture(*s, [&] {
          on().enqueue_add_one(*s, counter.data());
          follow(*s, *side);
          on().enqueue_add_one(*side, counter.data());
        });
      },
      "lost branch");
  // Both streams have left the capture.
  on().enqueue_add_one(*s, counter.data());
  dev().synchronize(wait_mode::block);
  on().enqueue_add_one(*side, counter.data());
  dev().synchronize(wait_mode::block);
  EXPECT_EQ(read(counter), 2);
}

TEST_F(conformance_capture, holds_no_other_capture_of_its_stream_and_no_launch) {
  const auto s = make_stream("origin");
  const auto exec = make_exec(*s, [] {});
  expect_run_error([&] { dev().capture(*s, [&] { dev().capture(*s, [] {}); }); }, "origin");
  expect_run_error([&] { dev().capture(*s, [&] { s->launch(*exec); }); }, "origin");
}

TEST_F(conformance_capture, refuses_to_wait_on_the_host_for_what_is_only_captured) {
  const auto s = make_stream("s");
  const auto e = dev().make_event("marker");
  const memory counter = make_counter();
  expect_run_error(
      [&] {
        dev().capture(*s, [&] {
          on().enqueue_add_one(*s, counter.data());
          s->record(*e);
          e->wait(wait_mode::block);
        });
      },
      "marker");
  expect_run_error([&] { static_cast<void>(e->done()); }, "marker");
  EXPECT_THROW(dev().capture(*s, [&] { dev().synchronize(wait_mode::block); }), run_error);
  dev().synchronize(wait_mode::block);
  EXPECT_EQ(read(counter), 0);
}

TEST_F(conformance_capture, refuses_to_depend_on_work_outside_it) {
  const auto s = make_stream("origin");
  const auto outside = make_stream("outside");
  const auto e = dev().make_event("outer");
  outside->record(*e);
  expect_run_error([&] { dev().capture(*s, [&] { s->wait(*e); }); }, "outer");
}

TEST_F(conformance_capture, an_exception_ends_it_and_passes_through) {
  const auto s = make_stream("s");
  const auto side = make_stream("side");
  const memory counter = make_counter();
  EXPECT_THROW(dev().capture(*s,
                             [&] {
                               on().enqueue_add_one(*s, counter.data());
                               follow(*s, *side);
                               throw std::logic_error("the body gave up");
                             }),
               std::logic_error);
  on().enqueue_add_one(*s, counter.data());
  dev().synchronize(wait_mode::block);
  on().enqueue_add_one(*side, counter.data());
  dev().synchronize(wait_mode::block);
  EXPECT_EQ(read(counter), 2);
  // And a new capture can begin.
  const auto exec = capture_adds(*s, counter, 1)->instantiate();
  s->launch(*exec);
  dev().synchronize(wait_mode::block);
  EXPECT_EQ(read(counter), 3);
}

TEST_F(conformance_capture, leaves_other_streams_working) {
  const auto s = make_stream("s");
  const auto other = make_stream("other");
  const memory counter = make_counter();
  const auto end = dev().make_event("end");
  dev().capture(*s, [&] {
    std::thread([&] {
      on().enqueue_add_one(*other, counter.data());
      other->record(*end);
      end->wait(wait_mode::block);
    }).join();
  });
  EXPECT_EQ(read(counter), 1);
}

}  // namespace
}  // namespace graphline::conformance
