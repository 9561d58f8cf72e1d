// Two GPUs of the fake CUDA runtime that exchange tensors and events.

#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <future>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/device/cuda/cuda_calls.hpp"
#include "framework/device/cuda/cuda_device.hpp"
#include "framework/device/host/host_device.hpp"
#include "tests/device/cuda/fake/fake_cuda.hpp"

namespace graphline {
namespace {

using testing::HasSubstr;

constexpr std::size_t bytes = 4096;
const std::string no_access = "the GPUs have no peer access to each other";

/// A device with a stream, an event and memory.
struct gpu {
  explicit gpu(int index) : dev(open_cuda_device(index)) {}

  void launch(std::function<cudaError_t()> work) const {
    const auto handle = static_cast<cudaStream_t>(s->native());
    check_cuda(fake_cuda::launch_kernel(handle, "kernel", std::move(work)), "cudaLaunchKernel",
               "the kernel of this test");
  }

  /// Adds one to each value, after a while if `slow`.
  void add_one(bool slow = false) const {
    launch([slow, values = static_cast<std::uint8_t*>(block.data())] {
      if (slow) std::this_thread::sleep_for(std::chrono::milliseconds(3));
      for (std::size_t i = 0; i < bytes; ++i) ++values[i];
      return cudaSuccess;
    });
  }

