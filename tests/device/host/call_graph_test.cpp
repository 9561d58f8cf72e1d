// Host functions in graphs of the `host` device, and concurrent with them.

#include <atomic>
#include <deque>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/device/conformance/test_function.hpp"
#include "tests/device/host/host_fixture.hpp"

namespace graphline {
namespace {

using conformance::held_function;
using conformance::opened_at_end;
using conformance::test_function;

using host_call_graph = host_test;

TEST_F(host_call_graph, carries_on_with_what_does_not_depend_on_a_call_under_way) {
  std::string order;
  std::atomic<bool> beside_ran = false;
  test_function held("held", [&] {
    while (!beside_ran) std::this_thread::yield();
  });
  function_operation behind("behind", [&] { order += 'b'; });
  function_operation beside("beside", [&] {
    order += 's';
    beside_ran = true;
  });
  function_operation joined("joined", [&] { order += 'j'; });
  const auto s = make_stream("s");
  const auto side = make_stream("side");
  const auto exec = make_exec(*s, [&] {
    follow(*s, *side);
    s->call(held);
    host_enqueue(*s, behind);
    host_enqueue(*side, beside);
    follow(*side, *s);
    host_enqueue(*s, joined);
  });
  for (int i = 0; i < 3; ++i) {
    beside_ran = false;
    s->launch(*exec);
    dev_->synchronize(wait_mode::block);
  }
  EXPECT_EQ(order, "sbjsbjsbj");
}

TEST_F(host_call_graph, takes_what_is_ready_in_captured_order) {
  std::string order;
  held_function held("held");
  std::deque<function_operation> operations;
  for (const char c : {'1', '2', '3', '4'}) {
    operations.emplace_back("operation", [&order, c] { order += c; });
  }
  function_operation last("last", [&] { held.open(); });
  const auto s = make_stream("s");
  const auto side = make_stream("side");
  const auto calling = make_stream("calling");
  const auto exec = make_exec(*s, [&] {
    follow(*s, *side);
    follow(*s, *calling);
    calling->call(held);
    host_enqueue(*s, operations[0]);
    host_enqueue(*side, operations[1]);
    host_enqueue(*s, operations[2]);
    host_enqueue(*side, operations[3]);
    host_enqueue(*s, last);
    follow(*side, *s);
    follow(*calling, *s);
  });
  const opened_at_end opened(held);
  s->launch(*exec);
  dev_->synchronize(wait_mode::block);
  EXPECT_EQ(order, "1234");
}

TEST_F(host_call_graph, begins_with_calls_in_captured_order) {
  std::string order;
  test_function first("first", [&] { order += '1'; });
  test_function second("second", [&] { order += '2'; });
  test_function third("third", [&] { order += '3'; });
  const auto s = make_stream("s");
  const auto side = make_stream("side");
  const auto aside = make_stream("aside");
  const auto exec = make_exec(*s, [&] {
    follow(*s, *side);
    follow(*s, *aside);
    aside->call(first);
    s->call(second);
    side->call(third);
    follow(*side, *s);
    follow(*aside, *s);
  });
  s->launch(*exec);
  dev_->synchronize(wait_mode::block);
  EXPECT_EQ(order, "123");
}

TEST_F(host_call_graph, lets_another_stream_in_while_all_that_is_left_waits_for_a_call) {
  held_function held("held");
  function_operation other("other", [&] { held.open(); });
  const auto s = make_stream("s", priority::high);
  const auto t = make_stream("t", priority::low);
  const auto exec = make_exec(*s, [&] { s->call(held); });
  const opened_at_end opened(held);
  s->launch(*exec);
  held.wait_until_called();
  host_enqueue(*t, other);
  EXPECT_NO_THROW(dev_->synchronize(wait_mode::block));
}

TEST_F(host_call_graph, calls_in_the_order_in_which_they_became_ready) {
  std::string order;
  test_function a("a", [&] { order += 'a'; });
  test_function b("b", [&] { order += 'b'; });
  held_operation gate;
  const auto first = make_stream("first", priority::low);
  const auto second = make_stream("second", priority::high);
  const auto exec = make_exec(*second, [&] { second->call(b); });
  host_enqueue(*first, gate);
  follow(*first, *second);  // so `b` is ready after `a`, though its stream is more urgent
  first->call(a);
  second->launch(*exec);
  gate.open();
  dev_->synchronize(wait_mode::block);
  EXPECT_EQ(order, "ab");
}

TEST_F(host_call_graph, skips_the_calls_after_a_failure_and_completes) {
  int calls = 0;
  held_function held("held");
  test_function count("count", [&] { ++calls; });
  function_operation faulty("faulty", [] { throw std::runtime_error("the bolt is loose"); });
  const auto s = make_stream("s");
  const auto side = make_stream("side");
  const auto exec = make_exec(*s, [&] {
    follow(*s, *side);
    s->call(held);
    s->call(count);
    host_enqueue(*side, faulty);
    side->call(count);
    follow(*side, *s);
  });
  const opened_at_end opened(held);
  for (int i = 0; i < 2; ++i) s->launch(*exec);
  const auto unrecorded = dev_->make_event("unrecorded");
  const auto watch_for_the_failure = [&] {
    for (;; std::this_thread::yield()) static_cast<void>(unrecorded->done());
  };
  EXPECT_THROW(watch_for_the_failure(), run_error);  // with the first call still under way
  held.open();
  EXPECT_THROW(dev_->synchronize(wait_mode::block), run_error);
  EXPECT_EQ(calls, 0);
}

/// Random graphs over several streams; each node checks that its dependencies are complete.
TEST_F(host_call_graph, keeps_every_dependency_of_random_graphs) {
  constexpr std::size_t most_nodes = 40;
  constexpr int launches = 10;
  for (unsigned seed = 1; seed <= 30; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::atomic<int>> runs(most_nodes);
    std::vector<graph_node> nodes;
    std::atomic<int> out_of_order = 0;
    std::deque<function_operation> operations;
    std::deque<test_function> functions;
    std::vector<std::unique_ptr<stream>> streams;
    for (int i = 0; i < 4; ++i) streams.push_back(make_stream("s"));
    stream& origin = *streams.front();

    const auto g = dev_->capture(origin, [&] {
      for (std::size_t i = 1; i < streams.size(); ++i) follow(origin, *streams[i]);
      for (std::size_t node = 0; node < most_nodes; ++node) {
        stream& s = *streams[random() % streams.size()];
        if (random() % 3 == 0) follow(*streams[random() % streams.size()], s);
        const auto run = [&, node] {
          for (const std::size_t before : nodes[node].after) {
            if (runs[before] != runs[node] + 1) ++out_of_order;
          }
          ++runs[node];
        };
        if (random() % 3 == 0) {
          s.call(functions.emplace_back("call", run));
        } else {
          host_enqueue(s, operations.emplace_back("operation", run));
        }
      }
      for (std::size_t i = 1; i < streams.size(); ++i) follow(*streams[i], origin);
    });
    nodes = g->nodes();
    const auto exec = g->instantiate();
    for (int i = 0; i < launches; ++i) streams[random() % streams.size()]->launch(*exec);
    dev_->synchronize(wait_mode::block);
    EXPECT_EQ(out_of_order, 0) << "seed " << seed;
    for (const std::atomic<int>& count : runs) EXPECT_EQ(count, launches) << "seed " << seed;
  }
}

}  // namespace
}  // namespace graphline
