// Graphs of the `host` device: node boundaries, names, and a graph within a graph.

#include <string>

#include "tests/device/host/host_fixture.hpp"

namespace graphline {
namespace {

using host_graph = host_test;

TEST_F(host_graph, lets_a_more_urgent_stream_in_between_its_nodes) {
  const auto low = make_stream("low", priority::low);
  const auto high = make_stream("high", priority::high);
  std::string order;
  held_operation gate([&] { order += 'g'; });
  function_operation node("node", [&] { order += 'n'; });
  function_operation urgent("urgent", [&] { order += 'U'; });
  const auto exec = make_exec(*low, [&] {
    host_enqueue(*low, gate);
    host_enqueue(*low, node);
    host_enqueue(*low, node);
  });
  low->launch(*exec);
  gate.wait_until_begun();
  host_enqueue(*high, urgent);
  gate.open();
  dev_->synchronize(wait_mode::block);
  EXPECT_EQ(order, "gUnn");
}

TEST_F(host_graph, streams_of_one_priority_take_turns) {
  const auto a = make_stream("a");
  const auto b = make_stream("b");
  std::string order;
  held_operation gate;
  function_operation of_a("of a", [&] { order += 'a'; });
  function_operation of_b("of b", [&] { order += 'b'; });
  host_enqueue(*a, gate);
  gate.wait_until_begun();
  for (int i = 0; i < 3; ++i) host_enqueue(*a, of_a);
  for (int i = 0; i < 3; ++i) host_enqueue(*b, of_b);
  gate.open();
  dev_->synchronize(wait_mode::block);
  EXPECT_EQ(order, "bababa");
}

TEST_F(host_graph, lists_operations_by_name_and_transfers_by_size) {
  const auto s = make_stream("s");
  const memory m = dev_->allocate(2048);
  const memory n = dev_->allocate(2048);
  function_operation conv("conv2d 1", [] {});
  const auto g = dev_->capture(*s, [&] {
    s->copy(m.data(), n.data(), 2048);
    host_enqueue(*s, conv);
    s->fill(m.data(), std::byte{0}, 1024);
  });
  const auto nodes = g->nodes();
  ASSERT_EQ(nodes.size(), 3U);
  EXPECT_EQ(nodes[0].name, "copy 2.00 KiB");
  EXPECT_EQ(nodes[1].name, "conv2d 1");
  EXPECT_EQ(nodes[2].name, "fill 1.00 KiB");
}

TEST_F(host_graph, takes_in_the_nodes_of_a_graph_launched_during_a_capture) {
  const auto s = make_stream("s");
  const auto side = make_stream("side");
  std::string order;
  function_operation first("first", [&] { order += '1'; });
  function_operation inner("inner", [&] { order += 'i'; });
  function_operation last("last", [&] { order += '2'; });
  // Two nodes side by side.
  const auto exec = make_exec(*s, [&] {
    follow(*s, *side);
    host_enqueue(*side, inner);
    host_enqueue(*s, inner);
    follow(*side, *s);
  });
  const auto g = dev_->capture(*s, [&] {
    host_enqueue(*s, first);
    s->launch(*exec);
    host_enqueue(*s, last);
  });
  const auto nodes = g->nodes();
  ASSERT_EQ(nodes.size(), 4U);
  EXPECT_THAT(nodes[1].after, testing::ElementsAre(0));
  EXPECT_THAT(nodes[2].after, testing::ElementsAre(0));
  EXPECT_THAT(nodes[3].after, testing::ElementsAre(1, 2));
  const auto outer = g->instantiate();
  s->launch(*outer);
  dev_->synchronize(wait_mode::block);
  EXPECT_EQ(order, "1ii2");
}

TEST_F(host_graph, refuses_to_merge_two_captures) {
  const auto a = make_stream("a");
  const auto b = make_stream("b");
  const auto e = dev_->make_event("bridge");
  EXPECT_THROW(dev_->capture(*a,
                             [&] {
                               a->record(*e);
                               dev_->capture(*b, [&] { b->wait(*e); });
                             }),
               run_error);
}

TEST_F(host_graph, refuses_to_wait_for_an_event_of_a_capture_that_has_ended) {
  const auto s = make_stream("s");
  const auto e = dev_->make_event("stale");
  dev_->capture(*s, [&] { s->record(*e); });
  EXPECT_THROW(s->wait(*e), run_error);
}

TEST_F(host_graph, survives_a_branch_stream_destroyed_during_the_capture) {
  const auto s = make_stream("s");
  const auto e = dev_->make_event("e");
  int runs = 0;
  function_operation count("count", [&] { ++runs; });
  const auto exec = make_exec(*s, [&] {
    s->record(*e);
    auto side = make_stream("side");
    side->wait(*e);
    host_enqueue(*side, count);
    side->record(*e);
    side.reset();
    s->wait(*e);
  });
  s->launch(*exec);
  dev_->synchronize(wait_mode::block);
  EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace graphline
