// host_call: host code on the device's worker with its compute threads.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "framework/base/error.hpp"
#include "tests/device/host/host_fixture.hpp"

namespace graphline {
namespace {

using host_calls = host_test;
using host_worker = host_test;

TEST_F(host_calls, runs_on_the_thread_that_carries_out_operations) {
  const auto s = make_stream("s");
  std::thread::id of_operation;
  std::thread::id of_call;
  function_operation note("note", [&] { of_operation = std::this_thread::get_id(); });
  host_enqueue(*s, note);
  host_call(*dev_, [&] { of_call = std::this_thread::get_id(); });
  dev_->synchronize(wait_mode::block);
  EXPECT_EQ(of_call, of_operation);
  EXPECT_NE(of_call, std::this_thread::get_id());
}

TEST_F(host_calls, sees_the_devices_number_of_compute_threads_and_leaves_the_callers_alone) {
  const int mine = omp_get_max_threads();
  for (const int threads : {1, 2, 3}) {
    const auto dev = open_host_device(threads);
    int seen = 0;
    host_call(*dev, [&] { seen = omp_get_max_threads(); });
    EXPECT_EQ(seen, threads);
  }
  EXPECT_EQ(omp_get_max_threads(), mine);
}

/// An operation that flushes denormals.
class flushing_operation final : public function_operation {
 public:
  using function_operation::function_operation;
  bool flushes_denormals() const noexcept override { return true; }
};

/// On each thread: the double of a denormal number, and a denormal product.
std::vector<float> denormals_on(int threads) {
  std::vector<float> found(static_cast<std::size_t>(2 * threads), -1);
  const volatile float denormal = 1e-40F;
  const volatile float small = 1e-20F;
#pragma omp parallel
  {
    const auto at = static_cast<std::size_t>(2 * omp_get_thread_num());
    found[at] = denormal * 2;
    found[at + 1] = small * small;
  }
  return found;
}

TEST_F(host_calls, and_operations_compute_with_denormals_unless_an_operation_flushes_them) {
#ifdef __SANITIZE_THREAD__  // libgomp is not instrumented
  constexpr int most = 1;
#else
  constexpr int most = 3;
#endif
  for (const int threads : {1, most}) {
    SCOPED_TRACE(threads);
    const auto dev = open_host_device(threads);
    const auto s = dev->make_stream("s", priority::normal);
    std::vector<float> kept;
    std::vector<float> flushed;
    std::vector<float> called;
    function_operation keeping("keeping", [&] { kept = denormals_on(threads); });
    flushing_operation flushing("flushing", [&] { flushed = denormals_on(threads); });
    const auto all = static_cast<std::size_t>(2 * threads);
    for (int round = 0; round < 2; ++round) {
      host_enqueue(*s, flushing);
      host_enqueue(*s, keeping);
      host_enqueue(*s, flushing);
      dev->synchronize(wait_mode::block);
      host_call(*dev, [&] { called = denormals_on(threads); });
      EXPECT_EQ(flushed, std::vector<float>(all, 0));
      EXPECT_THAT(kept, testing::Each(testing::Gt(0)));
      EXPECT_THAT(called, testing::Each(testing::Gt(0)));
    }
  }
}

TEST_F(host_calls, passes_exceptions_to_the_caller_and_the_device_goes_on) {
  EXPECT_THROW(host_call(*dev_, [] { throw std::out_of_range("no such plan"); }),
               std::out_of_range);
  bool ran = false;
  host_call(*dev_, [&] { ran = true; });
  EXPECT_TRUE(ran);
  dev_->synchronize(wait_mode::block);
}

TEST_F(host_calls, can_be_made_from_an_operation) {
  const auto s = make_stream("s");
  bool ran = false;
  function_operation nested("nested", [&] { host_call(*dev_, [&] { ran = true; }); });
  host_enqueue(*s, nested);
  dev_->synchronize(wait_mode::block);
  EXPECT_TRUE(ran);
}

TEST_F(host_calls, serves_several_callers) {
  int calls = 0;  // accessed only on the worker
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int n = 0; n < 100; ++n) host_call(*dev_, [&] { ++calls; });
    });
  }
  for (std::thread& t : callers) t.join();
  EXPECT_EQ(calls, 400);
}

TEST_F(host_calls, is_refused_once_the_device_has_failed) {
  const auto s = make_stream("s");
  function_operation faulty("faulty", [] { throw 42; });
  host_enqueue(*s, faulty);
  EXPECT_THROW(dev_->synchronize(wait_mode::block), run_error);
  bool ran = false;
  try {
    host_call(*dev_, [&] { ran = true; });
    ADD_FAILURE() << "the call was carried out";
  } catch (const run_error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("operation 'faulty'"));
  }
  EXPECT_FALSE(ran);
}

TEST_F(host_worker, wakes_for_work_after_it_has_gone_to_sleep) {
  const auto s = make_stream("s");
  const auto e = dev_->make_event("e");
  int runs = 0;
  function_operation count("count", [&] { ++runs; });
  // Pauses shorter and longer than the worker's polling, so that work arrives before, while and
  // after it goes to sleep.
  for (int i = 0; i < 500; ++i) {
    const nanoseconds until = now() + i * 200;
    while (now() < until) {
    }
    host_enqueue(*s, count);
    s->record(*e);
    e->wait(i % 2 == 0 ? wait_mode::block : wait_mode::yield);
  }
  EXPECT_EQ(runs, 500);
}

}  // namespace
}  // namespace graphline
