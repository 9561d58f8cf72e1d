// Time stamps in graphs of the `host` device.

#include "framework/base/clock.hpp"
#include "tests/device/host/host_fixture.hpp"

namespace graphline {
namespace {

using host_stamp = host_test;

TEST_F(host_stamp, in_a_graph_is_no_recording_to_wait_for) {
  const auto e = dev_->make_timed_event("e");
  held_operation gate;
  const auto s = make_stream("s");
  const auto exec = make_exec(*s, [&] {
    host_enqueue(*s, gate);
    s->stamp(*e);
  });
  s->launch(*exec);
  EXPECT_TRUE(e->done());
  e->wait(wait_mode::block);
  gate.open();
  dev_->synchronize(wait_mode::block);
}

TEST_F(host_stamp, in_a_graph_is_not_late_by_the_work_of_a_more_urgent_stream) {
  const auto e = dev_->make_timed_event("e");
  nanoseconds urgent_at = 0;
  held_operation gate;
  function_operation nothing("nothing", [] {});
  function_operation urgent("urgent", [&] { urgent_at = now(); });
  const auto low = make_stream("low", priority::low);
  const auto high = make_stream("high", priority::high);
  const auto exec = make_exec(*low, [&] {
    host_enqueue(*low, gate);
    low->stamp(*e);
    host_enqueue(*low, nothing);
  });
  low->launch(*exec);
  gate.wait_until_begun();
  host_enqueue(*high, urgent);
  gate.open();
  dev_->synchronize(wait_mode::block);
  EXPECT_LE(e->on_host_clock().at, urgent_at);
}

}  // namespace
}  // namespace graphline
