#include "framework/base/virtual_clock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"

namespace graphline {
namespace {

TEST(virtual_clock, calls_in_order_of_time_then_of_scheduling) {
  virtual_clock clock;
  std::string called;
  const auto note = [&](char name) { return [&called, name] { called += name; }; };
  clock.at(20, note('c'));
  clock.at(10, note('a'));
  clock.at(20, note('d'));
  clock.at(10, note('b'));
  EXPECT_EQ(clock.now(), 0);
  EXPECT_TRUE(clock.step());
  EXPECT_EQ(clock.now(), 10);
  EXPECT_EQ(called, "a");
  while (clock.step()) {
  }
  EXPECT_EQ(called, "abcd");
  EXPECT_EQ(clock.now(), 20);
  EXPECT_FALSE(clock.step());
  EXPECT_EQ(clock.now(), 20);
}

TEST(virtual_clock, calls_at_the_end_of_a_time_when_all_else_at_it_is_done) {
  virtual_clock clock;
  std::string called;
  clock.at_end_of(10, [&] {
    called += 'c';
    clock.at(10, [&] { called += 'd'; });
  });
  clock.at_end_of(10, [&] { called += 'e'; });
  clock.at(11, [&] { called += 'f'; });
  clock.at(10, [&] {
    called += 'a';
    clock.at(10, [&] { called += 'b'; });
  });
  while (clock.step()) {
  }
  EXPECT_EQ(called, "abcdef");
}

TEST(virtual_clock, lets_a_call_schedule_others_and_go_on_itself) {
  virtual_clock clock;
  std::vector<nanoseconds> at;
  clock.at(5, [&] {
    clock.at(7, [&] { at.push_back(clock.now()); });
    clock.run_until([&] { return !at.empty(); });
    at.push_back(clock.now());
  });
  clock.at(9, [&] { at.push_back(clock.now()); });
  clock.run_until([&] { return at.size() == 3; });
  EXPECT_THAT(at, testing::ElementsAre(7, 7, 9));
}

TEST(virtual_clock, stands_where_it_was_advanced_to) {
  virtual_clock clock;
  int called = 0;
  for (const nanoseconds when : {10, 20, 21}) clock.at(when, [&] { ++called; });
  clock.advance_to(20);
  EXPECT_EQ(called, 2);
  EXPECT_EQ(clock.now(), 20);
  clock.advance_to(15);
  EXPECT_EQ(clock.now(), 20);
  clock.advance_to(100);
  EXPECT_EQ(called, 3);
  EXPECT_EQ(clock.now(), 100);
}

TEST(virtual_clock, reports_a_wait_that_nothing_can_end) {
  virtual_clock clock;
  clock.at(30, [] {});
  try {
    clock.run_until([] { return false; });
    FAIL() << "it waits for what never happens";
  } catch (const run_error& e) {
    EXPECT_STREQ(e.what(),
                 "deadlock: at 30 ns of virtual time nothing is left to happen that could end a "
                 "wait");
  }
  clock.run_until([] { return true; });
}

TEST(virtual_clock, refuses_a_time_that_has_passed) {
  virtual_clock clock;
  clock.advance_to(30);
  EXPECT_THROW(clock.at(29, [] {}), run_error);
  EXPECT_FALSE(clock.step());
  clock.at(30, [] {});
  EXPECT_TRUE(clock.step());
}

TEST(virtual_clock, passes_an_exception_through_and_goes_on_after_it) {
  virtual_clock clock;
  bool called = false;
  clock.at(1, [] { throw std::runtime_error("no"); });
  clock.at(2, [&] { called = true; });
  EXPECT_THROW(clock.step(), std::runtime_error);
  EXPECT_TRUE(clock.step());
  EXPECT_TRUE(called);
}

TEST(virtual_clock, sorts_many_calls_as_a_stable_sort_does) {
  constexpr std::size_t count = 20'000;
  std::mt19937 random(1);
  virtual_clock clock;
  std::vector<std::pair<nanoseconds, std::size_t>> expected;
  std::vector<std::pair<nanoseconds, std::size_t>> called;
  // A half before the clock goes on, a half by the calls.
  const auto schedule = [&](auto&& self, std::size_t number) -> void {
    const nanoseconds when = clock.now() + static_cast<nanoseconds>(random() % 1'000);
    expected.emplace_back(when, number);
    clock.at(when, [&, when, number] {
      called.emplace_back(when, number);
      EXPECT_EQ(clock.now(), when);
      if (expected.size() < count) self(self, expected.size());
    });
  };
  for (std::size_t i = 0; i < count / 2; ++i) schedule(schedule, i);
  while (clock.step()) {
  }
  std::ranges::stable_sort(expected, {}, &std::pair<nanoseconds, std::size_t>::first);
  EXPECT_EQ(called, expected);
}

}  // namespace
}  // namespace graphline
