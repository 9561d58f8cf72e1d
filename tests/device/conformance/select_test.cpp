// Switches in graphs: the device selects a body when the launch reaches it.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/device/conformance/fixture.hpp"
#include "tests/device/conformance/test_function.hpp"

namespace graphline::conformance {
namespace {

using bodies = std::vector<std::function<void()>>;

/// A selector in pinned memory.
class selector {
 public:
  explicit selector(device& d) : block_(d.allocate_pinned(sizeof(std::uint32_t))) { set(0); }

  void set(std::uint32_t value) const { std::memcpy(block_.data(), &value, sizeof value); }
  const std::uint32_t* data() const { return static_cast<const std::uint32_t*>(block_.data()); }
  void* target() const { return block_.data(); }

 private:
  memory block_;
};

class conformance_select : public device_test {
 protected:
  void SetUp() override {
    device_test::SetUp();
    if (!IsSkipped() && !dev().properties().selects) GTEST_SKIP() << "the device has no switches";
  }

  std::vector<memory> make_counters(std::size_t count) {
    std::vector<memory> counters;
    for (std::size_t i = 0; i < count; ++i) counters.push_back(make_counter());
    return counters;
  }

  /// One body for each counter, which increments it.
  bodies increments(stream& s, const std::vector<memory>& counters) {
    bodies made;
    for (const memory& counter : counters) {
      made.emplace_back([&] { on().enqueue_add_one(s, counter.data()); });
    }
    return made;
  }

