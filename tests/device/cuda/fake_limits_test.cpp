// What the fake refuses or lets wait as a GPU does, and a runtime made of threads would not.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "tests/device/cuda/fake_fixture.hpp"

namespace fake_cuda {
namespace {

using namespace std::chrono_literals;

class fake_cuda_limits : public fake_test {
 protected:
  void SetUp() override {
    fake_test::SetUp();
    testing::GTEST_FLAG(death_test_style) = "threadsafe";  // the devices are threads
  }
};

TEST_F(fake_cuda_limits, keep_the_host_from_device_memory) {
  volatile int* const data = make_device<int>();
  EXPECT_DEATH(*data = 1, "the host touched device memory");
  EXPECT_DEATH(static_cast<void>(*data), "the host touched device memory");
  const cudaStream_t s = make_stream();
  const auto touch = [](void* where) { *static_cast<int*>(where) = 1; };
  EXPECT_DEATH(
      {
        static_cast<void>(cudaLaunchHostFunc(s, touch, const_cast<int*>(data)));
        static_cast<void>(cudaStreamSynchronize(s));
      },
      "the host touched device memory");
}

TEST_F(fake_cuda_limits, let_kernels_reach_device_and_pinned_memory_only) {
  const cudaStream_t s = make_stream();
  int* const device = make_device<int>();
  int* const pinned = make_pinned<int>();
  int pageable = 0;
  const auto with = [&](int* operand) {
    EXPECT_EQ(launch(s, "write", [operand] { *operand = 3; }, {operand}), cudaSuccess);
    return cudaStreamSynchronize(s);
  };
  EXPECT_EQ(with(device), cudaSuccess);
  EXPECT_EQ(with(pinned), cudaSuccess);
  EXPECT_EQ(*pinned, 3);
  EXPECT_EQ(with(&pageable), cudaErrorIllegalAddress);
  EXPECT_EQ(pageable, 0);
}

TEST_F(fake_cuda_limits, let_kernels_reach_no_memory_that_was_freed) {
  const cudaStream_t s = make_stream();
  int* const device = make_device<int>();
  ASSERT_EQ(cudaFree(device), cudaSuccess);
  ASSERT_EQ(launch(s, "read", [] {}, {device}), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(s), cudaErrorIllegalAddress);
}

TEST_F(fake_cuda_limits, make_a_copy_between_two_places_on_the_host_wait) {
  const cudaStream_t s = make_stream();
  char* const from = make_pinned<char>(8);
  char* const to = make_pinned<char>(8);
  std::strcpy(from, "text...");
  const auto open = hold(s);
  std::thread opener([&] {
    std::this_thread::sleep_for(20ms);
    open->store(true);
  });
  EXPECT_EQ(cudaMemcpyAsync(to, from, 8, cudaMemcpyDefault, s), cudaSuccess);
  EXPECT_TRUE(open->load());
  EXPECT_STREQ(to, "text...");
  opener.join();
}

TEST_F(fake_cuda_limits, make_a_host_that_is_far_ahead_wait) {
  const cudaStream_t s = make_stream();
  std::atomic<int> enqueued = 0;
  std::atomic<int> done = 0;
  const auto open = hold(s);
  constexpr int all = 2000;
  std::thread host([&] {
    for (; enqueued < all; ++enqueued) {
      EXPECT_EQ(launch(s, "count", [&] { ++done; }), cudaSuccess);
    }
  });
  while (enqueued < 1000) std::this_thread::yield();
  std::this_thread::sleep_for(20ms);
  EXPECT_LT(enqueued, all);
  EXPECT_EQ(done, 0);
  open->store(true);
  host.join();
  EXPECT_EQ(cudaStreamSynchronize(s), cudaSuccess);
  EXPECT_EQ(done, all);
}

TEST_F(fake_cuda_limits, hold_for_a_device_that_has_failed) {
  const cudaStream_t s = make_stream();
  set_later_failure(0, cudaErrorDevicesUnavailable);
  ASSERT_EQ(launch_kernel(s, "faulty", [] { return cudaErrorLaunchFailure; }), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(s), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaStreamSynchronize(s), cudaErrorDevicesUnavailable);
  EXPECT_EQ(cudaSetDevice(0), cudaErrorDevicesUnavailable);
  EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(cudaSetDevice(0), cudaErrorDevicesUnavailable);
  int current = -1;
  EXPECT_EQ(cudaGetDevice(&current), cudaSuccess);
  EXPECT_EQ(current, 1);
}

}  // namespace
}  // namespace fake_cuda
