#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "stages/kinds.hpp"
#include "tests/stages/cpu/stage_trial.hpp"

namespace graphline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(gather, copies_rows_in_the_order_of_the_indices_and_zeros_for_none) {
  stage_trial trial(gather_kind(), "{}", {{{4}, dtype::int64}, {{3, 2}, dtype::float32}});
  EXPECT_EQ(trial.prepared().outputs[0], (tensor_type{{4, 2}, dtype::float32}));
  trial.input<std::int64_t>(0, {2, 0, 2, -1}).input<float>(1, {1, 2, 3, 4, 5, 6}).run();
  EXPECT_THAT(trial.output<float>(0), ElementsAre(5, 6, 1, 2, 5, 6, 0, 0));
}

TEST(gather, takes_rows_of_each_tensor_from_the_entry_of_the_batch) {
  stage_trial trial(gather_kind(), "{inputs: [boxes, scores, classes]}",
                    {{{2, 3}, dtype::int64},
                     {{2, 2, 4}, dtype::uint8},
                     {{2, 2}, dtype::float32},
                     {{2, 2, 1}, dtype::int64}});
  EXPECT_EQ(trial.prepared().outputs[0], (tensor_type{{2, 3, 4}, dtype::uint8}));
  EXPECT_EQ(trial.prepared().outputs[1], (tensor_type{{2, 3}, dtype::float32}));
  EXPECT_EQ(trial.prepared().outputs[2], (tensor_type{{2, 3, 1}, dtype::int64}));
  trial.input<std::int64_t>(0, {1, 0, -1, 1, -1, -1});
  trial.input<std::uint8_t>(1, {1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 14, 15, 16, 17, 18});
  trial.input<float>(2, {0.1F, 0.2F, 0.3F, 0.4F}).input<std::int64_t>(3, {10, 20, 30, 40}).run();
  EXPECT_THAT(trial.output<std::uint8_t>(0), ElementsAre(5, 6, 7, 8, 1, 2, 3, 4, 0, 0, 0, 0,  //
                                                         15, 16, 17, 18, 0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(trial.output<float>(1), ElementsAre(0.2F, 0.1F, 0, 0.4F, 0, 0));
  EXPECT_THAT(trial.output<std::int64_t>(2), ElementsAre(20, 10, 0, 40, 0, 0));
}

TEST(gather, reads_all_rows_where_a_frame_has_fewer_indices) {
  const tensor_type indices{{4}, dtype::int64};
  const tensor_type values{{4}, dtype::float32};
  const stage_trial trial(gather_kind(), "{}", {indices, values});
  const auto stage = trial.prepared().make_cpu({.name = "found",
                                                .arguments = {},
                                                .inputs = {indices, values},
                                                .outputs = trial.prepared().outputs});
  const std::int64_t index = 3;
  const std::vector<float> from = {10, 20, 30, 40};
  float to = 0;
  const const_tensor_view inputs[] = {{&index, first_rows(indices, 1)},
                                      {from.data(), first_rows(values, 1)}};
  const tensor_view outputs[] = {{&to, first_rows(values, 1)}};
  stage->run({0, inputs, outputs});
  EXPECT_EQ(to, 40);
}

TEST(gather, refuses_an_index_that_is_no_row) {
  for (const std::int64_t index : {std::int64_t{3}, std::int64_t{-2}, INT64_MIN, INT64_MAX}) {
    stage_trial trial(gather_kind(), "{}", {{{1}, dtype::int64}, {{3}, dtype::float32}});
    trial.input<std::int64_t>(0, {index});
    EXPECT_THROW(trial.run(), run_error) << index;
  }
}

TEST(gather, reads_what_nms_writes) {
  const tensor_type boxes{{1, 3, 4}, dtype::float32};
  const tensor_type scores{{1, 3, 1}, dtype::float32};
  // The second is hidden by the first, and the third, of the same place, is of another class.
  const std::vector<float> corners = {0, 0, 4, 4, 0, 0, 4, 3, 0, 0, 4, 4};
  const std::vector<float> rated = {0.7F, 0.6F, 0.9F};
  stage_trial best(nms_kind(), "{max_outputs: 4}", {boxes, scores, {{1, 3, 1}, dtype::int64}});
  best.input(0, corners).input(1, rated).input<std::int64_t>(2, {5, 5, 8}).run();
  stage_trial keep(gather_kind(), "{inputs: [boxes, scores]}",
                   {best.prepared().outputs[0], boxes, scores});
  keep.input(0, best.output<std::int64_t>(0)).input(1, corners).input(2, rated).run();
  EXPECT_THAT(keep.output<float>(0), ElementsAre(0, 0, 4, 4, 0, 0, 4, 4, 0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(keep.output<float>(1), ElementsAre(0.9F, 0.7F, 0, 0));
}

TEST(gather, refuses_shapes_that_do_not_belong_together) {
  const auto complaints = [](std::vector<tensor_type> inputs) {
    return stage_trial(gather_kind(), "{inputs: [a, b]}", std::move(inputs)).complaints();
  };
  const tensor_type indices{{2, 7}, dtype::int64};
  const tensor_type boxes{{2, 5, 4}, dtype::float32};
  const std::vector<std::vector<tensor_type>> wrong = {
      {{{2, 7}, dtype::int32}, boxes, boxes},     {{{}, dtype::int64}, boxes, boxes},
      {{{2, 7, 1}, dtype::int64}, boxes, boxes},  {indices, boxes, {{2}, dtype::float32}},
      {indices, boxes, {{2, 6}, dtype::float32}}, {indices, boxes, {{3, 5}, dtype::float32}},
  };
  for (const auto& inputs : wrong) {
    EXPECT_THAT(complaints(inputs),
                ElementsAre("cpu.gather reads indices int64 [K] and tensors [N, ..] of equal N, or "
                            "of a batch [B, K] and [B, N, ..]; found " +
                            to_string(inputs[0]) + ", " + to_string(inputs[1]) + ", " +
                            to_string(inputs[2])));
  }
}

TEST(gather, refuses_names_that_are_taken_or_missing) {
  const auto complaints = [](const char* given) {
    return stage_trial(gather_kind(), given).complaints();
  };
  EXPECT_THAT(complaints("{inputs: [a, b, a]}"),
              ElementsAre("cpu.gather already reads a tensor as 'a'; give each of 'inputs' another "
                          "name"));
  EXPECT_THAT(complaints("{inputs: indices}"), ElementsAre(HasSubstr("as 'indices'")));
  EXPECT_THAT(complaints("{inputs: []}"), ElementsAre(HasSubstr("must name at least one")));
}

}  // namespace
}  // namespace graphline