  std::unique_ptr<device> dev;
  std::unique_ptr<stream> s = dev->make_stream("s", priority::normal);
  std::unique_ptr<event> e = dev->make_event("e");
  memory block = dev->allocate(bytes);
  memory pinned = dev->allocate_pinned(bytes);
};

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const run_error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

class cuda_peers : public testing::Test {
 protected:
  void SetUp() override { fake_cuda::reset(); }
  void TearDown() override { fake_cuda::reset(); }
};

/// Takes a block to the second GPU and back, where each adds one, several times. The pinned block
/// of the first one then has the initial values plus `rounds * 2`.
void go_to_and_fro(const gpu& a, const gpu& b, int rounds, bool slow) {
  a.s->copy(a.block.data(), a.pinned.data(), bytes);
  for (int round = 0; round < rounds; ++round) {
    a.add_one(slow);
    a.s->record(*a.e);
    b.s->wait(*a.e);
    b.s->copy(b.block.data(), a.block.data(), bytes);
    b.add_one(slow);
    b.s->record(*b.e);
    a.s->wait(*b.e);
    a.s->copy(a.block.data(), b.block.data(), bytes);
  }
  a.s->copy(a.pinned.data(), a.block.data(), bytes);
  a.s->record(*a.e);
}

TEST_F(cuda_peers, copy_every_bit_and_wait_for_each_other_in_any_order_that_the_waits_allow) {
  const std::uint64_t first = fake_cuda::seed().value_or(1);
  for (std::uint64_t seed = first; seed < first + 40; ++seed) {
    fake_cuda::reset();
    fake_cuda::shuffle(seed);
    const gpu a(0);
    const gpu b(1);
    a.dev->exchange_with(*b.dev);
    std::mt19937 random(static_cast<std::uint32_t>(seed));
    auto* const values = static_cast<std::uint8_t*>(a.pinned.data());
    for (std::size_t i = 0; i < bytes; ++i) values[i] = static_cast<std::uint8_t>(random());
    std::vector<std::uint8_t> expected(values, values + bytes);
    for (std::uint8_t& value : expected) value = static_cast<std::uint8_t>(value + 10);
    go_to_and_fro(a, b, 5, seed % 4 == 0);
    a.e->wait(wait_mode::block);
    ASSERT_EQ(std::memcmp(values, expected.data(), bytes), 0) << "seed " << seed;
  }
}

TEST_F(cuda_peers, enable_access_in_both_directions_once_or_again) {
  for (int round = 0; round < 2; ++round) {
    const gpu a(0);
    const gpu b(1);
    a.dev->exchange_with(*b.dev);
    b.dev->exchange_with(*a.dev);
    // The second round finds access enabled, which is no error of a later launch.
    EXPECT_EQ(fake_cuda::call_count("cudaDeviceEnablePeerAccess"), 2U * (round + 1U));
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  }
}

TEST_F(cuda_peers, may_be_the_same_gpu_opened_twice) {
  const gpu a(0);
  const gpu b(0);
  a.dev->exchange_with(*b.dev);
  EXPECT_EQ(fake_cuda::call_count("cudaDeviceEnablePeerAccess"), 0U);
  std::memset(a.pinned.data(), 1, bytes);
  go_to_and_fro(a, b, 1, true);
  a.e->wait(wait_mode::yield);
  EXPECT_EQ(*static_cast<std::uint8_t*>(a.pinned.data()), 3);
}

TEST_F(cuda_peers, are_refused_without_access_in_both_directions) {
  EXPECT_EQ(cuda_backend().why_apart(0, 1), "");
  EXPECT_EQ(cuda_backend().why_apart(0, 0), "");
  const gpu a(0);
  const gpu b(1);
  fake_cuda::refuse_peer_access(1, 0);
  EXPECT_EQ(cuda_backend().why_apart(0, 1), no_access);
  EXPECT_EQ(cuda_backend().why_apart(1, 0), no_access);
  EXPECT_EQ(message_of([&] { a.dev->exchange_with(*b.dev); }),
            "cuda:0 and cuda:1 cannot exchange tensors directly: " + no_access);
  EXPECT_EQ(fake_cuda::call_count("cudaDeviceEnablePeerAccess"), 0U);
  const auto host = open_host_device(1);
  EXPECT_EQ(message_of([&] { a.dev->exchange_with(*host); }),
            "a 'cuda' device cannot exchange tensors directly with 'host'");
  EXPECT_EQ(message_of([&] { host->exchange_with(*a.dev); }),
            "a 'host' device cannot exchange tensors directly with 'cuda'");
}

TEST_F(cuda_peers, are_told_apart_from_devices_that_exchange_nothing) {
  const gpu a(0);
  const gpu b(1);
  a.s->record(*a.e);
  EXPECT_THAT(message_of([&] { b.s->wait(*a.e); }), HasSubstr("make it on the device"));
  EXPECT_THAT(message_of([&] { b.s->copy(b.block.data(), a.block.data(), bytes); }),
              HasSubstr("cudaMemcpyAsync for stream 's' failed"));
  a.dev->exchange_with(*b.dev);
  EXPECT_THAT(message_of([&] { b.s->record(*a.e); }), HasSubstr("make it on the device"));
  b.s->wait(*a.e);
  b.dev->synchronize(wait_mode::block);
}

TEST_F(cuda_peers, pass_what_is_complete_or_was_never_recorded) {
  const gpu a(0);
  const gpu b(1);
  a.dev->exchange_with(*b.dev);
  b.s->wait(*a.e);
  EXPECT_EQ(fake_cuda::call_count("cudaStreamWaitEvent"), 0U);
  a.s->record(*a.e);
  a.dev->synchronize(wait_mode::block);
  b.s->wait(*a.e);
  b.dev->synchronize(wait_mode::block);
}

TEST_F(cuda_peers, are_refused_in_captures) {
  const gpu a(0);
  const gpu b(1);
  a.dev->exchange_with(*b.dev);
  a.s->record(*a.e);
  EXPECT_THAT(message_of([&] { b.dev->capture(*b.s, [&] { b.s->wait(*a.e); }); }),
              HasSubstr("cannot wait in a capture for event 'e' of another device"));
  static_cast<void>(a.dev->capture(*a.s, [&] { a.s->record(*a.e); }));
  EXPECT_THAT(message_of([&] { b.s->wait(*a.e); }), HasSubstr("cannot wait in a capture"));
  EXPECT_THAT(message_of([&] {
                b.dev->capture(*b.s, [&] { b.s->copy(b.block.data(), a.block.data(), bytes); });
              }),
              HasSubstr("cudaErrorStreamCaptureUnsupported"));
  b.dev->synchronize(wait_mode::block);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

/// Fails the first GPU, whose event the second one waits for, and returns what the second one says.
std::string failure_seen_by(const std::function<void(const gpu&)>& wait) {
  fake_cuda::reset();
  const gpu a(0);
  const gpu b(1);
  b.dev->exchange_with(*a.dev);
  a.launch([] { return cudaErrorIllegalAddress; });
  a.s->record(*a.e);
  b.s->wait(*a.e);
  b.s->copy(b.block.data(), a.block.data(), bytes);
  b.s->record(*b.e);
  return message_of([&] { wait(b); });
}

TEST_F(cuda_peers, fail_the_waits_of_each_other) {
  const std::vector<std::function<void(const gpu&)>> waits = {
      [](const gpu& b) { b.e->wait(wait_mode::block); },
      [](const gpu& b) { b.e->wait(wait_mode::spin); },
      [](const gpu& b) { b.e->wait(wait_mode::yield); },
      [](const gpu& b) {
        while (!b.e->done()) std::this_thread::yield();
      },
      [](const gpu& b) { b.dev->synchronize(wait_mode::block); }};
  for (const auto& wait : waits) {
    const std::string seen = failure_seen_by(wait);
    EXPECT_THAT(seen, HasSubstr("cudaErrorIllegalAddress"));
  }
}

TEST_F(cuda_peers, fail_a_wait_that_would_not_end) {
  const gpu a(0);
  const gpu b(1);
  a.dev->exchange_with(*b.dev);
  std::promise<void> gate;
  b.launch([open = gate.get_future().share()] {
    open.wait();
    return cudaSuccess;
  });
  b.s->record(*b.e);
  a.launch([] { return cudaErrorIllegalAddress; });
  EXPECT_THAT(message_of([&] { b.e->wait(wait_mode::yield); }),
              HasSubstr("cudaErrorIllegalAddress"));
  EXPECT_THAT(message_of([&] { b.e->wait(wait_mode::block); }),
              HasSubstr("cudaErrorIllegalAddress"));
  gate.set_value();
}

TEST_F(cuda_peers, leave_the_device_that_is_left_in_order) {
  const gpu b(1);
  {
    const gpu a(0);
    a.dev->exchange_with(*b.dev);
    std::memset(a.pinned.data(), 1, bytes);
    go_to_and_fro(a, b, 1, false);
    a.dev->synchronize(wait_mode::block);
    b.dev->synchronize(wait_mode::block);
  }
  b.s->record(*b.e);
  b.e->wait(wait_mode::block);
}

TEST_F(cuda_peers, tell_which_call_failed) {
  for (const std::string call :
       {"cudaDeviceCanAccessPeer", "cudaDeviceEnablePeerAccess", "cudaStreamQuery"}) {
    for (const std::size_t n : {1U, 2U}) {
      fake_cuda::reset();
      const gpu a(0);
      const gpu b(1);
      fake_cuda::fail_call(call, n, cudaErrorNotPermitted);
      EXPECT_THAT(message_of([&] {
                    a.dev->exchange_with(*b.dev);
                    a.s->record(*a.e);
                    a.e->wait(wait_mode::block);
                  }),
                  HasSubstr(call + " for device"));
    }
  }
}

TEST_F(cuda_peers, of_the_fake_follow_the_manual) {
  int can = -1;
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can, 0, 1), cudaSuccess);
  EXPECT_EQ(can, 1);
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can, 1, 1), cudaSuccess);
  EXPECT_EQ(can, 0);
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can, 0, 2), cudaErrorInvalidDevice);
  fake_cuda::refuse_peer_access(1, 0);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(2, 0), cudaErrorInvalidDevice);
  EXPECT_FALSE(fake_cuda::has_context(1));
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaSuccess);
  EXPECT_TRUE(fake_cuda::has_context(1));
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
  EXPECT_EQ(cudaGetLastError(), cudaErrorPeerAccessAlreadyEnabled);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaErrorInvalidDevice);
}

}  // namespace
}  // namespace graphline
