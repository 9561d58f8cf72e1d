// The command queue of a stream, without a worker.

#include "framework/device/host/lane.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "framework/base/error.hpp"

namespace graphline {
namespace {

constexpr std::byte nothing{0};

TEST(lane, counts_its_commands_from_one) {
  lane l(0);
  EXPECT_TRUE(l.passed(0));
  EXPECT_EQ(l.reserve(), 1U);
  l.publish(fill_command{nullptr, 7, nothing});
  EXPECT_EQ(l.reserve(), 2U);
  EXPECT_EQ(l.submitted(), 1U);
  EXPECT_EQ(l.backlog(), 1U);
  EXPECT_EQ(l.front_ticket(), 1U);
  EXPECT_EQ(std::get<fill_command>(l.front()).bytes, 7U);
  EXPECT_FALSE(l.passed(1));
  l.complete();
  EXPECT_TRUE(l.passed(1));
  EXPECT_EQ(l.backlog(), 0U);
}

TEST(lane, hands_commands_over_in_order_through_a_ring_much_smaller_than_their_number) {
  constexpr std::size_t count = 20 * lane::capacity;
  lane l(0);
  std::thread caller([&] {
    for (std::size_t i = 0; i < count; ++i) {
      l.reserve();
      l.publish(fill_command{nullptr, i, nothing});
    }
  });
  for (std::size_t i = 0; i < count; ++i) {
    while (l.backlog() == 0) std::this_thread::yield();
    ASSERT_LE(l.backlog(), lane::capacity);
    ASSERT_EQ(std::get<fill_command>(l.front()).bytes, i);
    l.complete();
  }
  caller.join();
}

TEST(lane, wakes_every_sleeper_at_its_own_ticket) {
  constexpr ticket count = 200;
  lane l(0);
  for (ticket t = 1; t <= count; ++t) {
    l.reserve();
    l.publish(fill_command{nullptr, 0, nothing});
  }
  std::atomic<int> awake = 0;
  std::vector<std::thread> sleepers;
  for (ticket first = 1; first <= 4; ++first) {
    sleepers.emplace_back([&, first] {
      for (ticket t = first; t <= count; t += 4) {
        l.wait(t, wait_mode::block);
        ASSERT_TRUE(l.passed(t));
      }
      ++awake;
    });
  }
  for (ticket t = 1; t <= count; ++t) {
    l.complete();
    if (t % 3 == 0) std::this_thread::yield();
  }
  for (std::thread& t : sleepers) t.join();
  EXPECT_EQ(awake, 4);
}

TEST(lane_table, gives_a_lane_to_a_new_stream_with_its_tickets_counting_on) {
  lane_table lanes;
  lane& first = lanes.acquire(priority::low);
  first.reserve();
  first.publish(fill_command{nullptr, 0, nothing});
  first.complete();
  const recorded_point r = recorded_point::at(first.id(), 1);
  lanes.release(first);
  lane& again = lanes.acquire(priority::high);
  EXPECT_EQ(&again, &first);
  EXPECT_EQ(again.reserve(), 2U);
  EXPECT_EQ(lanes.pending(r).on, nullptr);

  lane_table::roster in_use;
  lanes.list(in_use);
  EXPECT_EQ(in_use[static_cast<std::size_t>(priority::high)].size(), 1U);
  EXPECT_TRUE(in_use[static_cast<std::size_t>(priority::low)].empty());
}

TEST(lane_table, says_so_when_there_are_too_many_streams) {
  lane_table lanes;
  for (std::uint32_t i = 0; i < recorded_point::max_lanes; ++i) lanes.acquire(priority::normal);
  EXPECT_THROW(lanes.acquire(priority::normal), run_error);
}

TEST(recorded_point, tells_lane_ticket_and_capture_apart) {
  EXPECT_TRUE(recorded_point().is_never());
  const recorded_point r = recorded_point::at(1023, 123'456'789'012);
  EXPECT_EQ(r.lane(), 1023U);
  EXPECT_EQ(r.number(), 123'456'789'012U);
  EXPECT_FALSE(r.is_never());
  EXPECT_FALSE(r.is_in_capture());
  EXPECT_TRUE(recorded_point::in_capture(3).is_in_capture());
  EXPECT_EQ(recorded_point::in_capture(3).number(), 3U);
}

}  // namespace
}  // namespace graphline
