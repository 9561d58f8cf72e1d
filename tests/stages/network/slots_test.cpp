// A network's work apart from its numbers: slots, graphs, allocation, parts.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stages/kinds.hpp"
#include "tests/stages/mixed_network.hpp"
#include "tests/stages/stage_trial.hpp"

namespace graphline::test {

namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::StartsWith;

const shape mixed_input{2, 5, 11, 7};

TEST(network_work, keeps_two_slots_apart) {
  const stage_kind kind = network_kind();
  const arguments values = read_arguments(kind, mixed_network);
  stage_trial alone(kind, values, {floats(mixed_input)});
  const auto first = some_values(mixed_input.elements(), 1);
  const auto second = some_values(mixed_input.elements(), 2);
  const auto first_alone = alone.run({first});
  const auto second_alone = alone.run({second});
  ASSERT_NE(first_alone, second_alone);

  stage_trial both(kind, values, {floats(mixed_input)}, 1, 2);
  both.set_input(0, first, 0);
  both.set_input(0, second, 1);
  for (int round = 0; round < 3; ++round) {
    both.enqueue(1);
    both.enqueue(0);
  }
  both.wait();
  EXPECT_EQ(both.output(0), first_alone);
  EXPECT_EQ(both.output(1), second_alone);
}

TEST(network_work, flushes_denormals_unless_told_to_keep_them) {
  // Squares of 1e-20 are denormal.
  const std::string layers =
      "layers: [{mul: {from: input}}, {conv2d: {out_channels: 8, kernel: 3, bias: false, "
      "name: conv}}, leaky_relu, {add: {from: conv}}]\n";
  for (const int threads : {1, 2}) {
    const shape input{1, 8, 20, 20};
    const auto zeros = [&](const std::string& more) {
      stage_trial trial(network_kind(), layers + more, {floats(input)}, threads);
      const auto found = trial.run({std::vector<float>(8 * 20 * 20, 1e-20F)});
      return std::pair(std::ranges::count(found, 0.0F), std::ssize(found));
    };
    EXPECT_EQ(zeros("").first, zeros("").second);
    EXPECT_EQ(zeros("denormals: keep").first, 0);
  }
}

TEST(network_work, gives_the_same_from_a_graph_as_enqueued) {
  stage_trial trial(network_kind(), mixed_network, {floats(mixed_input)});
  const auto input = some_values(mixed_input.elements());
  const auto direct = trial.run({input});

  const auto captured = trial.capture();
  const auto executable = captured->instantiate();
  trial.poison();
  trial.launch(*executable);
  trial.wait();
  EXPECT_EQ(trial.output(), direct);
}

TEST(network_work, allocates_no_device_memory_once_bound) {
  stage_trial trial(network_kind(), mixed_network, {floats(mixed_input)});
  const auto before = trial.on().usage().allocations;
  trial.run({some_values(mixed_input.elements())});
  EXPECT_EQ(trial.on().usage().allocations, before);
}

TEST(network_work, reuses_scratch_by_lifetime) {
  const auto layers = [](int depth) {
    std::string text = "layers:\n";
    for (int i = 0; i < depth; ++i)
      text += "  - conv2d: {out_channels: 16, kernel: 3, padding: 1}\n";
    return text;
  };
  const stage_kind kind = network_kind();
  stage_trial few(kind, layers(4), {floats({1, 16, 32, 32})});
  stage_trial many(kind, layers(12), {floats({1, 16, 32, 32})});
  EXPECT_EQ(many.scratch_bytes(), few.scratch_bytes());
}

TEST(network_parts, are_the_groups_and_name_their_implementation) {
  stage_trial trial(network_kind(), R"(
layers:
  - conv2d: {out_channels: 16, kernel: 3, name: stem}
  - batch_norm2d
  - relu
  - flatten
  - linear: {out_features: 4}
)",
                    {floats({1, 16, 8, 8})});
  const auto part = [](const std::string& name, const std::string& content) {
    return AllOf(Field(&stage_part::name, name),
                 Field(&stage_part::choice, AllOf(StartsWith("oneDNN "), HasSubstr(content))));
  };
  // Flatten is a part only if it has to reorder.
  const auto parts = trial.parts();
  EXPECT_THAT(parts.front(), part("stem+1.batch_norm2d+2.relu", "conv2d+bias+batch_norm2d+relu ["));
  EXPECT_THAT(parts.back(), part("4.linear", "linear+bias ["));
}

TEST(network_parts, are_marked_in_their_order_without_changing_the_result) {
  stage_trial trial(network_kind(), R"(
layers:
  - conv2d: {out_channels: 8, kernel: 3}
  - max_pool2d: {kernel: 2}
  - silu
)",
                    {floats({1, 3, 8, 8})});
  const auto input = some_values(3 * 8 * 8);
  const auto whole = trial.run({input});
  trial.poison();
  EXPECT_EQ(trial.enqueue_in_parts(), trial.parts().size());
  trial.wait();
  EXPECT_EQ(trial.output(), whole);
}

TEST(network_parts, have_attention_as_one_with_its_three_operations) {
  stage_trial trial(network_kind(), R"(
layers:
  - layer_norm
  - linear: {out_features: 72}
  - scaled_dot_product_attention: {heads: 3}
  - linear: {out_features: 24}
  - add: {from: input}
)",
                    {floats({2, 9, 24})});
  const auto parts = trial.parts();
  ASSERT_EQ(parts.size(), 4U);
  EXPECT_EQ(parts[2].name, "2.scaled_dot_product_attention");
  EXPECT_THAT(parts[2].choice,
              AllOf(HasSubstr("scores ["), HasSubstr(", softmax ["), HasSubstr(", attention [")));
  ASSERT_TRUE(parts[2].cost);
  EXPECT_EQ(parts[2].cost->bytes_read, 4 * 2 * 9 * 72);
  EXPECT_EQ(parts[3].name, "3.linear+4.add");
}

TEST(network_parts, state_that_the_host_computes_in_float32) {
  stage_trial trial(network_kind(), "{layers: [relu], precision: bfloat16, tune: off}",
                    {floats({4, 4})});
  EXPECT_THAT(trial.parts(), ElementsAre(Field(&stage_part::choice,
                                               HasSubstr("in float32, host has no bfloat16"))));
}

}  // namespace

}  // namespace graphline::test
