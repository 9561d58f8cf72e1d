#include "framework/ranks/tensor_links.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "framework/base/error.hpp"
#include "tests/ranks/thread_messages.hpp"

namespace graphline {
namespace {

using samples::mail;
using samples::thread_messages;
using namespace std::chrono_literals;

/// Two ranks with links between them.
struct two_ranks {
  explicit two_ranks(std::size_t depth, wait_mode how = wait_mode::block)
      : first(first_messages, {{true, 1, 0, 8}, {false, 1, 1, 8}, {true, 1, 2, 0}}, depth, how,
              stop),
        second(second_messages, {{false, 0, 0, 8}, {true, 0, 1, 8}, {false, 0, 2, 0}}, depth, how,
               stop) {}

  mail post{2};
  thread_messages first_messages{post, 0};
  thread_messages second_messages{post, 1};
  stop_request stop;
  tensor_links first;
  tensor_links second;
};

void send(tensor_links& by, std::size_t link, std::int64_t value) {
  by.send(link, std::as_bytes(std::span(&value, 1)));
}

std::int64_t receive(tensor_links& by, std::size_t link) {
  std::int64_t value = 0;
  by.receive(link, std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

TEST(tensor_links, carry_the_tensors_of_frames_in_order_both_ways) {
  for (const auto how : {wait_mode::spin, wait_mode::yield, wait_mode::block}) {
    two_ranks ranks(3, how);
    constexpr std::int64_t frames = 300;
    std::thread other([&] {
      std::mt19937 random(1);
      for (std::int64_t f = 0; f < frames; ++f) {
        if (random() % 20 == 0) std::this_thread::sleep_for(1ms);
        send(ranks.second, 1, 2 * receive(ranks.second, 0));
      }
    });
    std::mt19937 random(2);
    for (std::int64_t f = 0; f < frames; ++f) {
      if (random() % 20 == 0) std::this_thread::sleep_for(1ms);
      send(ranks.first, 0, f);
      if (f < 2) continue;
      EXPECT_EQ(receive(ranks.first, 1), 2 * (f - 2));
    }
    other.join();
  }
}

TEST(tensor_links, let_a_sender_be_ahead_by_their_depth_and_then_wait) {
  two_ranks ranks(2);
  std::atomic<int> sent = 0;
  std::thread sender([&] {
    for (int f = 0; f < 8; ++f) {
      send(ranks.first, 0, f);
      ++sent;
    }
  });
  std::this_thread::sleep_for(100ms);
  // Two in the sender's buffers and two in the receiver's.
  EXPECT_EQ(sent, 4);
  for (int f = 0; f < 8; ++f) EXPECT_EQ(receive(ranks.second, 0), f);
  sender.join();
}

TEST(tensor_links, tell_when_a_tensor_has_arrived) {
  two_ranks ranks(1);
  std::atomic<int> calls = 0;
  EXPECT_FALSE(ranks.second.has_arrived(0, [&] { ++calls; }));
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(calls, 0);
  send(ranks.first, 0, 7);
  while (calls == 0) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(ranks.second.has_arrived(0, [&] { ++calls; }));
  EXPECT_EQ(receive(ranks.second, 0), 7);
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(calls, 1);
}

TEST(tensor_links, carry_signals_without_bytes) {
  two_ranks ranks(1);
  ranks.first.send(2, {});
  ranks.second.await(2);
  ranks.second.receive(2, {});
  EXPECT_FALSE(ranks.second.has_arrived(2, [] {}));
}

TEST(tensor_links, end_all_waits_when_the_run_stops) {
  two_ranks ranks(1);
  std::atomic<int> calls = 0;
  ranks.second.has_arrived(2, [&] { ++calls; });
  std::thread receiver([&] { EXPECT_THROW(receive(ranks.second, 0), interrupted_error); });
  std::thread sender([&] { EXPECT_THROW(for (;;) send(ranks.second, 1, 1), interrupted_error); });
  std::this_thread::sleep_for(50ms);
  ranks.stop.raise();
  receiver.join();
  sender.join();
  while (calls == 0) std::this_thread::sleep_for(1ms);
}

TEST(tensor_links, throw_what_the_transport_throws) {
  mail post(2);
  thread_messages messages(post, 0);
  thread_messages other(post, 1);
  stop_request stop;
  tensor_links links(messages, {{false, 1, 0, 8}}, 1, wait_mode::block, stop);
  data_transfer short_one;
  const std::byte byte[1] = {};
  other.start_send(0, 0, byte, short_one);
  EXPECT_THROW(receive(links, 0), run_error);
}

}  // namespace
}  // namespace graphline
