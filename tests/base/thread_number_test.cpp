#include "framework/base/thread_number.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

namespace graphline {
namespace {

TEST(thread_number, stays_the_same_within_a_thread) {
  EXPECT_EQ(thread_number(), thread_number());
}

TEST(thread_number, is_never_given_to_another_thread) {
  std::set<std::uint32_t> numbers = {thread_number()};
  for (int i = 0; i < 20; ++i) {
    std::uint32_t number = 0;
    std::thread([&number] { number = thread_number(); }).join();
    EXPECT_TRUE(numbers.insert(number).second) << number;
  }
}

TEST(thread_name, is_what_the_thread_was_named_even_after_its_end) {
  std::uint32_t number = 0;
  std::thread([&number] {
    name_thread("worker 7 of a pool with a long name");
    number = thread_number();
    char shown[16] = {};
    ASSERT_EQ(::pthread_getname_np(::pthread_self(), shown, sizeof shown), 0);
    EXPECT_STREQ(shown, "worker 7 of a p");
  }).join();
  EXPECT_EQ(thread_name(number), "worker 7 of a pool with a long name");
}

TEST(thread_name, is_its_number_for_one_that_was_not_named) {
  std::uint32_t number = 0;
  std::thread([&number] { number = thread_number(); }).join();
  EXPECT_EQ(thread_name(number), "thread " + std::to_string(number));
}

}  // namespace
}  // namespace graphline
