#include <gmock/gmock.h>

#include "framework/base/random.hpp"
#include "stages/kinds.hpp"
#include "tests/stages/cpu/stage_trial.hpp"

namespace graphline {
namespace {

using testing::ElementsAre;

std::vector<double> sample(std::uint64_t seed, std::size_t count) {
  normal_generator generator;
  generator.seed(seed);
  std::vector<double> values(count);
  generator.fill(values);
  return values;
}

TEST(normal_generator, fills_an_odd_number_of_values_and_no_more) {
  std::vector<double> even = sample(3, 6);
  even.pop_back();
  for (const test::guard at : test::guards) {
    const test::guarded<double> odd(5, at);
    normal_generator generator;
    generator.seed(3);
    generator.fill(odd.span());
    EXPECT_EQ(odd.values(), even);
    EXPECT_TRUE(odd.alone());
  }
}

TEST(random_normal, draws_the_same_numbers_on_every_machine) {
  stage_trial trial(random_normal_kind(), "{shape: [10, 100], scale: 32}", {}, 1);
  EXPECT_EQ(trial.run(3).output<float>(0), reference<float>("random_normal"));
}

TEST(random_normal, draws_by_frame_and_not_by_order_of_frames) {
  stage_trial in_order(random_normal_kind(), "{shape: [100]}");
  const auto first = in_order.run(0).output<float>(0);
  const auto second = in_order.run(1).output<float>(0);
  EXPECT_NE(first, second);

  stage_trial backwards(random_normal_kind(), "{shape: [100]}");
  EXPECT_EQ(backwards.run(1).output<float>(0), second);
  EXPECT_EQ(backwards.run(0).output<float>(0), first);
}

TEST(random_normal, casts_before_it_scales) {
  stage_trial doubles(random_normal_kind(), "{shape: [64], dtype: float64}");
  stage_trial floats(random_normal_kind(), "{shape: [64], scale: 0.1}");
  const auto drawn = doubles.run().output<double>(0);
  const auto scaled = floats.run().output<float>(0);
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    EXPECT_EQ(scaled[i], static_cast<float>(drawn[i]) * 0.1F);
  }
}

TEST(random_normal, states_its_output_and_the_bytes_it_writes) {
  const stage_trial trial(random_normal_kind(), "{shape: [1, 3, 512, 512], scale: 32}");
  EXPECT_THAT(trial.prepared().outputs, ElementsAre(tensor_type{{1, 3, 512, 512}, dtype::float32}));
  EXPECT_EQ(trial.prepared().cost.bytes_written, 3 * 512 * 512 * 4);
  EXPECT_EQ(trial.prepared().cost.bytes_read, 0);
  EXPECT_EQ(trial.prepared().known, known_cost::bytes);
}

}  // namespace
}  // namespace graphline
