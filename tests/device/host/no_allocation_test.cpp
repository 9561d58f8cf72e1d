// Submission and execution do not allocate.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "tests/device/conformance/test_function.hpp"
#include "tests/device/host/host_fixture.hpp"
#include "tests/run/counted_new.hpp"

namespace graphline {
namespace {

using host_submission = host_test;

TEST_F(host_submission, allocates_nothing) {
  const auto s = make_stream("s");
  const auto other = make_stream("other", priority::high);
  const auto begin = dev_->make_timed_event("begin");
  const auto end = dev_->make_event("end");
  const memory from = dev_->allocate_pinned(64);
  const memory to = dev_->allocate(64);
  long runs = 0;
  function_operation count("count", [&] { ++runs; });
  const auto exec = make_exec(*s, [&] {
    host_enqueue(*s, count);
    s->fill(to.data(), std::byte{0}, 64);
  });
  dev_->synchronize(wait_mode::block);
  auto frame = [&] {
    s->record(*begin);
    s->copy(to.data(), from.data(), 64);
    host_enqueue(*s, count);
    s->launch(*exec);
    s->record(*end);
    other->wait(*end);
    other->fill(to.data(), std::byte{1}, 64);
    other->launch(*exec);
  };
  frame();
  dev_->synchronize(wait_mode::block);

  const long before = counted_new::allocations.load();
  for (int i = 0; i < 2000; ++i) {  // more commands than a lane holds
    frame();
    if (i % 100 == 0) end->wait(wait_mode::block);
  }
  dev_->synchronize(wait_mode::block);
  EXPECT_EQ(counted_new::allocations.load(), before);
  EXPECT_EQ(runs, 3 * 2001);
}

TEST_F(host_submission, of_calls_and_of_graphs_with_calls_stamps_and_switches_allocates_nothing) {
  const memory selector = dev_->allocate_pinned(sizeof(std::uint32_t));
  const auto selected = static_cast<std::uint32_t*>(selector.data());
  const auto begin = dev_->make_timed_event("begin");
  const auto end = dev_->make_timed_event("end");
  const auto fork = dev_->make_event("fork");
  const auto join = dev_->make_event("join");
  long runs = 0;
  long calls = 0;
  long chosen_runs = 0;
  function_operation count("count", [&] { ++runs; });
  function_operation chosen("chosen", [&] { ++chosen_runs; });
  conformance::test_function count_call("count call", [&] {
    ++calls;
    *selected = static_cast<std::uint32_t>(calls % 3);
  });
  const auto s = make_stream("s");
  const auto side = make_stream("side");
  const auto exec = make_exec(*s, [&] {
    s->stamp(*begin);
    s->record(*fork);
    side->wait(*fork);
    host_enqueue(*s, count);
    s->call(count_call);
    side->call(count_call);
    host_enqueue(*side, count);
    side->record(*join);
    s->wait(*join);
    s->select(selected, std::vector<std::function<void()>>(2, [&] { host_enqueue(*s, chosen); }));
    s->stamp(*end);
  });
  auto frame = [&] {
    s->launch(*exec);
    s->call(count_call);
    side->launch(*exec);
  };
  frame();
  dev_->synchronize(wait_mode::block);

  const long before = counted_new::allocations.load();
  for (int i = 0; i < 1000; ++i) frame();  // more commands than a lane holds
  dev_->synchronize(wait_mode::block);
  EXPECT_EQ(counted_new::allocations.load(), before);
  EXPECT_EQ(runs, 2 * 2 * 1001);
  EXPECT_GT(chosen_runs, 0);
  EXPECT_EQ(calls, (2 * 2 + 1) * 1001);
}

}  // namespace
}  // namespace graphline
