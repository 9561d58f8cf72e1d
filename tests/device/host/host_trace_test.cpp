// Traces of the `host` device: the names it gives, and ending in the midst of work.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/device/conformance/test_function.hpp"
#include "tests/device/host/function_operation.hpp"

namespace graphline {
namespace {

TEST(host_trace, notes_operations_copies_and_fills_under_the_names_of_graph_listings) {
  const auto dev = open_host_device(1);
  const memory m = dev->allocate(2048);
  const memory n = dev->allocate(2048);
  const auto e = dev->make_timed_event("e");
  function_operation conv("conv2d 1", [] {});
  conformance::test_function call("call", [] {});
  const auto s = dev->make_stream("s", priority::normal);
  const auto g = dev->capture(*s, [&] {
    s->copy(m.data(), n.data(), 2048);
    s->call(call);
    host_enqueue(*s, conv);
    s->stamp(*e);
    s->fill(m.data(), std::byte{0}, 1024);
  });
  const auto exec = g->instantiate();
  const auto trace = dev->trace_operations();
  host_enqueue(*s, conv);
  s->launch(*exec);
  s->record(*e);
  dev->synchronize(wait_mode::block);
  std::vector<std::string> names;
  for (const operation_time& o : trace->take()) names.push_back(o.name);
  EXPECT_THAT(names,
              testing::ElementsAre("conv2d 1", "copy 2.00 KiB", "conv2d 1", "fill 1.00 KiB"));
}

TEST(host_trace, can_end_while_the_device_is_busy) {
  const auto dev = open_host_device(1);
  function_operation nothing("nothing", [] {});
  const auto s = dev->make_stream("s", priority::normal);
  for (int i = 0; i < 20; ++i) {
    const auto trace = dev->trace_operations();
    for (int n = 0; n < 50; ++n) host_enqueue(*s, nothing);
  }
  dev->synchronize(wait_mode::block);
  EXPECT_THAT(dev->trace_operations()->take(), testing::IsEmpty());
}

}  // namespace
}  // namespace graphline
