// Stamps in graphs on the `host` device: what they are to an event, and when they are made.

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "framework/base/clock.hpp"
#include "framework/base/error.hpp"
#include "tests/device/conformance/test_function.hpp"
#include "tests/device/host/function_operation.hpp"

namespace graphline {
namespace {

TEST(host_stamp, of_a_graph_that_was_not_launched_was_never_recorded) {
  const auto dev = open_host_device(1);
  const auto e = dev->make_timed_event("unseen");
  const auto s = dev->make_stream("s", priority::normal);
  const auto g = dev->capture(*s, [&] { s->stamp(*e); });
  EXPECT_EQ(g->nodes().at(0).name, "unseen");
  try {
    static_cast<void>(e->on_host_clock());
    ADD_FAILURE() << "it has a time";
  } catch (const run_error& error) {
    EXPECT_STREQ(error.what(), "event 'unseen' was never recorded");
  }
}

TEST(host_stamp, in_a_graph_is_no_recording_to_wait_for) {
  const auto dev = open_host_device(1);
  const auto e = dev->make_timed_event("e");
  std::atomic<bool> open = false;
  function_operation gate("gate", [&] {
    while (!open) std::this_thread::yield();
  });
  const auto s = dev->make_stream("s", priority::normal);
  const auto exec = dev->capture(*s,
                                 [&] {
                                   host_enqueue(*s, gate);
                                   s->stamp(*e);
                                 })
                        ->instantiate();
  s->launch(*exec);
  EXPECT_TRUE(e->done());
  e->wait(wait_mode::block);
  open = true;
  dev->synchronize(wait_mode::block);
}

TEST(host_stamp, in_a_graph_is_not_late_by_the_work_of_a_more_urgent_stream) {
  const auto dev = open_host_device(1);
  const auto e = dev->make_timed_event("e");
  nanoseconds urgent_at = 0;
  std::atomic<bool> arrived = false;
  std::atomic<bool> open = false;
  function_operation gate("gate", [&] {
    arrived = true;
    while (!open) std::this_thread::yield();
  });
  function_operation nothing("nothing", [] {});
  function_operation urgent("urgent", [&] { urgent_at = now(); });
  conformance::test_function call("call", [] {});
  const auto low = dev->make_stream("low", priority::low);
  const auto high = dev->make_stream("high", priority::high);
  for (const bool with_call : {false, true}) {  // both ways of replaying a graph
    const auto exec = dev->capture(*low,
                                   [&] {
                                     host_enqueue(*low, gate);
                                     low->stamp(*e);
                                     host_enqueue(*low, nothing);
                                     if (with_call) low->call(call);
                                   })
                          ->instantiate();
    arrived = false;
    open = false;
    low->launch(*exec);
    while (!arrived) std::this_thread::yield();
    host_enqueue(*high, urgent);
    open = true;
    dev->synchronize(wait_mode::block);
    EXPECT_LE(e->on_host_clock().at, urgent_at);
  }
}

TEST(host_stamp, alone_makes_a_graph) {
  const auto dev = open_host_device(1);
  const auto e = dev->make_timed_event("e");
  const auto s = dev->make_stream("s", priority::normal);
  const auto exec = dev->capture(*s, [&] { s->stamp(*e); })->instantiate();
  const nanoseconds before = now();
  for (int i = 0; i < 2; ++i) s->launch(*exec);
  dev->synchronize(wait_mode::block);
  EXPECT_GE(e->on_host_clock().at, before);
}

}  // namespace
}  // namespace graphline
