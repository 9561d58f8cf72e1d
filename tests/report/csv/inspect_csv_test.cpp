#include "framework/report/csv/inspect_csv.hpp"

#include <gtest/gtest.h>

#include "tests/report/golden.hpp"
#include "tests/report/sample_costs.hpp"

namespace graphline::samples {

namespace {

TEST(inspect_csv, is_as_expected) {
  expect_golden("inspect.csv", inspect_csv(sample_costs()));
}

}  // namespace

}  // namespace graphline::samples
