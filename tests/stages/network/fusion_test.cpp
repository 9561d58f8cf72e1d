#include "stages/network/fusion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/stages/network/stage_trial.hpp"

namespace graphline::test {

namespace {

using testing::ElementsAre;

/// Groups as "head(norm)+epilogue", by layer number.
std::vector<std::string> groups_of(const std::string& yaml, const shape& input,
                                   fused_heads heads = fused_heads::products_and_sums) {
  diagnostics out;
  const network_definition network = define_network(parse(yaml), input, {}, out);
  out.throw_if_errors();
  std::vector<std::string> groups;
  for (const fused_layers& group : fuse_layers(network, heads)) {
    std::ostringstream text;
    text << group.head;
    if (group.norm) text << '(' << *group.norm << ')';
    for (const std::size_t layer : group.epilogue) text << '+' << layer;
    groups.push_back(text.str());
  }
  return groups;
}

const shape small_image{1, 8, 6, 6};

TEST(fusion, takes_norm_activation_and_add_into_a_convolution) {
  EXPECT_THAT(groups_of(R"(
- conv2d: {out_channels: 8, kernel: 1}
- batch_norm2d
- add: {from: input}
- relu
)",
                        small_image),
              ElementsAre("0(1)+2+3"));
}

TEST(fusion, leaves_a_norm_after_an_activation_alone) {
  EXPECT_THAT(
      groups_of("[{conv2d: {out_channels: 8, kernel: 1}}, relu, batch_norm2d]", small_image),
      ElementsAre("0+1", "2"));
}

TEST(fusion, lets_a_norm_or_an_activation_begin_a_group_where_that_is_asked_for) {
  EXPECT_THAT(groups_of("[batch_norm2d, relu, {max_pool2d: {kernel: 2}}, silu, relu, batch_norm2d]",
                        small_image, fused_heads::element_wise_too),
              ElementsAre("0+1", "2", "3+4", "5"));
}

TEST(fusion, ends_where_a_later_layer_reads_the_value) {
  EXPECT_THAT(groups_of(R"(
- conv2d: {out_channels: 8, kernel: 1, name: stem}
- batch_norm2d
- relu
- add: {from: stem}
- relu
)",
                        small_image),
              ElementsAre("0", "1", "2", "3+4"));
}

TEST(fusion, adds_a_value_to_itself_unfused) {
  EXPECT_THAT(groups_of(R"(
- conv2d: {out_channels: 8, kernel: 1, name: a}
- add: {from: a}
)",
                        small_image),
              ElementsAre("0", "1"));
}

TEST(fusion, ends_before_a_layer_that_reads_another) {
  EXPECT_THAT(groups_of(R"(
- conv2d: {out_channels: 8, kernel: 1, name: a}
- relu: {name: b}
- conv2d: {out_channels: 8, kernel: 1, reads: input}
- relu: {name: c}
- gelu: {reads: b}
- add: {from: c}
- add: {from: a}
)",
                        small_image),
              ElementsAre("0", "1", "2+3", "4", "5", "6"));
}

TEST(fusion, leaves_an_add_apart_that_reads_the_value_as_its_second) {
  EXPECT_THAT(groups_of(R"(
- relu: {name: a}
- conv2d: {out_channels: 8, kernel: 1, name: b}
- add: {reads: a, from: b}
- relu
)",
                        small_image),
              ElementsAre("0", "1", "2+3"));
}

TEST(fusion, takes_the_add_of_a_block_into_its_projection) {
  EXPECT_THAT(groups_of(R"(
- relu: {name: x}
- conv2d: {out_channels: 4, kernel: 3, stride: 2}
- batch_norm2d
- relu
- conv2d: {out_channels: 4, kernel: 3, padding: 1}
- batch_norm2d: {name: main}
- conv2d: {out_channels: 4, kernel: 3, stride: 2, reads: x}
- batch_norm2d
- add: {from: main}
- relu
)",
                        small_image),
              ElementsAre("0", "1(2)+3", "4(5)", "6(7)+8+9"));
}

TEST(fusion, takes_one_add_per_group) {
  EXPECT_THAT(groups_of(R"(
- conv2d: {out_channels: 8, kernel: 1}
- add: {from: input}
- add: {from: input}
- gelu
)",
                        small_image),
              ElementsAre("0+1", "2+3"));
}

TEST(fused_cost, moves_what_a_group_reads_from_outside_and_gives_and_nothing_inside) {
  diagnostics out;
  const network_definition network = define_network(parse(R"(
- conv2d: {out_channels: 4, kernel: 1, bias: false, name: x}
- conv2d: {out_channels: 4, kernel: 3, padding: 1, bias: false, name: main}
- conv2d: {out_channels: 4, kernel: 1, bias: false, reads: x}
- batch_norm2d
- add: {from: main}
- relu
)"),
                                                    small_image, {}, out);
  out.throw_if_errors();
  const std::vector<fused_layers> groups = fuse_layers(network);
  ASSERT_EQ(groups.size(), 3U);
  const std::int64_t value = 4 * 36;
  const element_sizes half_inside{.inside = 2};
  const cost projection = cost_of(network, groups[2], half_inside);
  EXPECT_EQ(projection.macs, value * 4);
  EXPECT_EQ(projection.parameters, 16 + 16);
  // x and main; the last value goes out as float32.
  EXPECT_EQ(projection.bytes_read, 2 * (2 * value + 32));
  EXPECT_EQ(projection.bytes_written, 4 * value);
  // The network's input is float32, what the others read is not.
  EXPECT_EQ(cost_of(network, groups[0], half_inside).bytes_read, 4 * 8 * 36 + 2 * 32);
  EXPECT_EQ(cost_of(network, groups[1], half_inside).bytes_read, 2 * (value + 4 * 4 * 9));
  const element_sizes all_half{.input = 2, .output = 2, .inside = 2};
  EXPECT_EQ(cost_of(network, groups[0], all_half).bytes_read, 2 * (8 * 36 + 32));
  EXPECT_EQ(cost_of(network, groups[2], all_half).bytes_written, 2 * value);
}

TEST(fusion, leaves_pools_and_their_activations_apart) {
  EXPECT_THAT(groups_of("[{max_pool2d: {kernel: 2}}, relu, flatten]", small_image),
              ElementsAre("0", "1", "2"));
}

}  // namespace

}  // namespace graphline::test