  std::vector<std::int32_t> read_all(const std::vector<memory>& counters) {
    std::vector<std::int32_t> values;
    for (const memory& counter : counters) values.push_back(read(counter));
    return values;
  }
};

TEST_F(conformance_select, executes_the_body_that_each_launch_selects_or_none) {
  const selector chosen(dev());
  const std::vector<memory> counters = make_counters(3);
  const memory around = make_counter();
  const auto s = make_stream("s");
  const auto exec = make_exec(*s, [&] {
    on().enqueue_add_one(*s, around.data());
    s->select(chosen.data(), increments(*s, counters));
    on().enqueue_add_one(*s, around.data());
  });
  EXPECT_THAT(read_all(counters), testing::Each(0));
  for (const std::uint32_t value :
       {2U, 0U, 2U, 3U, 1U, std::numeric_limits<std::uint32_t>::max(), 2U}) {
    chosen.set(value);
    s->launch(*exec);
    dev().synchronize(wait_mode::block);
  }
  EXPECT_THAT(read_all(counters), testing::ElementsAre(1, 1, 3));
  EXPECT_EQ(read(around), 14);
}

TEST_F(conformance_select, reads_the_selector_that_a_host_function_of_the_graph_has_written) {
  const selector chosen(dev());
  const std::vector<memory> counters = make_counters(4);
  std::uint32_t next = 0;
  test_function write("write", [&] { chosen.set(next++ % 5); });
  const auto s = make_stream("s");
  const auto exec = make_exec(*s, [&] {
    s->call(write);
    s->select(chosen.data(), increments(*s, counters));
  });
  for (int i = 0; i < 12; ++i) s->launch(*exec);
  dev().synchronize(wait_mode::block);
  EXPECT_THAT(read_all(counters), testing::ElementsAre(3, 3, 2, 2));
}

TEST_F(conformance_select, reads_the_selector_that_an_operation_of_the_graph_has_computed) {
  const selector chosen(dev());
  const memory value = make_counter();
  const std::vector<memory> counters = make_counters(4);
  const auto s = make_stream("s");
  const auto exec = make_exec(*s, [&] {
    on().enqueue_add_one(*s, value.data());
    s->copy(chosen.target(), value.data(), sizeof(std::uint32_t));
    s->select(chosen.data(), increments(*s, counters));
  });
  for (int i = 0; i < 3; ++i) s->launch(*exec);  // selects 1, 2 and 3
  dev().synchronize(wait_mode::block);
  EXPECT_THAT(read_all(counters), testing::ElementsAre(0, 1, 1, 1));
}

TEST_F(conformance_select, keeps_the_order_before_within_and_after_a_body) {
  const selector chosen(dev());
  const memory counter = make_counter();
  std::vector<memory> seen;
  for (int i = 0; i < 5; ++i) seen.push_back(make_reading());
  const auto s = make_stream("s");
  const auto exec = make_exec(*s, [&] {
    s->fill(counter.data(), std::byte{0}, sizeof(std::int32_t));
    enqueue_count(*s, counter, seen[0]);
    s->select(chosen.data(), bodies{[&] {
                                      for (int i = 1; i < 4; ++i)
                                        enqueue_count(*s, counter, seen[i]);
                                    },
                                    [] {}, [&] { s->fill(counter.data(), std::byte{0}, 1); }});
    enqueue_count(*s, counter, seen[4]);
  });
  for (const auto& [value, at_end] : {std::pair{0U, 5}, {1U, 2}, {2U, 1}, {3U, 2}, {0U, 5}}) {
    chosen.set(value);
    s->launch(*exec);
    dev().synchronize(wait_mode::block);
    EXPECT_EQ(value_of(seen[0]), 1);
    EXPECT_EQ(value_of(seen[4]), at_end);
  }
  for (int i = 1; i < 4; ++i) EXPECT_EQ(value_of(seen[i]), i + 1);
}

TEST_F(conformance_select, selects_in_each_switch_of_a_graph_by_itself) {
  const selector first(dev());
  const selector second(dev());
  const std::vector<memory> counters = make_counters(2);
  const std::vector<memory> others = make_counters(3);
  const auto s = make_stream("s");
  const auto exec = make_exec(*s, [&] {
    s->select(first.data(), increments(*s, counters));
    s->select(second.data(), increments(*s, others));
  });
  for (std::uint32_t i = 0; i < 12; ++i) {
    first.set(i % 3);
    second.set(i % 4);
    s->launch(*exec);
    dev().synchronize(wait_mode::block);
  }
  EXPECT_THAT(read_all(counters), testing::ElementsAre(4, 4));
  EXPECT_THAT(read_all(others), testing::ElementsAre(3, 3, 3));
}

TEST_F(conformance_select, orders_bodies_by_the_events_around_their_switch) {
  const selector left_chosen(dev());
  const selector right_chosen(dev());
  const memory left = make_counter();
  const memory right = make_counter();
  const memory left_seen = make_reading();
  const memory right_seen = make_reading();
  std::uint32_t launches = 0;
  test_function write("write", [&] {
    left_chosen.set(launches % 2);
    right_chosen.set(launches % 3);
    ++launches;
  });
  const auto s = make_stream("origin");
  const auto side = make_stream("side", priority::high);
  const auto exec = make_exec(*s, [&] {
    const auto add = [&](stream& to, const memory& counter, int times) {
      return [&, times] {
        for (int i = 0; i < times; ++i) on().enqueue_add_one(to, counter.data());
      };
    };
    s->call(write);
    s->fill(left.data(), std::byte{0}, sizeof(std::int32_t));
    s->fill(right.data(), std::byte{0}, sizeof(std::int32_t));
    follow(*s, *side);
    side->select(right_chosen.data(), bodies{add(*side, right, 3), add(*side, right, 5)});
    s->select(left_chosen.data(), bodies{add(*s, left, 4), add(*s, left, 7)});
    on().enqueue_add_one(*side, right.data());
    follow(*side, *s);
    s->copy(left_seen.data(), left.data(), sizeof(std::int32_t));
    s->copy(right_seen.data(), right.data(), sizeof(std::int32_t));
  });
  const int lefts[] = {4, 7};
  const int rights[] = {4, 6, 1};
  for (std::uint32_t i = 0; i < 12; ++i) {
    s->launch(*exec);
    dev().synchronize(wait_mode::block);
    EXPECT_EQ(value_of(left_seen), lefts[i % 2]);
    EXPECT_EQ(value_of(right_seen), rights[i % 3]);
  }
}

TEST_F(conformance_select, graphs_with_selectors_of_their_own_take_turns) {
  const std::vector<memory> counters = make_counters(3);
  const auto s = make_stream("s");
  std::vector<selector> chosen;
  std::vector<std::unique_ptr<graph_exec>> execs;
  for (std::uint32_t i = 0; i < 3; ++i) {
    chosen.emplace_back(dev()).set(i);
    execs.push_back(
        make_exec(*s, [&] { s->select(chosen.back().data(), increments(*s, counters)); }));
  }
  for (int i = 0; i < 5; ++i) {
    for (const auto& exec : execs) s->launch(*exec);
  }
  execs[1].reset();  // its launches still complete
  dev().synchronize(wait_mode::block);
  EXPECT_THAT(read_all(counters), testing::Each(5));
}

TEST_F(conformance_select, lists_the_bodies_after_their_switch) {
  const selector chosen(dev());
  const memory counter = make_counter();
  const memory reading = make_reading();
  const auto s = make_stream("s");
  const auto g = dev().capture(*s, [&] {
    s->fill(counter.data(), std::byte{0}, sizeof(std::int32_t));
    s->select(chosen.data(), bodies{[&] { on().enqueue_add_one(*s, counter.data()); }, [] {},
                                    [&] { enqueue_count(*s, counter, reading); }});
    s->copy(reading.data(), counter.data(), sizeof(std::int32_t));
  });
  const std::vector<graph_node> nodes = g->nodes();
  const auto found = std::ranges::find(nodes, "switch", &graph_node::type);
  ASSERT_NE(found, nodes.end());
  const auto place = static_cast<std::size_t>(found - nodes.begin());
  EXPECT_EQ(found->name, "switch of 3");
  EXPECT_FALSE(found->after.empty());
  ASSERT_EQ(nodes.size(), place + 5);
  const std::vector<std::size_t> after_switch = {place};
  EXPECT_EQ(nodes[place + 1].type, "operation");
  EXPECT_EQ(nodes[place + 1].body, 0);
  EXPECT_EQ(nodes[place + 1].after, after_switch);
  EXPECT_EQ(nodes[place + 2].type, "operation");
  EXPECT_EQ(nodes[place + 2].body, 2);
  EXPECT_EQ(nodes[place + 2].after, after_switch);
  EXPECT_EQ(nodes[place + 3].type, "copy");
  EXPECT_EQ(nodes[place + 3].body, 2);
  EXPECT_EQ(nodes[place + 3].after, std::vector{place + 2});
  EXPECT_EQ(nodes[place + 4].type, "copy");
  EXPECT_EQ(nodes[place + 4].body, std::nullopt);
  EXPECT_EQ(nodes[place + 4].after, after_switch);
}

TEST_F(conformance_select, is_refused_outside_a_capture) {
  const selector chosen(dev());
  const auto s = make_stream("eager");
  expect_run_error([&] { s->select(chosen.data(), bodies{[] {}}); }, "eager");
}

TEST_F(conformance_select, bodies_contain_operations_copies_and_fills_only) {
  const selector chosen(dev());
  const auto e = dev().make_timed_event("e");
  const auto forked = dev().make_event("forked");
  test_function note("note", [] {});
  const auto s = make_stream("origin");
  const auto side = make_stream("side");
  const auto exec = make_exec(*s, [] {});
  const std::vector<std::pair<std::string, std::function<void()>>> refused = {
      {"call", [&] { s->call(note); }},
      {"stamp", [&] { s->stamp(*e); }},
      {"recording", [&] { s->record(*e); }},
      {"wait", [&] { s->wait(*forked); }},
      {"wait", [&] { side->wait(*forked); }},
      {"switch", [&] { s->select(chosen.data(), bodies{[] {}}); }},
      {"cannot launch", [&] { s->launch(*exec); }},
  };
  for (const auto& [what, body] : refused) {
    const auto& forbidden = body;
    expect_run_error(
        [&] {
          dev().capture(*s, [&] {
            s->record(*forked);
            s->select(chosen.data(), bodies{[] {}, [&] { forbidden(); }});
          });
        },
        what);
  }
  // After the switch they are allowed.
  const auto last = make_exec(*s, [&] {
    s->select(chosen.data(), bodies{[] {}});
    s->call(note);
    s->stamp(*e);
  });
  s->launch(*last);
  dev().synchronize(wait_mode::block);
  EXPECT_GE(e->since(*e), 0);
}

TEST_F(conformance_select, an_exception_from_a_body_ends_the_capture_and_passes_through) {
  const selector chosen(dev());
  const std::vector<memory> counters = make_counters(2);
  const auto s = make_stream("s");
  EXPECT_THROW(dev().capture(*s,
                             [&] {
                               on().enqueue_add_one(*s, counters[0].data());
                               s->select(chosen.data(), bodies{[&] {
                                           on().enqueue_add_one(*s, counters[1].data());
                                           throw std::logic_error("the body gave up");
                                         }});
                             }),
               std::logic_error);
  // The stream executes again, and can be captured again.
  on().enqueue_add_one(*s, counters[0].data());
  const auto exec = make_exec(*s, [&] { s->select(chosen.data(), increments(*s, counters)); });
  s->launch(*exec);
  dev().synchronize(wait_mode::block);
  EXPECT_THAT(read_all(counters), testing::ElementsAre(2, 0));
}

TEST_F(conformance_select, reports_a_failure_in_a_body) {
  const selector chosen(dev());
  const auto s = make_stream("s");
  const auto exec = make_exec(*s, [&] {
    s->select(chosen.data(), bodies{[] {}, [&] { on().enqueue_failure(*s); }});
  });
  s->launch(*exec);
  dev().synchronize(wait_mode::block);
  chosen.set(1);
  s->launch(*exec);
  expect_run_error([&] { dev().synchronize(wait_mode::block); }, on().failure_text());
}

}  // namespace
}  // namespace graphline::conformance
