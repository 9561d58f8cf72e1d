// The `cuda` device on the fake CUDA runtime: several devices, any thread, memory, clock and graph
// listings. status_test.cpp tests failing calls.

#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/device/cuda/cuda_device.hpp"
#include "tests/device/conformance/test_function.hpp"
#include "tests/device/cuda/fake/fake_cuda.hpp"
#include "tests/device/cuda/use_everything.hpp"

namespace graphline {
namespace {

using testing::HasSubstr;

class cuda_device : public testing::Test {
 protected:
  void SetUp() override { fake_cuda::reset(); }
  void TearDown() override { fake_cuda::reset(); }
};

TEST_F(cuda_device, of_any_number_is_used_from_any_thread) {
  const auto first = open_cuda_device(0);
  const auto second = open_cuda_device(1);
  EXPECT_EQ(second->properties().name, "Fake GPU 1");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(use_everything(*second), 3);
    EXPECT_EQ(use_everything(*first), 3);
    std::thread([&] { EXPECT_EQ(use_everything(*second), 3); }).join();
  }
}

TEST_F(cuda_device, takes_work_for_a_stream_from_a_thread_that_made_nothing) {
  const auto dev = open_cuda_device(1);
  const memory counter = dev->allocate(sizeof(std::int32_t));
  const memory reading = dev->allocate_pinned(sizeof(std::int32_t));
  conformance::test_function note("note", [] {});
  const auto s = dev->make_stream("s", priority::normal);
  const auto end = dev->make_event("end");
  const std::vector<std::function<void()>> steps = {
      [&] { s->fill(counter.data(), std::byte{0}, sizeof(std::int32_t)); },
      [&] { enqueue_add_one(*s, counter.data()); },
      [&] { s->call(note); },
      [&] { s->copy(reading.data(), counter.data(), sizeof(std::int32_t)); },
      [&] { s->record(*end); },
      [&] { dev->synchronize(wait_mode::block); },
  };
  for (const auto& step : steps) std::thread(step).join();  // each is its thread's first CUDA call
  EXPECT_EQ(*static_cast<const std::int32_t*>(reading.data()), 1);
}

TEST_F(cuda_device, leaves_the_others_without_a_context_from_whatever_thread_it_is_used) {
  std::unique_ptr<device> dev;
  memory block;
  memory pinned;
  std::unique_ptr<stream> s;
  std::unique_ptr<timed_event> begin;
  std::unique_ptr<timed_event> end;
  std::unique_ptr<graph> captured;
  std::unique_ptr<graph_exec> exec;
  const std::vector<std::function<void()>> steps = {
      [] {
        std::string reason;
        EXPECT_EQ(cuda_backend().list(reason).size(), 2U);
        EXPECT_FALSE(fake_cuda::has_context(1));
      },
      [&] { dev = open_cuda_device(1); },
      [&] {
        block = dev->allocate(64);
        pinned = dev->allocate_pinned(64);
        s = dev->make_stream("s", priority::normal);
        begin = dev->make_timed_event("begin");
        end = dev->make_timed_event("end");
      },
      [&] { captured = dev->capture(*s, [&] { enqueue_add_one(*s, block.data()); }); },
      [&] { exec = captured->instantiate(); },
      [&] { s->record(*begin); },
      [&] { s->launch(*exec); },
      [&] { s->record(*end); },
      [&] { end->wait(wait_mode::block); },
      [&] { EXPECT_TRUE(end->done()); },
      [&] { EXPECT_GE(end->since(*begin), 0); },
      [&] { static_cast<void>(end->on_host_clock()); },
      [&] { dev->profile(true); },
      [&] { dev->check_clock(); },
      [&] { exec.reset(); },
      [&] { captured.reset(); },
      [&] { end.reset(); },
      [&] { s.reset(); },
      [&] { block = {}; },
      [&] { pinned = {}; },
      [&] {
        begin.reset();
        dev.reset();
      },
  };
  for (std::size_t i = 0; i < steps.size(); ++i) {
    std::thread(steps[i]).join();
    ASSERT_FALSE(fake_cuda::has_context(0)) << "step " << i;
  }
  EXPECT_TRUE(fake_cuda::has_context(1));
}

TEST_F(cuda_device, says_how_much_memory_is_left_when_there_is_too_little) {
  fake_cuda::set_device_capacity(1 << 20);
  const auto dev = open_cuda_device(0);
  const memory half = dev->allocate(1 << 19);
  try {
    static_cast<void>(dev->allocate(1 << 20));
    ADD_FAILURE() << "the block was allocated";
  } catch (const run_error& e) {
    EXPECT_THAT(e.what(), HasSubstr("512 KiB of its 1.00 MiB is available"));
  }
}

TEST_F(cuda_device, is_listed_with_its_properties) {
  std::string reason;
  const std::vector<device_properties> found = cuda_backend().list(reason);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1].name, "Fake GPU 1");
  EXPECT_EQ(found[1].priority_levels, 3);
  EXPECT_THAT(found[1].details, testing::Contains(testing::Pair("compute capability", "9.0")));
  EXPECT_THAT(found[1].details, testing::Contains(testing::Pair("memory bus", "6144 bit")));
}

