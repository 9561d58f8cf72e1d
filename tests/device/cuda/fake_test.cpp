// The fake of the CUDA runtime, held to what CUDA's documentation says: devices, memory, streams
// and events. Captures and graphs are in fake_capture_test.cpp; what device.hpp promises, the
// conformance suite tests on it.

#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "tests/device/cuda/fake_fixture.hpp"

namespace fake_cuda {
namespace {

using fake_cuda_runtime = fake_test;

TEST_F(fake_cuda_runtime, says_why_there_is_no_device) {
  int count = -1;
  int driver = -1;
  ASSERT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(count, 2);
  set_device_count(0);
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorNoDevice);
  EXPECT_EQ(cudaSetDevice(0), cudaErrorNoDevice);
  for (const int version : {0, 11040}) {
    set_driver_version(version);
    EXPECT_EQ(cudaGetDeviceCount(&count), cudaErrorInsufficientDriver);
    ASSERT_EQ(cudaDriverGetVersion(&driver), cudaSuccess);
    EXPECT_EQ(driver, version);
  }
}

TEST_F(fake_cuda_runtime, names_its_errors_as_cuda_does) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorIllegalAddress),
               "an illegal memory access was encountered");
  EXPECT_STREQ(cudaGetErrorName(static_cast<cudaError_t>(12345)), "unrecognized error code");
}

TEST_F(fake_cuda_runtime, keeps_the_last_error_until_it_is_asked_for) {
  EXPECT_EQ(cudaSetDevice(17), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(fake_cuda_runtime, lists_and_counts_calls_and_fails_the_one_it_is_told_to) {
  cudaEvent_t e = nullptr;
  fail_call(2, cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaEventCreateWithFlags(&e, cudaEventDefault), cudaSuccess);
  static_cast<void>(cudaGetErrorName(cudaSuccess));  // cannot fail and does not count
  EXPECT_EQ(cudaEventDestroy(e), cudaErrorMemoryAllocation);
  EXPECT_EQ(live().events, 1);
  EXPECT_EQ(cudaEventDestroy(e), cudaSuccess);
  EXPECT_THAT(calls(), testing::ElementsAre("cudaEventCreateWithFlags", "cudaEventDestroy",
                                            "cudaEventDestroy"));
  EXPECT_EQ(call_count("cudaEventDestroy"), 2U);
  fail_call("cudaMalloc", 1, cudaErrorUnknown);
  e = make_event();
  void* data = nullptr;
  EXPECT_EQ(cudaMalloc(&data, 1), cudaErrorUnknown);
  EXPECT_EQ(allocation_calls(), 1U);
}

TEST_F(fake_cuda_runtime, counts_what_is_not_given_back) {
  const live_objects none;
  EXPECT_EQ(live(), none);
  const cudaStream_t s = make_stream();
  int* const data = make_device<int>();
  EXPECT_EQ(live().streams, 1);
  EXPECT_EQ(live().device_allocations, 1);
  EXPECT_EQ(cudaStreamDestroy(s), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(s), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaFree(data), cudaSuccess);
  EXPECT_EQ(cudaFree(data), cudaErrorInvalidValue);
  EXPECT_EQ(live(), none);
}

TEST_F(fake_cuda_runtime, has_as_much_memory_as_it_is_given) {
  set_device_capacity(1000);
  const char* const first = make_device<char>(600);
  char last = 0;
  ASSERT_EQ(cudaMemcpy(&last, first + 599, 1, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(last, static_cast<char>(0xff));  // poisoned
  void* second = nullptr;
  EXPECT_EQ(cudaMalloc(&second, 401), cudaErrorMemoryAllocation);
  std::size_t free = 0;
  std::size_t total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  EXPECT_EQ(free, 400U);
  EXPECT_EQ(total, 1000U);
  EXPECT_EQ(cudaMalloc(&second, std::numeric_limits<std::size_t>::max()),
            cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMalloc(&second, 400), cudaSuccess);
}

TEST_F(fake_cuda_runtime, checks_where_a_copy_goes) {
  const cudaStream_t s = make_stream();
  char* const device = make_device<char>(8);
  char* const pinned = make_pinned<char>(8);
  char pageable[8] = "text...";
  EXPECT_EQ(cudaMemcpyAsync(device, pinned, 8, cudaMemcpyDeviceToHost, s), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyAsync(device, pinned, 9, cudaMemcpyDefault, s), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyAsync(device, pageable, 8, cudaMemcpyHostToDevice, s), cudaSuccess);
  pageable[0] = '?';  // was read at once
  EXPECT_EQ(cudaMemcpyAsync(pinned, device, 8, cudaMemcpyDefault, s), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(s), cudaSuccess);
  EXPECT_STREQ(pinned, "text...");
}

TEST_F(fake_cuda_runtime, runs_the_more_urgent_stream_first) {
  int least = -1;
  int greatest = -1;
  ASSERT_EQ(cudaDeviceGetStreamPriorityRange(&least, &greatest), cudaSuccess);
  EXPECT_EQ(least, 0);
  EXPECT_EQ(greatest, -5);
  std::vector<int> order;
  const auto note = [&](cudaStream_t s, int which) {
    EXPECT_EQ(launch(s, "note", [&order, which] { order.push_back(which); }), cudaSuccess);
  };
  const auto open = hold(make_stream());
  note(make_stream(0), 0);
  note(make_stream(-5), -5);
  note(make_stream(-99), -99);  // clamped
  open->store(true);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_THAT(order, testing::ElementsAre(-5, -99, 0));
}

TEST_F(fake_cuda_runtime, takes_any_order_that_streams_and_events_allow_when_shuffled) {
  std::set<std::vector<int>> orders;
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    reset();
    shuffle(seed);
    std::vector<int> order;
    const auto note = [&](cudaStream_t s, int which) {
      EXPECT_EQ(launch(s, "note", [&order, which] { order.push_back(which); }), cudaSuccess);
    };
    const cudaStream_t left = make_stream();
    const cudaStream_t right = make_stream();
    const cudaEvent_t e = make_event();
    note(left, 1);
    note(left, 2);
    note(right, 3);
    ASSERT_EQ(cudaEventRecord(e, left), cudaSuccess);
    ASSERT_EQ(cudaStreamWaitEvent(right, e, 0), cudaSuccess);
    note(right, 4);
    note(left, 5);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    orders.insert(order);
  }
  // 1, 2, 4 and 1, 2, 5 follow each other, and 3 comes before 4.
  EXPECT_THAT(orders, testing::UnorderedElementsAre(
                          testing::ElementsAre(1, 2, 3, 4, 5), testing::ElementsAre(1, 2, 3, 5, 4),
                          testing::ElementsAre(1, 3, 2, 4, 5), testing::ElementsAre(1, 3, 2, 5, 4),
                          testing::ElementsAre(3, 1, 2, 4, 5), testing::ElementsAre(3, 1, 2, 5, 4),
                          testing::ElementsAre(1, 2, 5, 3, 4)));
}

TEST_F(fake_cuda_runtime, permits_no_calls_in_a_host_function) {
  const cudaStream_t s = make_stream();
  cudaError_t status = cudaSuccess;
  ASSERT_EQ(cudaLaunchHostFunc(
                s, [](void* data) { *static_cast<cudaError_t*>(data) = cudaDeviceSynchronize(); },
                &status),
            cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(s), cudaSuccess);
  EXPECT_EQ(status, cudaErrorNotPermitted);
}

TEST_F(fake_cuda_runtime, times_only_events_that_were_recorded_keep_time_and_have_passed) {
  const cudaStream_t s = make_stream();
  const cudaEvent_t begin = make_event();
  const cudaEvent_t end = make_event();
  const cudaEvent_t timeless = make_event(cudaEventDisableTiming);
  float ms = -1;
  EXPECT_EQ(cudaEventQuery(begin), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&ms, begin, end), cudaErrorInvalidResourceHandle);
  for (const cudaEvent_t e : {begin, timeless}) ASSERT_EQ(cudaEventRecord(e, s), cudaSuccess);
  const auto open = hold(s);
  ASSERT_EQ(cudaEventRecord(end, s), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&ms, begin, end), cudaErrorNotReady);
  open->store(true);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&ms, begin, end), cudaSuccess);
  EXPECT_GE(ms, 0);
  EXPECT_EQ(cudaEventElapsedTime(&ms, begin, timeless), cudaErrorInvalidResourceHandle);
}

