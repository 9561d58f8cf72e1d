#include "stages/network/host/lowering.hpp"

#include <gtest/gtest.h>

#include "tests/base/guarded.hpp"

namespace graphline::test {

namespace {

TEST(windowed_average, touches_nothing_beside_its_operands) {
  windowed_average windows{.planes = 3, .height = 5, .width = 7, .rows = {}, .columns = {}};
  for (std::int64_t i = 0; i < 3; ++i) windows.rows.push_back(adaptive_window(i, 5, 3));
  for (std::int64_t i = 0; i < 4; ++i) windows.columns.push_back(adaptive_window(i, 7, 4));
  for (const guard at : guards) {
    const guarded<float> from(std::vector<float>(3 * 5 * 7, 2.0F), at);
    const guarded<float> to(3 * 3 * 4, at);
    make_windowed_average("average", windows, from.data(), to.data())->run();
    EXPECT_EQ(to.values(), std::vector<float>(3 * 3 * 4, 2.0F));
    EXPECT_TRUE(to.alone());
  }
}

}  // namespace

}  // namespace graphline::test