TEST_F(cuda_device, allocates_nothing_while_it_is_used) {
  const auto dev = open_cuda_device(0);
  const memory counter = dev->allocate(sizeof(std::int32_t));
  const auto s = dev->make_stream("s", priority::normal);
  const auto end = dev->make_timed_event("end");
  const auto exec = dev->capture(*s, [&] { enqueue_add_one(*s, counter.data()); })->instantiate();
  const std::size_t before = fake_cuda::allocation_calls();
  const fake_cuda::live_objects made = fake_cuda::live();
  for (int i = 0; i < 10; ++i) {
    s->launch(*exec);
    s->record(*end);
    end->wait(wait_mode::block);
    end->on_host_clock();
  }
  EXPECT_EQ(fake_cuda::allocation_calls(), before);
  EXPECT_EQ(fake_cuda::live(), made);
}

TEST_F(cuda_device, tells_what_its_clock_has_lost_and_how_coarsely_it_tells_long_times) {
  const auto dev = open_cuda_device(0);
  EXPECT_EQ(dev->check_clock().drift, 0);
  const clock_check soon = dev->check_clock();
  EXPECT_GT(soon.error, 0);

  constexpr nanoseconds quarter_of_an_hour = 900'000'000'000;
  fake_cuda::put_clocks_forward(quarter_of_an_hour);
  const clock_check late = dev->check_clock();
  // The whole time is drift here. A float32 of 900,000 ms has a resolution of 62.5 us; the stamp
  // and the drift correction are each off by half of it, plus 0.5 us.
  EXPECT_GE(late.drift, quarter_of_an_hour / 2);
  EXPECT_GE(late.rounding, 63'000);
  EXPECT_LE(late.rounding, 125'500);

  EXPECT_LT(dev->check_clock().rounding, 63'000);
}

/// The clock's tick from the device's details.
std::string told_tick(const device& dev) {
  for (const auto& [what, value] : dev.properties().details) {
    if (what == "event tick") return value;
  }
  return "";
}

TEST_F(cuda_device, sees_the_tick_of_its_clock_and_states_times_to_it) {
  fake_cuda::set_clock_tick(1024);
  const auto dev = open_cuda_device(0);
  EXPECT_EQ(told_tick(*dev), "1.02 us");
  dev->check_clock();
  const clock_check again = dev->check_clock();
  EXPECT_GE(again.error, 1024);
  EXPECT_GE(again.rounding, 1024);
  EXPECT_LE(again.rounding, 1100);  // plus the float32 rounding of the time between the checks
}

TEST_F(cuda_device, lists_host_functions_that_others_captured) {
  const auto dev = open_cuda_device(0);
  const auto s = dev->make_stream("s", priority::normal);
  conformance::test_function note("note", [] {});
  int theirs = 0;  // data of a library or plug-in
  const auto captured = dev->capture(*s, [&] {
    s->call(note);
    const auto handle = static_cast<cudaStream_t>(s->native());
    ASSERT_EQ(cudaLaunchHostFunc(
                  handle, [](void* data) { ++*static_cast<int*>(data); }, &theirs),
              cudaSuccess);
  });
  const std::vector<graph_node> nodes = captured->nodes();
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(nodes[0].name, "note");
  EXPECT_EQ(nodes[1].name, "call");
  EXPECT_EQ(nodes[1].type, "call");
}

/// Descriptions of all nodes if the calls `silent` always fail.
std::vector<std::string> described_without(const std::vector<std::string>& silent) {
  const auto dev = open_cuda_device(0);
  const auto s = dev->make_stream("s", priority::normal);
  const auto stamp = dev->make_timed_event("middle");
  const memory block = dev->allocate(64);
  const memory pinned = dev->allocate_pinned(64);
  conformance::test_function note("note", [] {});
  const auto captured = dev->capture(*s, [&] {
    const auto handle = static_cast<cudaStream_t>(s->native());
    const auto work = [] { return cudaSuccess; };
    fake_cuda::launch_kernel(handle, "_Z5scaleIfEvPT_", work);
    fake_cuda::launch_library_kernel(handle, "gemm_128x64", work);
    s->fill(block.data(), std::byte{0}, 64);
    s->copy(pinned.data(), block.data(), 64);
    s->stamp(*stamp);
    s->call(note);
  });
  fake_cuda::fail_calls(silent, cudaErrorInvalidValue);
  std::vector<std::string> found;
  for (const graph_node& n : captured->nodes()) found.push_back(n.type + ": " + n.name);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);  // else the next launch would report it
  return found;
}

TEST_F(cuda_device, names_the_kernels_of_libraries_by_the_driver) {
  EXPECT_THAT(
      described_without({}),
      testing::ElementsAre("operation: void scale<float>", "operation: gemm_128x64",
                           "fill: fill 64 B", "copy: copy 64 B", "stamp: middle", "call: note"));
}

TEST_F(cuda_device, lists_a_node_by_its_type_where_cuda_tells_no_more) {
  EXPECT_THAT(described_without({"cuGraphKernelNodeGetParams", "cudaGraphMemsetNodeGetParams",
                                 "cudaGraphMemcpyNodeGetParams", "cudaGraphEventRecordNodeGetEvent",
                                 "cudaGraphHostNodeGetParams"}),
              testing::ElementsAre("operation: kernel", "operation: kernel", "fill: fill",
                                   "copy: copy", "stamp: event", "call: call"));
}

}  // namespace
}  // namespace graphline
