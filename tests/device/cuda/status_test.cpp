// Makes every CUDA call of the backend fail: the message names the call, and nothing leaks.

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>
#include <thread>

#include "framework/base/error.hpp"
#include "framework/device/cuda/cuda_calls.hpp"
#include "framework/device/cuda/cuda_device.hpp"
#include "tests/device/cuda/fake/fake_cuda.hpp"
#include "tests/device/cuda/use_everything.hpp"

namespace graphline {
namespace {

void use_a_device() {
  use_everything(*open_cuda_device(0));
}

/// Calls whose failure is ignored: destruction, descriptions of nodes, and profiler control.
bool may_fail_unseen(const std::string& call) {
  static const std::set<std::string> calls = {"cudaStreamDestroy",
                                              "cudaEventDestroy",
                                              "cudaGraphDestroy",
                                              "cudaGraphExecDestroy",
                                              "cudaFree",
                                              "cudaFreeHost",
                                              "cudaGetDriverEntryPointByVersion",
                                              "cuGraphKernelNodeGetParams",
                                              "cuFuncGetName",
                                              "cudaGraphMemcpyNodeGetParams",
                                              "cudaGraphMemsetNodeGetParams",
                                              "cudaGraphHostNodeGetParams",
                                              "cudaGraphEventRecordNodeGetEvent",
                                              "cudaProfilerStart",
                                              "cudaProfilerStop"};
  return calls.contains(call);
}

class cuda_status : public testing::Test {
 protected:
  void SetUp() override { fake_cuda::reset(); }
  void TearDown() override { fake_cuda::reset(); }
};

TEST_F(cuda_status, leaves_nothing_behind_when_all_goes_well) {
  use_a_device();
  EXPECT_EQ(fake_cuda::live(), fake_cuda::live_objects{});
}

TEST_F(cuda_status, of_every_call_is_looked_at_and_told_with_its_name) {
  use_a_device();
  const std::vector<std::string> made = fake_cuda::calls();
  const std::set<std::string> names(made.begin(), made.end());
  EXPECT_GE(names.size(), 35U);
  for (const std::string& name : names) {
    // Tests only the first of calls that poll.
    const auto times = std::min<std::ptrdiff_t>(std::ranges::count(made, name), 15);
    for (std::ptrdiff_t n = 1; n <= times; ++n) {
      SCOPED_TRACE(name + ", call " + std::to_string(n));
      fake_cuda::reset();
      fake_cuda::fail_call(name, static_cast<std::size_t>(n), cudaErrorNotPermitted);
      try {
        use_a_device();
        // The last synchronization is that of a destructor.
        const bool destroys = name == "cudaDeviceSynchronize" && n == times;
        EXPECT_TRUE(may_fail_unseen(name) || destroys) << "the failure went unseen";
      } catch (const run_error& e) {
        EXPECT_FALSE(may_fail_unseen(name)) << e.what();
        EXPECT_THAT(e.what(), testing::HasSubstr(name));
        EXPECT_THAT(e.what(), testing::HasSubstr("cudaErrorNotPermitted (800)"));
      }
      if (!may_fail_unseen(name)) {
        EXPECT_EQ(fake_cuda::live(), fake_cuda::live_objects{}) << "something was left behind";
      }
    }
  }
}

TEST_F(cuda_status, that_ends_the_device_is_told_by_the_next_wait) {
  const auto d = open_cuda_device(0);
  const auto s = d->make_stream("backbone", priority::normal);
  const auto e = d->make_event("backbone complete");
  const memory block = d->allocate(16);
  fake_cuda::fail_call("cudaMemsetAsync", 1, cudaErrorIllegalAddress);
  s->fill(block.data(), std::byte{0}, 16);
  s->record(*e);
  try {
    e->wait(wait_mode::block);
    FAIL() << "the wait said nothing";
  } catch (const run_error& problem) {
    EXPECT_THAT(problem.what(), testing::HasSubstr("cudaMemsetAsync for stream 'backbone' failed"));
    EXPECT_THAT(problem.what(), testing::HasSubstr("the device cannot be used any more"));
  }
  EXPECT_THROW(d->allocate(16), run_error);
  EXPECT_THROW(d->check_clock(), run_error);
}

TEST_F(cuda_status, of_a_second_device_is_its_own) {
  const auto first = open_cuda_device(0);
  const auto second = open_cuda_device(1);
  const auto s = second->make_stream("on the second", priority::normal);
  const memory block = second->allocate(16);
  static_cast<void>(first->allocate(16));  // makes the first one current
  s->fill(block.data(), std::byte{0}, 16);
  fake_cuda::launch_kernel(static_cast<cudaStream_t>(s->native()), "kernel",
                           [] { return cudaErrorLaunchFailure; });
  EXPECT_THROW(second->synchronize(wait_mode::block), run_error);
  first->synchronize(wait_mode::block);
}

TEST_F(cuda_status, that_there_is_no_code_for_a_gpu_comes_with_its_remedy) {
  const cuda_error problem(cudaErrorNoKernelImageForDevice, "the launch of kernel 'relu'",
                           "stage 'head'");
  EXPECT_THAT(problem.what(), testing::HasSubstr("-DCMAKE_CUDA_ARCHITECTURES=native"));
}

TEST_F(cuda_status, of_a_machine_without_a_device_becomes_a_reason) {
  std::string reason;
  fake_cuda::set_device_count(0);
  EXPECT_THAT(cuda_backend().list(reason), testing::IsEmpty());
  EXPECT_THAT(reason, testing::HasSubstr("finds no GPU"));

  fake_cuda::reset();
  fake_cuda::set_driver_version(0);
  EXPECT_THAT(cuda_backend().list(reason), testing::IsEmpty());
  EXPECT_THAT(reason, testing::HasSubstr("no NVIDIA driver is installed"));

  fake_cuda::reset();
  fake_cuda::set_driver_version(12020);
  EXPECT_THAT(cuda_backend().list(reason), testing::IsEmpty());
  EXPECT_THAT(reason, testing::HasSubstr("too old: it is for CUDA 12.2"));
  EXPECT_THAT(reason,
              testing::HasSubstr("needs one for CUDA " + cuda_version_text(CUDART_VERSION)));
}

}  // namespace
}  // namespace graphline