TEST_F(fake_cuda_runtime, refuses_launches_on_a_stream_of_another_than_the_current_device) {
  int counter = 0;
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  const cudaStream_t s = make_stream();
  EXPECT_EQ(add(s, &counter), cudaSuccess);
  std::thread([&] {
    EXPECT_EQ(add(s, &counter), cudaErrorInvalidResourceHandle);  // device 0 is current here
    const cudaEvent_t of_device_0 = make_event();
    EXPECT_EQ(cudaEventRecord(of_device_0, s), cudaErrorInvalidResourceHandle);
    ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
    EXPECT_EQ(add(s, &counter), cudaSuccess);
  }).join();
  EXPECT_EQ(cudaStreamSynchronize(s), cudaSuccess);
  EXPECT_EQ(counter, 2);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST_F(fake_cuda_runtime, stays_failed_once_a_kernel_has_failed_until_the_device_is_reset) {
  const cudaStream_t s = make_stream();
  const cudaEvent_t e = make_event();
  int counter = 0;
  bool called = false;
  const auto open = hold(s);
  ASSERT_EQ(launch_kernel(s, "faulty", [] { return cudaErrorIllegalAddress; }), cudaSuccess);
  ASSERT_EQ(add(s, &counter), cudaSuccess);
  ASSERT_EQ(cudaLaunchHostFunc(
                s, [](void* data) { *static_cast<bool*>(data) = true; }, &called),
            cudaSuccess);
  open->store(true);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(counter, 0);
  EXPECT_FALSE(called);
  void* data = nullptr;
  EXPECT_EQ(cudaMalloc(&data, 1), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaEventDestroy(e), cudaErrorIllegalAddress);
  EXPECT_EQ(live().events, 0);  // it went all the same
  std::thread([] {
    EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);  // the other device is well
  }).join();
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(live(), live_objects());
}

}  // namespace
}  // namespace fake_cuda
