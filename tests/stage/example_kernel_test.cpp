// The index arithmetic of the kernel in examples/cuda_plugin on the CPU: a loop over blocks and
// threads instead of a launch.

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "examples/cuda_plugin/arithmetic.hpp"

namespace graphline {
namespace {

/// Counts writes: with mean -1 and deviation 1 each write adds one to its element.
struct counted_images {
  counted_images(std::int64_t images, std::int64_t channels, std::int64_t plane)
      : values(static_cast<std::size_t>(images * channels * plane)),
        mean(static_cast<std::size_t>(channels), -1.0F),
        deviation(static_cast<std::size_t>(channels), 1.0F),
        work{values.data(), values.data(),     mean.data(), deviation.data(),
             channels,      images * channels, plane} {}

  std::vector<float> values;
  std::vector<float> mean;
  std::vector<float> deviation;
  my::normalization work;
};

void launch(const my::normalization& work, my::grid_extents grid, std::int64_t threads) {
  for (std::int64_t row = 0; row < grid.rows; ++row) {
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      for (std::int64_t thread = 0; thread < threads; ++thread) {
        my::normalize_share(work, {column, grid.columns, row, grid.rows, thread, threads});
      }
    }
  }
}

TEST(the_example_kernel, writes_every_element_once_whatever_the_grid) {
  for (const std::int64_t plane : {1, 7, 64, 1369}) {
    for (const unsigned columns : {1U, 3U, 50U}) {
      for (const unsigned rows : {1U, 4U, 6U, 9U}) {
        counted_images images(2, 3, plane);
        launch(images.work, {columns, rows}, 32);
        EXPECT_EQ(images.values, std::vector<float>(images.values.size(), 1.0F))
            << "plane " << plane << ", " << columns << " x " << rows << " blocks";
      }
    }
  }
}

TEST(the_example_kernel, takes_the_constants_of_an_elements_own_channel) {
  counted_images images(2, 3, 4);
  images.mean = {1, 2, 3};
  images.deviation = {1, 10, 100};
  images.values.assign(images.values.size(), 103);
  launch(images.work, {2, 4}, 8);
  const std::vector<float> one = {102.0F, 102.0F, 102.0F, 102.0F, 10.1F, 10.1F,
                                  10.1F,  10.1F,  1.0F,   1.0F,   1.0F,  1.0F};
  for (std::size_t i = 0; i < images.values.size(); ++i) {
    EXPECT_EQ(images.values[i], one[i % one.size()]) << "element " << i;
  }
}

TEST(the_example_kernel, has_a_grid_that_a_gpu_accepts) {
  const auto grid = [](std::int64_t planes, std::int64_t plane) {
    my::normalization work{};
    work.planes = planes;
    work.plane = plane;
    const my::grid_extents extents = my::grid_for(work);
    return std::pair(extents.columns, extents.rows);
  };
  EXPECT_EQ(grid(1, 1), std::pair(1U, 1U));
  EXPECT_EQ(grid(96, 1024), std::pair(1U, 96U));
  EXPECT_EQ(grid(96, 1025), std::pair(2U, 96U));
  EXPECT_EQ(grid(1'000'000, std::int64_t{1} << 40), std::pair(65535U, 65535U));
}

}  // namespace
}  // namespace graphline
