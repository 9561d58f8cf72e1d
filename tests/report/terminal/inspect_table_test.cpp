#include "framework/report/terminal/inspect_table.hpp"

#include <gmock/gmock.h>

#include "framework/report/terminal/text_table.hpp"
#include "tests/report/golden.hpp"
#include "tests/report/sample_costs.hpp"

namespace graphline::samples {

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(inspect_table, is_as_expected) {
  expect_golden("inspect.txt", inspect_table(sample_costs()));
}

TEST(inspect_table, shows_kinds_and_macs_where_there_is_room) {
  expect_golden("inspect_wide.txt", inspect_table(sample_costs(), {.width = 140}));
}

TEST(inspect_table, keeps_to_the_width) {
  for (const std::size_t width : {60, 80, 100, 140}) {
    EXPECT_LE(widest_line(inspect_table(sample_costs(), {.width = width})), width);
  }
}

TEST(inspect_table, shows_no_control_characters_of_names) {
  EXPECT_THAT(inspect_table(sample_costs()), Not(HasSubstr("\x1b")));
}

TEST(inspect_table, speaks_of_nothing_left_out_where_everything_is_known) {
  auto summary = sample_costs();
  summary.stages.resize(2);
  summary.without_flops.clear();
  summary.without_bytes.clear();
  EXPECT_THAT(inspect_table(summary), Not(HasSubstr("leaves out")));
}

}  // namespace

}  // namespace graphline::samples
