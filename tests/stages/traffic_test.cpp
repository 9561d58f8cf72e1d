#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "framework/base/clock.hpp"
#include "stages/kinds.hpp"
#include "stages/traffic.hpp"
#include "tests/base/guarded.hpp"
#include "tests/stages/stage_trial.hpp"

namespace graphline::test {

namespace {

using testing::HasSubstr;

double reference_sum(const std::vector<float>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

float read_by(int threads, const std::vector<float>& values) {
  const shape s{static_cast<std::int64_t>(values.size())};
  stage_trial trial(traffic_kind(), "{method: read}", {floats(s)}, threads);
  return trial.run({values}).at(0);
}

TEST(traffic, reads_every_element_with_any_number_of_threads_to_the_same_last_digit) {
  for (const std::int64_t count : {1, 2, 15, 127, 128, 129, 1000, 262'143, 262'145, 600'011}) {
    const auto values = some_values(count);
    // Rounding errors of partial sums in float32, of numbers around 0 with standard deviation 1.
    const double tolerance = 2e-6 * std::sqrt(static_cast<double>(count)) + 1e-6;
    const float alone = read_by(1, values);
    EXPECT_NEAR(static_cast<double>(alone), reference_sum(values), tolerance) << count;
    EXPECT_EQ(read_by(3, values), alone) << count;
  }
}

TEST(traffic, loses_no_digits_of_many_small_numbers) {
  // One sum in float32 would stop growing at 2^24.
  EXPECT_EQ(read_by(1, std::vector<float>((1 << 24) + (1 << 20), 1.0F)), 17'825'792.0F);
}

TEST(traffic, copies_every_element_or_writes_zeros_over_it) {
  for (const std::int64_t count : {1, 3, 15, 16, 17, 262'145, 600'011}) {
    const auto values = some_values(count);
    for (const int threads : {1, 2}) {
      stage_trial copy(traffic_kind(), "{method: copy}", {floats({count})}, threads);
      EXPECT_EQ(copy.run({values}), values) << count << " by " << threads;
      stage_trial write(traffic_kind(), "{method: write}", {floats({count})}, threads);
      EXPECT_EQ(write.run({values}), std::vector<float>(values.size())) << count;
    }
  }
}

TEST(traffic, touches_nothing_beside_its_operands) {
  for (const std::size_t count :
       {0U, 1U, 15U, 16U, 17U, 31U, 32U, 33U, 127U, 128U, 129U, 1000U, 4099U}) {
    const auto values = some_values(static_cast<std::int64_t>(count));
    const auto elements = static_cast<std::int64_t>(count);
    for (const guard at : guards) {
      const guarded<float> from(values, at);
      EXPECT_NEAR(static_cast<double>(sum_of(from.data(), elements)), reference_sum(values), 1e-3);
      // The output is aligned to 64 bytes.
      const guarded<float> to(count, at, at == guard::behind ? (16 - count % 16) % 16 : 0);
      copy_past_caches(to.data(), from.data(), elements);
      EXPECT_EQ(to.values(), values);
      write_past_caches(to.data(), 2, elements);
      EXPECT_EQ(to.values(), std::vector<float>(count, 2.0F));
      EXPECT_TRUE(to.alone()) << count;
    }
  }
}

TEST(traffic, has_an_output_and_counts_what_moves) {
  struct counted {
    const char* method;
    shape output;
    cost moved;
  };
  for (const auto& [method, output, moved] :
       {counted{"copy", {3, 5}, {.bytes_read = 60, .bytes_written = 60}},
        counted{"read", {1}, {.flops = 15, .bytes_read = 60, .bytes_written = 4}},
        counted{"write", {3, 5}, {.bytes_written = 60}}}) {
    const prepared_stage found =
        prepare(traffic_kind(), std::string("{method: ") + method + "}", {floats({3, 5})});
    EXPECT_EQ(found.outputs, std::vector{floats(output)}) << method;
    EXPECT_EQ(found.cost.flops, moved.flops) << method;
    EXPECT_EQ(found.cost.bytes_read, moved.bytes_read) << method;
    EXPECT_EQ(found.cost.bytes_written, moved.bytes_written) << method;
    EXPECT_EQ(found.known, known_cost::all) << method;
  }
}

TEST(traffic, is_one_part_that_says_what_carries_it_out) {
  for (const auto& [method, choice] :
       {std::pair{"read", "sums by "}, std::pair{"write", " stores"}, {"copy", " stores"}}) {
    stage_trial trial(traffic_kind(), std::string("{method: ") + method + "}", {floats({40})});
    const auto parts = trial.parts();
    ASSERT_EQ(parts.size(), 1U);
    EXPECT_EQ(parts[0].name, method);
    EXPECT_THAT(parts[0].choice, HasSubstr(choice));
    ASSERT_TRUE(parts[0].cost);
    EXPECT_EQ(parts[0].cost->bytes_read, std::string(method) == "write" ? 0 : 160);
    EXPECT_EQ(trial.enqueue_in_parts(), 1U);
    trial.wait();
    EXPECT_EQ(trial.operations(), std::vector{std::string("traffic ") + method});
  }
}

TEST(traffic, refuses_what_it_cannot_read) {
  EXPECT_EQ(problems_of(traffic_kind(), "{method: read}", {{{4}, dtype::uint8}}),
            "1:1: traffic reads float32, but its input is uint8 [4]; declare that as float32\n");
  EXPECT_EQ(problems_of(traffic_kind(), "{method: move}", {floats({4})}),
            "1:10: unknown value 'move' for 'method' (known: read, write, copy)\n");
}

TEST(device_spin, keeps_the_device_busy_for_no_less_than_it_is_told_and_moves_nothing) {
  const prepared_stage s = prepare(device_spin_kind(), "{duration: 3ms}", {floats({3, 5})});
  EXPECT_TRUE(s.outputs.empty());
  EXPECT_EQ(s.cost.bytes_read + s.cost.bytes_written + s.cost.flops, 0);

  stage_trial trial(device_spin_kind(), "{duration: 3ms}", {});
  ASSERT_EQ(trial.parts().size(), 1U);
  nanoseconds begin = now();
  EXPECT_EQ(trial.enqueue_in_parts(), 1U);
  trial.wait();
  EXPECT_GE(now() - begin, 3'000'000);
  const auto exec = trial.capture()->instantiate();
  begin = now();
  trial.launch(*exec);
  trial.launch(*exec);
  trial.wait();
  EXPECT_GE(now() - begin, 6'000'000);
  EXPECT_EQ(trial.operations(), std::vector{std::string("spin")});
}

TEST(device_spin, takes_longer_for_each_row_of_its_bucket) {
  const std::string yaml = "{duration: 1ms, per_row: 500us}";
  for (const std::int64_t rows : {1, 8}) {
    stage_trial trial(device_spin_kind(), yaml, {floats({rows, 5})});
    const nanoseconds begin = now();
    trial.enqueue();
    trial.wait();
    EXPECT_GE(now() - begin, 1'000'000 + rows * 500'000);
  }
  EXPECT_THAT(problems_of(device_spin_kind(), yaml, {}), HasSubstr("add 'reads'"));
}

TEST(copy, keeps_any_type_and_counts_bytes_only) {
  const tensor_type type{{4, 2}, dtype::uint8};
  const prepared_stage s = prepare(copy_kind(), "{}", {type});
  EXPECT_EQ(s.outputs, std::vector{type});
  EXPECT_EQ(s.cost.bytes_read, 8);
  EXPECT_EQ(s.cost.bytes_written, 8);
  EXPECT_EQ(s.cost.flops, 0);
  EXPECT_EQ(s.known, known_cost::all);
  EXPECT_TRUE(copy_kind().moves);

  stage_trial trial(copy_kind(), "{}", {floats({3, 5})});
  const auto input = some_values(15);
  EXPECT_EQ(trial.run({input}), input);
}

}  // namespace

}  // namespace graphline::test
