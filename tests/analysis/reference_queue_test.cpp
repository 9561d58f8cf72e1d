#include "framework/analysis/stats/reference_queue.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/analysis/simulated_queue.hpp"

namespace graphline {
namespace {

TEST(reference_queue, agrees_with_erlangs_formula) {
  for (const double bound : {1.5, 2.5, 4.0, 12.0}) {
    for (const double p : {0.5, 0.9, 0.95, 0.99}) {
      const double rate = samples::md1_capacity(1, p, bound) / 1e9;
      if (rate < 1e-6) continue;  // more frames wait than may be late, at any rate
      EXPECT_NEAR(reference_queue{1}.late_share(rate, bound - 1), 1 - p, 1e-6) << bound << ' ' << p;
    }
  }
}

TEST(reference_queue, agrees_with_erlangs_formula_for_bursts) {
  for (const int burst : {2, 5}) {
    for (const double bound : {6.5, 12.0, 30.0}) {
      for (const double p : {0.5, 0.9, 0.99}) {
        const double rate = samples::md1_capacity(1, p, bound, burst) / 1e9;
        if (rate < 1e-6) continue;
        const reference_queue queue{1, burst};
        EXPECT_NEAR(queue.late_share(rate, bound - 1), 1 - p, 1e-6) << burst << ' ' << bound;
        EXPECT_NEAR(queue.limit_for(rate, 1 - p), bound - 1, 1e-3) << burst << ' ' << bound;
      }
    }
  }
}

TEST(reference_queue, agrees_with_a_long_run_of_large_bursts) {
  constexpr double rate = 0.7;
  const reference_queue queue{1, 200};
  const auto record = samples::simulated_queue{.arrival = arrival::poisson, .burst = 200}.run(
      rate * 1e3, 4'000'000, 1);  // a service of 1 ms
  for (const double limit : {50.0, 150.0, 600.0}) {
    double late = 0;
    for (const auto& frame : record.frames) {
      late += static_cast<double>(frame.begin - frame.due) > limit * 1e6 ? 1 : 0;
    }
    EXPECT_NEAR(queue.late_share(rate, limit), late / 4e6, 0.01) << limit;
  }
}

TEST(reference_queue, has_only_late_frames_under_overload) {
  EXPECT_EQ(reference_queue{2}.late_share(0.5, 10), 1);
  EXPECT_LT(reference_queue{2}.late_share(0.49, 1000), 1e-6);
}

TEST(reference_queue, has_the_limit_for_a_fraction_of_late_frames) {
  const reference_queue queue{0.005};
  for (const double rate : {60.0, 123.3, 180.0, 195.0}) {
    EXPECT_NEAR(queue.late_share(rate, queue.limit_for(rate, 0.05)), 0.05, 1e-6) << rate;
  }
  EXPECT_NEAR(queue.limit_for(4, 0.05), 0, 1e-9);  // 2 % wait at all
}

TEST(reference_queue, counts_late_frames_of_given_arrivals) {
  // Waits of 0, 0.5, 1, 0 and 0.75.
  const std::vector<double> arrivals = {0, 0.5, 1, 5, 5.25};
  EXPECT_EQ(reference_queue{1}.late_share_of(arrivals, 0.6, 0), 2.0 / 5);
  EXPECT_EQ(reference_queue{1}.late_share_of(arrivals, 0.75, 0), 1.0 / 5);
  EXPECT_EQ(reference_queue{1}.late_share_of(arrivals, 0.6, 3), 1.0 / 2);
}

}  // namespace
}  // namespace graphline
