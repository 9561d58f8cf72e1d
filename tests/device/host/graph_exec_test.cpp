// Scheduling between graph nodes of the `host` device, and captures that cannot be combined.

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

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

TEST_F(host_graph, lets_a_more_urgent_stream_in_between_the_nodes_of_a_body) {
  const auto low = make_stream("low", priority::low);
  const auto high = make_stream("high", priority::high);
  const memory selector = dev_->allocate_pinned(sizeof(std::uint32_t));
  const std::uint32_t second = 1;
  std::memcpy(selector.data(), &second, sizeof second);
  std::string order;
  held_operation gate([&] { order += 'g'; });
  function_operation skipped("skipped", [&] { order += 's'; });
  function_operation node("node", [&] { order += 'n'; });
  function_operation after("after", [&] { order += 'a'; });
  function_operation urgent("urgent", [&] { order += 'U'; });
  const auto exec = make_exec(*low, [&] {
    const std::vector<std::function<void()>> bodies = {[&] { host_enqueue(*low, skipped); },
                                                       [&] {
                                                         host_enqueue(*low, gate);
                                                         host_enqueue(*low, node);
                                                       }};
    low->select(static_cast<const std::uint32_t*>(selector.data()), bodies);
    host_enqueue(*low, after);
  });
  low->launch(*exec);
  gate.wait_until_begun();
  host_enqueue(*high, urgent);
  gate.open();
  dev_->synchronize(wait_mode::block);
  EXPECT_EQ(order, "gUna");
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

}  // namespace
}  // namespace graphline
