#include "framework/plan/cost_summary.hpp"

#include <gmock/gmock.h>

#include <limits>

#include "tests/plan/plan_testing.hpp"

namespace graphline::plan_testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// One stage whose cost is known, and one whose cost is not.
spec_builder known_and_unknown() {
  spec_builder b;
  b.spec.name.text = "known_and_unknown";
  b.input("image", {2, 8});
  b.stage("net", "gpu", {"image"}, {"score"}).with("weights", 40).with("flops", 256);
  b.with("shape", extents({2, 4}));
  b.stage("boxes", "detect", {"score"}, {"boxes", "scores"});
  return b;
}

/// Gives a stage a changed copy of what was prepared.
template <class Change>
void change(planned_stage& stage, const Change& to) {
  prepared_stage prepared = *stage.prepared;
  to(prepared);
  stage.prepared = std::make_shared<const prepared_stage>(std::move(prepared));
}

TEST(cost_summary, takes_over_what_stages_state) {
  const cost_summary summary = summarize_cost(plan_of(known_and_unknown()));
  EXPECT_EQ(summary.pipeline, "known_and_unknown");
  ASSERT_EQ(summary.stages.size(), 3u);
  const stage_figures& net = summary.stages[0];
  EXPECT_EQ(net.name, "net");
  EXPECT_EQ(net.kind, "gpu");
  EXPECT_EQ(net.figures.parameters, 40);
  EXPECT_EQ(net.figures.macs, 0);
  EXPECT_EQ(net.figures.flops, 256);
  EXPECT_EQ(net.figures.bytes_read, 64);
  EXPECT_EQ(net.figures.bytes_written, 32);
  EXPECT_DOUBLE_EQ(net.figures.intensity.value(), 256.0 / 96);
  ASSERT_EQ(net.outputs.size(), 1u);
  EXPECT_EQ(net.outputs[0].name, "score");
  EXPECT_EQ(net.outputs[0].type.shape, (shape{2, 4}));
}

TEST(cost_summary, sums_what_is_known_and_names_what_is_left_out) {
  const cost_summary summary = summarize_cost(plan_of(known_and_unknown()));
  // Of the copy between them, only the bytes are known.
  EXPECT_TRUE(summary.stages[1].inserted);
  EXPECT_EQ(summary.stages[1].figures.bytes_read, 32);
  EXPECT_FALSE(summary.stages[1].figures.flops);
  EXPECT_EQ(summary.total.parameters, 40);
  EXPECT_EQ(summary.total.flops, 256);
  EXPECT_EQ(summary.total.bytes_read, 64 + 32);
  EXPECT_EQ(summary.total.bytes_written, 32 + 32);
  EXPECT_THAT(summary.without_flops, ElementsAre(1, 2));
  EXPECT_THAT(summary.without_bytes, ElementsAre(2));
  // Bytes of stages with unknown FLOPs would lower it.
  EXPECT_DOUBLE_EQ(summary.total.intensity.value(), 256.0 / 96);
}

TEST(cost_summary, has_no_sum_of_nothing) {
  plan p = plan_of(known_and_unknown());
  for (planned_stage& stage : p.stages) {
    change(stage, [](prepared_stage& prepared) { prepared.known = known_cost::none; });
  }
  const cost_summary summary = summarize_cost(p);
  EXPECT_EQ(summary.stages[2].outputs.size(), 2u);
  for (const stage_figures& stage : summary.stages) {
    const cost_figures& of = stage.figures;
    EXPECT_FALSE(of.parameters || of.macs || of.flops || of.bytes_read || of.intensity);
  }
  EXPECT_FALSE(summary.total.parameters || summary.total.flops || summary.total.bytes_read);
  EXPECT_FALSE(summary.total.intensity);
  EXPECT_EQ(summary.without_bytes.size(), p.stages.size());
}

TEST(cost_summary, has_no_sum_that_64_bits_cannot_hold) {
  plan p = plan_of(known_and_unknown());
  for (planned_stage& stage : p.stages) {
    change(stage, [](prepared_stage& prepared) {
      prepared.known = known_cost::all;
      prepared.cost.flops = std::numeric_limits<std::int64_t>::max() / 2;
    });
  }
  const cost_summary summary = summarize_cost(p);
  EXPECT_FALSE(summary.total.flops || summary.total.intensity);
  EXPECT_TRUE(summary.total.macs && summary.total.bytes_read);
  EXPECT_THAT(summary.without_flops, IsEmpty());
}

TEST(cost_summary, lists_layers_and_has_no_intensity_where_nothing_moves) {
  plan p = plan_of(known_and_unknown());
  const tensor_type flat{{2, 8}, dtype::float32};
  change(p.stages[0], [&](prepared_stage& prepared) {
    prepared.layers = {{"0.flatten", "flatten", flat, {}},
                       {"one", "relu", flat, {.flops = 16, .bytes_read = 64}}};
  });
  const cost_summary summary = summarize_cost(p);
  ASSERT_EQ(summary.stages[0].layers.size(), 2u);
  const layer_figures& first = summary.stages[0].layers[0];
  EXPECT_EQ(first.name, "0.flatten");
  EXPECT_EQ(first.figures.flops, 0);
  EXPECT_FALSE(first.figures.intensity);
  EXPECT_EQ(summary.stages[0].layers[1].figures.intensity, 0.25);
}

TEST(cost_summary, can_be_had_without_a_device_for_kinds_of_any_backend) {
  spec_builder b;
  b.input("image", {2, 8});
  b.stage("only", "cuda_only", {"image"}, {"y"});
  diagnostics out;
  const stage_registry registry = test_registry();
  const plan p = make_plan(b.spec, registry, {.backend = ""}, out);
  ASSERT_FALSE(out.has_errors()) << out.render();
  EXPECT_EQ(summarize_cost(p).stages.at(0).figures.bytes_read, 64);
}

TEST(cost_summary, states_the_cost_of_each_bucket) {
  spec_builder b;
  b.input("x", {6, 4}).stage("n", "count", {}).stage("some", "row_gpu", {"x"});
  b.spec.stages.back().rows = {"n"};
  b.spec.stages.back().buckets.rows = {2, 6};
  const cost_summary summary = summarize_cost(plan_of(b));
  const auto& buckets = summary.stages.back().buckets;
  ASSERT_EQ(buckets.size(), 2U);
  EXPECT_EQ(buckets[0].rows, 2);
  EXPECT_EQ(buckets[0].figures.bytes_read, 2 * 4 * 4);
  EXPECT_EQ(buckets[1].rows, 6);
  EXPECT_EQ(buckets[1].figures.bytes_read, summary.stages.back().figures.bytes_read);
}

}  // namespace
}  // namespace graphline::plan_testing
