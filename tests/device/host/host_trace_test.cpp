// Traces of the `host` device: names, and the end of a trace during work.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/device/conformance/test_function.hpp"
#include "tests/device/host/host_fixture.hpp"

namespace graphline {
namespace {

using host_trace = host_test;

TEST_F(host_trace, notes_operations_copies_and_fills_under_the_names_of_graph_listings) {
  const memory m = dev_->allocate(2048);
  const memory n = dev_->allocate(2048);
  const auto e = dev_->make_timed_event("e");
  function_operation conv("conv2d 1", [] {});
  conformance::test_function call("call", [] {});
  const auto s = make_stream("s");
  const auto g = dev_->capture(*s, [&] {
    s->copy(m.data(), n.data(), 2048);
    s->call(call);
    host_enqueue(*s, conv);
    s->stamp(*e);
    s->fill(m.data(), std::byte{0}, 1024);
  });
  std::vector<std::string> listed;
  for (const graph_node& node : g->nodes()) listed.push_back(node.name);
  EXPECT_THAT(listed,
              testing::ElementsAre("copy 2.00 KiB", "call", "conv2d 1", "e", "fill 1.00 KiB"));
  const auto exec = g->instantiate();
  const auto trace = dev_->trace_operations();
  host_enqueue(*s, conv);
  s->launch(*exec);
  s->record(*e);
  dev_->synchronize(wait_mode::block);
  std::vector<std::string> names;
  for (const operation_time& o : trace->take()) names.push_back(o.name);
  EXPECT_THAT(names,
              testing::ElementsAre("conv2d 1", "copy 2.00 KiB", "conv2d 1", "fill 1.00 KiB"));
}

TEST_F(host_trace, can_end_while_the_device_is_busy) {
  function_operation nothing("nothing", [] {});
  const auto s = make_stream("s");
  for (int i = 0; i < 20; ++i) {
    const auto trace = dev_->trace_operations();
    for (int n = 0; n < 50; ++n) host_enqueue(*s, nothing);
  }
  dev_->synchronize(wait_mode::block);
  EXPECT_THAT(dev_->trace_operations()->take(), testing::IsEmpty());
}

}  // namespace
}  // namespace graphline
