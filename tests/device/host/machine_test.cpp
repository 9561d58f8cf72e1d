// Properties, memory and events of the `host` device.

#include <cmath>
#include <cstring>
#include <thread>

#include "tests/device/host/host_fixture.hpp"

namespace graphline {
namespace {

using host_device = host_test;
using host_events = host_test;

TEST_F(host_device, tells_its_threads_cores_and_memory) {
  const device_properties& p = dev_->properties();
  EXPECT_EQ(p.backend, "host");
  EXPECT_FALSE(p.name.empty());
  EXPECT_EQ(p.compute_threads, 1);
  EXPECT_EQ(p.priority_levels, 3);
  EXPECT_GT(p.memory_bytes, std::uint64_t{1} << 20);
  EXPECT_THAT(p.details, testing::Contains(testing::Key("cores")));
  EXPECT_THAT(p.details, testing::Contains(testing::Key("vector instructions")));
  EXPECT_THAT(p.details, testing::Not(testing::Contains(testing::Key("warning"))));
}

TEST_F(host_device, warns_of_more_threads_than_cores) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const auto dev = open_host_device(cores + 1);
  EXPECT_EQ(dev->properties().compute_threads, cores + 1);
  EXPECT_THAT(dev->properties().details, testing::Contains(testing::Key("warning")));
  EXPECT_THAT(open_host_device(cores)->properties().details,
              testing::Not(testing::Contains(testing::Key("warning"))));
}

TEST_F(host_device, needs_a_sensible_number_of_threads) {
  EXPECT_THROW(open_host_device(0), input_error);
  EXPECT_THROW(open_host_device(-3), input_error);
  EXPECT_THROW(open_host_device(1'000'000), input_error);
}

TEST_F(host_device, fills_fresh_memory_with_what_reads_as_nan) {
  const memory m = dev_->allocate(1000 * sizeof(float));
  for (std::size_t i = 0; i < 1000; ++i) {
    float value = 0;
    std::memcpy(&value, m.at(i * sizeof value), sizeof value);
    ASSERT_TRUE(std::isnan(value)) << "element " << i;
  }
}

TEST_F(host_device, backend_lists_one_device_and_opens_it_with_the_threads_asked_for) {
  const backend b = host_backend();
  EXPECT_EQ(b.name, "host");
  std::string reason;
  ASSERT_EQ(b.list(reason).size(), 1U);
  EXPECT_EQ(b.list(reason)[0].backend, "host");
  EXPECT_EQ(b.open(0, {.name = "host", .host_threads = 2})->properties().compute_threads, 2);
  EXPECT_EQ(b.open(0, {.name = "host"})->properties().compute_threads,
            b.list(reason)[0].compute_threads);
  EXPECT_GE(b.list(reason)[0].compute_threads, 1);
}

TEST_F(host_device, refuses_events_and_graphs_of_another) {
  const auto dev = open_host_device(1);
  const auto other = open_host_device(1);
  const auto s = dev->make_stream("s", priority::normal);
  const auto foreign_stream = other->make_stream("foreign", priority::normal);
  const auto foreign_event = other->make_timed_event("foreign");
  const auto foreign_exec = other->capture(*foreign_stream, [] {})->instantiate();
  const auto e = dev->make_timed_event("e");
  EXPECT_THROW(s->record(*foreign_event), run_error);
  EXPECT_THROW(s->launch(*foreign_exec), run_error);
  EXPECT_THROW(dev->capture(*foreign_stream, [] {}), run_error);
  s->record(*e);
  foreign_stream->record(*foreign_event);
  dev->synchronize(wait_mode::block);
  other->synchronize(wait_mode::block);
  EXPECT_THROW(static_cast<void>(e->since(*foreign_event)), run_error);
}

TEST_F(host_events, has_no_time_before_it_is_recorded_and_passed) {
  const auto s = make_stream("s");
  const auto e = dev_->make_timed_event("e");
  EXPECT_THROW(static_cast<void>(e->on_host_clock()), run_error);
  held_operation gate;
  host_enqueue(*s, gate);
  s->record(*e);
  EXPECT_THROW(static_cast<void>(e->on_host_clock()), run_error);
  gate.open();
  e->wait(wait_mode::block);
  EXPECT_EQ(e->since(*e), 0);
  EXPECT_EQ(e->on_host_clock().error, 0);
}

TEST_F(host_events, keeps_the_stamp_of_its_latest_recording_when_an_earlier_one_passes_later) {
  const auto slow = make_stream("slow", priority::low);
  const auto fast = make_stream("fast", priority::high);
  const auto e = dev_->make_timed_event("e");
  const auto slow_end = dev_->make_timed_event("slow end");
  held_operation gate;
  function_operation pause("pause", [] {
    for (const nanoseconds until = now() + 100'000; now() < until;) {
    }
  });
  // The gate blocks the device, so both recordings are made before either passes. The fast stream's
  // passes first, the slow stream's after the pause.
  host_enqueue(*fast, gate);
  host_enqueue(*slow, pause);
  slow->record(*e);
  slow->record(*slow_end);
  fast->record(*e);
  gate.open();
  dev_->synchronize(wait_mode::block);
  EXPECT_GE(slow_end->since(*e), 100'000);
}

}  // namespace
}  // namespace graphline
