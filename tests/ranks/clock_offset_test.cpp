#include "framework/ranks/clock_offset.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace graphline {
namespace {

/// The clock of a rank that drifts against that of rank 0, whose time is `at`.
struct drifting_clock {
  double ahead;  ///< ns, at time 0
  double drift;  ///< ns per ns

  double offset(double at) const { return ahead + drift * at; }
  nanoseconds read(double at) const { return std::llround(at + offset(at)); }
};

/// A message takes at least 500 ns, and each way its own time: queues delay one way only.
class network {
 public:
  explicit network(unsigned seed) : random_(seed) {}

  /// @param at Time of rank 0; ends where the round trip ended.
  round_trip travel(double& at, const drifting_clock& rank) {
    round_trip made;
    made.sent = std::llround(at);
    at += delay();
    made.arrived = rank.read(at);
    at += 300;
    made.returned = rank.read(at);
    at += delay();
    made.answered = std::llround(at);
    return made;
  }

 private:
  double delay() { return 500 + std::exponential_distribution<>(1.0 / 3000)(random_); }

  std::mt19937 random_;
};

clock_offset measure(network& over, double& at, const drifting_clock& rank) {
  std::vector<round_trip> trips;
  for (int i = 0; i < 100; ++i) trips.push_back(over.travel(at, rank));
  return offset_of(trips);
}

TEST(clock_offset, interval_holds_the_true_offset_in_each_of_100_runs) {
  std::mt19937 random(7);
  for (unsigned run = 0; run < 100; ++run) {
    SCOPED_TRACE(run);
    const drifting_clock rank{std::uniform_real_distribution<>(-1e12, 1e12)(random),
                              std::uniform_real_distribution<>(-2e-4, 2e-4)(random)};
    network over(run);
    double at = 1e9;
    const clock_offset before = measure(over, at, rank);
    const double between = at + 5e9;
    at += 10e9;
    const clock_offset after = measure(over, at, rank);
    for (const double moment : {1e9 + 1e6, between, at}) {
      const clock_offset found = offset_at(rank.read(moment), before, after);
      // Stamps are whole nanoseconds, and within the measurement the clock drifts by 100 ns.
      EXPECT_NEAR(static_cast<double>(found.offset), rank.offset(moment),
                  static_cast<double>(found.error) + 101);
    }
    EXPECT_LE(2 * before.error, 20'000);
  }
}

TEST(clock_offset, a_delay_on_one_way_moves_the_middle_by_no_more_than_the_error) {
  // The true offset is 1000; the way there took 9000 longer than the way back.
  const clock_offset found = offset_of({{0, 11'000, 11'000, 11'000}});
  EXPECT_EQ(found.offset - found.error, 0);
  EXPECT_EQ(found.offset + found.error, 11'000);
}

TEST(clock_offset, the_quickest_round_trip_counts) {
  const clock_offset found =
      offset_of({{0, 60, 60, 100}, {200, 255, 256, 211}, {300, 390, 390, 400}});
  EXPECT_EQ(found.at, 255);
  EXPECT_EQ(found.offset, 50);
  EXPECT_EQ(found.error, 5);
}

TEST(clock_offset, drift_is_taken_out_along_a_line) {
  const clock_offset before{1000, 100, 5};
  const clock_offset after{2000, 300, 9};
  EXPECT_EQ(offset_at(1000, before, after).offset, 100);
  EXPECT_EQ(offset_at(1500, before, after).offset, 200);
  EXPECT_EQ(offset_at(1500, before, after).error, 7);
  EXPECT_EQ(offset_at(2500, before, after).offset, 400);
  EXPECT_EQ(offset_at(2500, before, after).error, 16) << "the ends move apart beyond the two";
}

}  // namespace
}  // namespace graphline
