// Graphs of the `host` device: node boundaries, names, and a graph within a graph.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "framework/base/error.hpp"
#include "tests/device/host/function_operation.hpp"

namespace graphline {
namespace {

TEST(host_graph, lets_a_more_urgent_stream_in_between_its_nodes) {
  const auto dev = open_host_device(1);
  const auto low = dev->make_stream("low", priority::low);
  const auto high = dev->make_stream("high", priority::high);
  std::string order;
  std::atomic<bool> arrived = false;
  std::atomic<bool> open = false;
  function_operation gate("gate", [&] {
    arrived = true;
    while (!open) std::this_thread::yield();
    order += 'g';
  });
  function_operation node("node", [&] { order += 'n'; });
  function_operation urgent("urgent", [&] { order += 'U'; });
  const auto exec = dev->capture(*low,
                                 [&] {
                                   host_enqueue(*low, gate);
                                   host_enqueue(*low, node);
                                   host_enqueue(*low, node);
                                 })
                        ->instantiate();
  low->launch(*exec);
  while (!arrived) std::this_thread::yield();
  host_enqueue(*high, urgent);
  open = true;
  dev->synchronize(wait_mode::block);
  EXPECT_EQ(order, "gUnn");
}

TEST(host_graph, streams_of_one_priority_take_turns) {
  const auto dev = open_host_device(1);
  const auto a = dev->make_stream("a", priority::normal);
  const auto b = dev->make_stream("b", priority::normal);
  std::string order;
  std::atomic<bool> open = false;
  std::atomic<bool> arrived = false;
  function_operation gate("gate", [&] {
    arrived = true;
    while (!open) std::this_thread::yield();
  });
  function_operation of_a("of a", [&] { order += 'a'; });
  function_operation of_b("of b", [&] { order += 'b'; });
  host_enqueue(*a, gate);
  while (!arrived) std::this_thread::yield();
  for (int i = 0; i < 3; ++i) host_enqueue(*a, of_a);
  for (int i = 0; i < 3; ++i) host_enqueue(*b, of_b);
  open = true;
  dev->synchronize(wait_mode::block);
  EXPECT_EQ(order, "bababa");
}

TEST(host_graph, lists_operations_by_name_and_transfers_by_size) {
  const auto dev = open_host_device(1);
  const auto s = dev->make_stream("s", priority::normal);
  const memory m = dev->allocate(2048);
  const memory n = dev->allocate(2048);
  function_operation conv("conv2d 1", [] {});
  const auto g = dev->capture(*s, [&] {
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

TEST(host_graph, takes_in_the_nodes_of_a_graph_launched_during_a_capture) {
  const auto dev = open_host_device(1);
  const auto s = dev->make_stream("s", priority::normal);
  const auto side = dev->make_stream("side", priority::normal);
  const auto fork = dev->make_event("fork");
  const auto join = dev->make_event("join");
  std::string order;
  function_operation first("first", [&] { order += '1'; });
  function_operation inner("inner", [&] { order += 'i'; });
  function_operation last("last", [&] { order += '2'; });
  // Two nodes side by side.
  const auto exec = dev->capture(*s,
                                 [&] {
                                   s->record(*fork);
                                   side->wait(*fork);
                                   host_enqueue(*side, inner);
                                   host_enqueue(*s, inner);
                                   side->record(*join);
                                   s->wait(*join);
                                 })
                        ->instantiate();
  const auto g = dev->capture(*s, [&] {
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
  dev->synchronize(wait_mode::block);
  EXPECT_EQ(order, "1ii2");
}

TEST(host_graph, refuses_to_merge_two_captures) {
  const auto dev = open_host_device(1);
  const auto a = dev->make_stream("a", priority::normal);
  const auto b = dev->make_stream("b", priority::normal);
  const auto e = dev->make_event("bridge");
  EXPECT_THROW(dev->capture(*a,
                            [&] {
                              a->record(*e);
                              dev->capture(*b, [&] { b->wait(*e); });
                            }),
               run_error);
}

TEST(host_graph, refuses_to_wait_for_an_event_of_a_capture_that_has_ended) {
  const auto dev = open_host_device(1);
  const auto s = dev->make_stream("s", priority::normal);
  const auto e = dev->make_event("stale");
  dev->capture(*s, [&] { s->record(*e); });
  EXPECT_THROW(s->wait(*e), run_error);
}

TEST(host_graph, survives_a_branch_stream_destroyed_during_the_capture) {
  const auto dev = open_host_device(1);
  const auto s = dev->make_stream("s", priority::normal);
  const auto e = dev->make_event("e");
  int runs = 0;
  function_operation count("count", [&] { ++runs; });
  const auto exec = dev->capture(*s,
                                 [&] {
                                   s->record(*e);
                                   auto side = dev->make_stream("side", priority::normal);
                                   side->wait(*e);
                                   host_enqueue(*side, count);
                                   side->record(*e);
                                   side.reset();
                                   s->wait(*e);
                                 })
                        ->instantiate();
  s->launch(*exec);
  dev->synchronize(wait_mode::block);
  EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace graphline
