// What must hold of a network's work beside its numbers: slots apart, graphs, allocation, parts.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stages/kinds.hpp"
#include "tests/stages/network/stage_trial.hpp"

namespace graphline::test {

namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::StartsWith;

/// A network with reorders, fused and unfused steps and a pool of ours.
const char* const mixed = R"(
layers:
  - conv2d: {out_channels: 24, kernel: 3, padding: 1, name: stem}
  - batch_norm2d
  - relu
  - conv2d: {out_channels: 24, kernel: 3, padding: 1}
  - add: {from: stem}
  - silu
  - adaptive_avg_pool2d: {output: 3}
  - flatten
  - linear: {out_features: 10}
  - softmax
)";
const shape mixed_input{2, 5, 11, 7};

TEST(network_work, keeps_two_slots_apart) {
  const stage_kind kind = network_kind();
  const arguments values = read_arguments(kind, mixed);
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

TEST(network_work, gives_the_same_from_a_graph_as_enqueued) {
  stage_trial trial(network_kind(), mixed, {floats(mixed_input)});
  const auto input = some_values(mixed_input.elements());
  const auto direct = trial.run({input});

  const auto captured = trial.capture();
  const auto executable = captured->instantiate();
  trial.poison();
  trial.launch(*executable);
  trial.wait();
  EXPECT_EQ(trial.output(), direct);
}

TEST(network_work, agrees_between_one_and_two_threads) {
  const stage_kind kind = network_kind();
  const arguments values = read_arguments(kind, mixed);
  const auto input = some_values(mixed_input.elements());
  stage_trial one(kind, values, {floats(mixed_input)}, 1);
  stage_trial two(kind, values, {floats(mixed_input)}, 2);
  EXPECT_LE(difference(two.run({input}), one.run({input})), 1e-5);
}

TEST(network_work, computes_each_image_of_a_batch_as_if_alone) {
  const stage_kind kind = network_kind();
  const arguments values = read_arguments(kind, mixed);
  const auto batch = some_values(mixed_input.elements());
  stage_trial together(kind, values, {floats(mixed_input)});
  const auto outputs = together.run({batch});

  stage_trial single(kind, values, {floats({1, 5, 11, 7})});
  const auto half = static_cast<std::ptrdiff_t>(batch.size() / 2);
  std::vector<float> one_by_one = single.run({{batch.begin(), batch.begin() + half}});
  const auto rest = single.run({{batch.begin() + half, batch.end()}});
  one_by_one.insert(one_by_one.end(), rest.begin(), rest.end());
  EXPECT_LE(difference(one_by_one, outputs), 1e-5);
}

TEST(network_work, allocates_no_device_memory_once_bound) {
  stage_trial trial(network_kind(), mixed, {floats(mixed_input)});
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

TEST(network_work, names_operations_after_the_layers_in_them) {
  stage_trial trial(network_kind(), R"(
layers:
  - linear: {out_features: 64}
  - gelu
  - linear: {out_features: 64, bias: false}
)",
                    {floats({4, 32})});
  EXPECT_THAT(trial.operations(), ElementsAre(StartsWith("linear+bias+gelu ["),
                                              AllOf(StartsWith("linear ["), HasSubstr("]"))));
}

TEST(network_work, folds_a_batch_norm_into_the_convolution_before_it) {
  stage_trial trial(network_kind(), R"(
layers:
  - conv2d: {out_channels: 16, kernel: 3, bias: false}
  - batch_norm2d
  - relu
)",
                    {floats({1, 16, 8, 8})});
  EXPECT_THAT(trial.operations(), testing::Contains(StartsWith("conv2d+batch_norm2d+relu [")));
}

TEST(network_work, copies_what_a_network_only_reshapes) {
  stage_trial trial(network_kind(), "layers: [flatten]", {floats({2, 3, 4})});
  const auto input = some_values(24);
  EXPECT_EQ(trial.run({input}), input);
}

TEST(network_parts, are_the_layers_computed_as_one_and_tell_what_carries_them_out) {
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
  // What flatten does, bringing the elements in order, is a part where it is work at all.
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

TEST(network_parts, say_that_the_host_computes_in_float32_whatever_was_asked_for) {
  stage_trial trial(network_kind(), "{layers: [relu], precision: bfloat16, tune: off}",
                    {floats({4, 4})});
  EXPECT_THAT(trial.parts(), ElementsAre(Field(&stage_part::choice,
                                               HasSubstr("in float32, host has no bfloat16"))));
}

TEST(matmul_parts, are_one_that_names_the_implementation) {
  stage_trial trial(matmul_kind(), "{precision: tf32}", {floats({4, 4}), floats({4, 4})});
  EXPECT_THAT(trial.parts(),
              ElementsAre(Field(&stage_part::choice, AllOf(StartsWith("oneDNN matmul ["),
                                                           HasSubstr("host has no tf32")))));
  EXPECT_EQ(trial.enqueue_in_parts(), 1U);
  trial.wait();
}

}  // namespace

}  // namespace graphline::test
