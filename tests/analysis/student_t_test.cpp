#include "framework/analysis/stats/student_t.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <tuple>

namespace graphline {
namespace {

TEST(student_t, agrees_with_published_tables) {
  // Two-sided critical values, as tabled in Abramowitz and Stegun, table 26.10, and elsewhere.
  for (const auto& [freedom, level, t] : {std::tuple<std::size_t, double, double>{1, 0.05, 12.706},
                                          {2, 0.05, 4.303},
                                          {3, 0.01, 5.841},
                                          {4, 0.05, 2.776},
                                          {5, 0.001, 6.869},
                                          {9, 0.05, 2.262},
                                          {9, 0.01, 3.250},
                                          {10, 0.001, 4.587},
                                          {29, 0.05, 2.045},
                                          {30, 0.01, 2.750},
                                          {120, 0.05, 1.980}}) {
    EXPECT_NEAR(student_t_critical(level, freedom), t, 6e-4) << freedom << " at " << level;
  }
}

TEST(student_t, of_many_degrees_of_freedom_is_exact_to_eight_digits) {
  // By scipy.stats.t.isf(0.025, freedom).
  EXPECT_NEAR(student_t_critical(0.05, 201), 1.971836506779859, 5e-9);
  EXPECT_NEAR(student_t_critical(0.05, 1000), 1.9623390808264085, 5e-9);
}

TEST(student_t, of_one_and_two_degrees_of_freedom_has_a_closed_form) {
  for (const double level : {0.5, 0.05, 1e-3, 1e-6}) {
    const double one = std::tan(std::numbers::pi / 2 * (1 - level));
    EXPECT_NEAR(student_t_critical(level, 1) / one, 1, 1e-6);
    const double within = 1 - level;
    const double two = within * std::sqrt(2 / (1 - within * within));
    EXPECT_NEAR(student_t_critical(level, 2) / two, 1, 1e-6);
  }
}

TEST(student_t, goes_on_without_a_step_where_the_expansion_takes_over) {
  for (const double level : {0.05, 1e-3, 1e-5}) {
    const double before = student_t_critical(level, 199) - student_t_critical(level, 200);
    const double across = student_t_critical(level, 200) - student_t_critical(level, 201);
    EXPECT_NEAR(across / before, 0.99, 0.005) << level;
    EXPECT_NEAR(student_t_critical(level, 10'000'000), normal_critical(level), 1e-5);
  }
}

TEST(normal, has_the_critical_values_everybody_knows) {
  EXPECT_NEAR(normal_critical(0.05), 1.959964, 1e-6);
  EXPECT_NEAR(normal_critical(0.01), 2.575829, 1e-6);
  EXPECT_NEAR(normal_critical(1e-9), 6.109410, 1e-5);
}

}  // namespace
}  // namespace graphline
