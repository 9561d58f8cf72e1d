#include <gmock/gmock.h>

#include <limits>

#include "stages/kinds.hpp"
#include "tests/stages/cpu/stage_trial.hpp"

namespace graphline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::NanSensitiveFloatEq;
using testing::Pointwise;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

TEST(top_k, agrees_with_torch_topk) {
  stage_trial trial(top_k_kind(), "{k: 6}", {{{3, 5, 40}, dtype::float32}});
  trial.input(0, reference<float>("top_k_scores")).run();
  EXPECT_EQ(trial.prepared().outputs[0], (tensor_type{{3, 5, 6}, dtype::float32}));
  EXPECT_EQ(trial.prepared().outputs[1], (tensor_type{{3, 5, 6}, dtype::int64}));
  EXPECT_THAT(trial.output<float>(0),
              Pointwise(NanSensitiveFloatEq(), reference<float>("top_k_values")));
  EXPECT_EQ(trial.output<std::int64_t>(1), reference<std::int64_t>("top_k_indices"));
  EXPECT_EQ(trial.prepared().cost.bytes_read, 3 * 5 * 40 * 4);
  EXPECT_EQ(trial.prepared().cost.bytes_written, 3 * 5 * 6 * (4 + 8));
}

TEST(top_k, puts_nan_first_and_the_lower_index_first_among_equals) {
  stage_trial trial(top_k_kind(), "{k: 8}", {{{8}, dtype::float32}});
  trial.input<float>(0, {-1, 0.0F, infinity, 2, -nan, -0.0F, 2, -infinity}).run();
  EXPECT_THAT(trial.output<std::int64_t>(1), ElementsAre(4, 2, 3, 6, 1, 5, 0, 7));
}

TEST(top_k, takes_both_zeros_for_equals_whichever_comes_first) {
  stage_trial trial(top_k_kind(), "{k: 2}", {{{2, 3}, dtype::float32}});
  trial.input<float>(0, {-1, -0.0F, 0.0F, -1, 0.0F, -0.0F}).run();
  EXPECT_THAT(trial.output<std::int64_t>(1), ElementsAre(1, 2, 1, 2));
}

TEST(top_k, reads_nothing_before_its_first_row) {
  stage_trial trial(top_k_kind(), "{k: 1}", {{{3, 5}, dtype::float32}}, 1, test::guard::before);
  trial.input<float>(0, {5, 1, 1, 1, 1, 1, 1, 5, 1, 1, 1, 1, 1, 1, 5}).run();
  EXPECT_THAT(trial.output<std::int64_t>(1), ElementsAre(0, 2, 4));
}

TEST(top_k, refuses_more_than_there_are_at_the_place_of_k) {
  const stage_trial trial(top_k_kind(), "{k: 6}", {{{2, 5}, dtype::float32}});
  EXPECT_THAT(trial.complaints(),
              ElementsAre("'k' must be at most 5, the last extent of float32 [2, 5], found 6"));
  EXPECT_EQ(trial.problems().all()[0].place.column, 5U);
}

TEST(top_k, refuses_other_inputs_by_their_type) {
  EXPECT_THAT(stage_trial(top_k_kind(), "{k: 1}", {{{5}, dtype::int64}}).complaints(),
              ElementsAre("cpu.top_k reads float32 [.., C], found int64 [5]"));
  EXPECT_THAT(stage_trial(top_k_kind(), "{k: 1}", {{{}, dtype::float32}}).complaints(),
              ElementsAre(HasSubstr("reads float32 [.., C], found float32 []")));
}

}  // namespace
}  // namespace graphline
