#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "stages/kinds.hpp"
#include "tests/stages/cpu/stage_trial.hpp"

namespace graphline {
namespace {

using testing::ElementsAre;

std::vector<tensor_type> inputs_of(std::int64_t boxes) {
  return {{{boxes, 4}, dtype::float32}, {{boxes}, dtype::float32}};
}

/// Three boxes: the second covers half of what it and the first cover (IoU 1/2), the third is far.
const std::vector<float> three_boxes = {0, 0, 4, 1, 0, 0, 2, 1, 10, 10, 11, 11};

stage_trial three(const std::string& parameters) {
  stage_trial trial(nms_kind(), parameters, inputs_of(3));
  trial.input(0, three_boxes).input<float>(1, {0.9F, 0.8F, 0.7F}).run();
  return trial;
}

TEST(nms, keeps_a_box_whose_overlap_equals_the_threshold) {
  EXPECT_THAT(three("{max_outputs: 3}").output<std::int64_t>(0), ElementsAre(0, 1, 2));
  EXPECT_THAT(three("{max_outputs: 3, iou_threshold: 0.49}").output<std::int64_t>(0),
              ElementsAre(0, 2, -1));
}

TEST(nms, stops_at_max_outputs_and_pads_what_is_left) {
  const stage_trial few = three("{max_outputs: 2}");
  EXPECT_THAT(few.output<std::int64_t>(0), ElementsAre(0, 1));
  EXPECT_THAT(few.output<std::int64_t>(1), ElementsAre(2));
  const stage_trial many = three("{max_outputs: 5}");
  EXPECT_THAT(many.output<std::int64_t>(0), ElementsAre(0, 1, 2, -1, -1));
  EXPECT_THAT(many.output<std::int64_t>(1), ElementsAre(3));
}

TEST(nms, leaves_out_what_does_not_score_above_the_threshold) {
  const stage_trial trial = three("{max_outputs: 3, score_threshold: 0.7}");
  EXPECT_THAT(trial.output<std::int64_t>(0), ElementsAre(0, 1, -1));
  const stage_trial none = three("{max_outputs: 3, score_threshold: 2}");
  EXPECT_THAT(none.output<std::int64_t>(0), ElementsAre(-1, -1, -1));
  EXPECT_THAT(none.output<std::int64_t>(1), ElementsAre(0));
}

TEST(nms, keeps_every_empty_box_since_empty_boxes_overlap_nothing) {
  stage_trial trial(nms_kind(), "{max_outputs: 2}", inputs_of(2));
  trial.input<float>(0, {1, 1, 1, 1, 1, 1, 1, 1}).input<float>(1, {0.5F, 0.6F}).run();
  EXPECT_THAT(trial.output<std::int64_t>(0), ElementsAre(1, 0));
}

TEST(nms, reads_nothing_before_its_first_box) {
  stage_trial trial(nms_kind(), "{max_outputs: 1}", inputs_of(3), 1, test::guard::before);
  trial.input(0, three_boxes).input<float>(1, {0.9F, 0.8F, 0.7F}).run();
  EXPECT_THAT(trial.output<std::int64_t>(0), ElementsAre(0));
}

/// Corners at integer coordinates up to 14, so that every overlap is a quotient of small integers.
struct whole_box {
  int x1, y1, x2, y2;
};

std::vector<whole_box> some_boxes(std::size_t count, std::mt19937& generator) {
  std::vector<whole_box> boxes;
  for (std::size_t i = 0; i < count; ++i) {
    const auto draw = [&](unsigned most) { return static_cast<int>(generator() % most); };
    const int x = draw(7);
    const int y = draw(7);
    boxes.push_back({x, y, x + 2 * (2 + draw(3)), y + 2 * (2 + draw(3))});
  }
  return boxes;
}

/// Whether the intersection is more than half of the union, in integers.
bool overlap_by_half(const whole_box& a, const whole_box& b) {
  const int width = std::max(0, std::min(a.x2, b.x2) - std::max(a.x1, b.x1));
  const int height = std::max(0, std::min(a.y2, b.y2) - std::max(a.y1, b.y1));
  const auto area = [](const whole_box& box) { return (box.x2 - box.x1) * (box.y2 - box.y1); };
  return 2 * width * height > area(a) + area(b) - width * height;
}

/// The rule of torchvision's kernel: from the best box on, each box that is not struck out is kept
/// and strikes out all later boxes that it overlaps.
std::vector<std::int64_t> struck_out(const std::vector<whole_box>& boxes,
                                     const std::vector<float>& scores) {
  std::vector<std::size_t> order(boxes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](auto a, auto b) { return scores[a] > scores[b]; });
  std::vector<bool> out(boxes.size());
  std::vector<std::int64_t> kept;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (out[order[i]]) continue;
    kept.push_back(static_cast<std::int64_t>(order[i]));
    for (std::size_t j = i + 1; j < order.size(); ++j) {
      if (overlap_by_half(boxes[order[i]], boxes[order[j]])) out[order[j]] = true;
    }
  }
  return kept;
}

struct batch_case {
  const char* format;
  bool scores_have_a_feature;  ///< [B, N, 1]
};

class nms_batch : public testing::TestWithParam<batch_case> {};

TEST_P(nms_batch, keeps_of_each_entry_what_the_entry_alone_would_keep) {
  constexpr std::int64_t entries = 5;
  constexpr std::int64_t count = 60;
  constexpr std::size_t most = 27;  // some entries keep more, some fewer
  const bool centered = std::string(GetParam().format) == "center";
  std::mt19937 generator(3);
  std::vector<float> corners;
  std::vector<float> scores;
  std::vector<std::int64_t> expected;
  std::vector<std::int64_t> counts;
  for (std::int64_t entry = 0; entry < entries; ++entry) {
    const auto boxes = some_boxes(count, generator);
    std::vector<float> of_entry;
    for (const whole_box& b : boxes) {
      if (centered) {
        for (const int twice : {b.x1 + b.x2, b.y1 + b.y2, 2 * (b.x2 - b.x1), 2 * (b.y2 - b.y1)}) {
          corners.push_back(static_cast<float>(twice) / 2);
        }
      } else {
        for (const int c : {b.x1, b.y1, b.x2, b.y2}) corners.push_back(static_cast<float>(c));
      }
      of_entry.push_back(static_cast<float>(generator() % 30) / 30);  // some are equal
    }
    auto kept = struck_out(boxes, of_entry);
    kept.resize(std::min(kept.size(), most));
    counts.push_back(static_cast<std::int64_t>(kept.size()));
    kept.resize(most, -1);
    expected.insert(expected.end(), kept.begin(), kept.end());
    scores.insert(scores.end(), of_entry.begin(), of_entry.end());
  }
  ASSERT_THAT(expected, testing::Contains(-1));  // or nothing was suppressed

  const shape of_scores =
      GetParam().scores_have_a_feature ? shape{entries, count, 1} : shape{entries, count};
  stage_trial trial(nms_kind(), std::string("{max_outputs: 27, format: ") + GetParam().format + "}",
                    {{{entries, count, 4}, dtype::float32}, {of_scores, dtype::float32}});
  EXPECT_EQ(trial.prepared().outputs[0], (tensor_type{{entries, most}, dtype::int64}));
  EXPECT_EQ(trial.prepared().outputs[1], (tensor_type{{entries}, dtype::int64}));
  trial.input(0, corners).input(1, scores).run();
  EXPECT_EQ(trial.output<std::int64_t>(0), expected);
  EXPECT_EQ(trial.output<std::int64_t>(1), counts);
}

INSTANTIATE_TEST_SUITE_P(forms, nms_batch,
                         testing::Values(batch_case{"corners", false}, batch_case{"corners", true},
                                         batch_case{"center", false}, batch_case{"center", true}),
                         [](const auto& tested) {
                           return std::string(tested.param.format) +
                                  (tested.param.scores_have_a_feature ? "_and_a_feature" : "");
                         });

/// As torchvision.ops.batched_nms is documented, and its plain implementation computes it: nms for
/// each class alone, then what is kept of all classes by falling score.
std::vector<std::int64_t> kept_of_each_class(const std::vector<whole_box>& boxes,
                                             const std::vector<float>& scores,
                                             const std::vector<std::int64_t>& classes) {
  std::vector<std::int64_t> kept;
  for (const std::int64_t of_class : std::set(classes.begin(), classes.end())) {
    std::vector<std::int64_t> members;
    std::vector<whole_box> their_boxes;
    std::vector<float> their_scores;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      if (classes[i] != of_class) continue;
      members.push_back(static_cast<std::int64_t>(i));
      their_boxes.push_back(boxes[i]);
      their_scores.push_back(scores[i]);
    }
    for (const std::int64_t i : struck_out(their_boxes, their_scores)) {
      kept.push_back(members[static_cast<std::size_t>(i)]);
    }
  }
  std::ranges::sort(kept);
  std::ranges::stable_sort(kept, [&](auto a, auto b) {
    return scores[static_cast<std::size_t>(a)] > scores[static_cast<std::size_t>(b)];
  });
  return kept;
}

TEST(nms, suppresses_within_each_class_as_batched_nms_of_torchvision) {
  constexpr std::int64_t entries = 4;
  constexpr std::int64_t count = 60;
  std::mt19937 generator(5);
  std::vector<float> corners;
  std::vector<float> scores;
  std::vector<std::int64_t> classes;
  std::vector<std::int64_t> expected;
  std::vector<std::int64_t> counts;
  for (std::int64_t entry = 0; entry < entries; ++entry) {
    const auto boxes = some_boxes(count, generator);
    std::vector<float> entry_scores;
    std::vector<std::int64_t> entry_classes;
    for (const whole_box& b : boxes) {
      for (const int c : {b.x1, b.y1, b.x2, b.y2}) corners.push_back(static_cast<float>(c));
      entry_scores.push_back(static_cast<float>(generator() % 30) / 30);  // some are equal
      entry_classes.push_back(static_cast<std::int64_t>(generator() % 3) * 1'000'000'000'000 - 1);
    }
    auto kept = kept_of_each_class(boxes, entry_scores, entry_classes);
    ASSERT_GT(kept.size(), struck_out(boxes, entry_scores).size());
    ASSERT_LT(kept.size(), static_cast<std::size_t>(count));
    counts.push_back(static_cast<std::int64_t>(kept.size()));
    kept.resize(count, -1);
    expected.insert(expected.end(), kept.begin(), kept.end());
    scores.insert(scores.end(), entry_scores.begin(), entry_scores.end());
    classes.insert(classes.end(), entry_classes.begin(), entry_classes.end());
  }
  for (const shape& one_each : {shape{entries, count}, shape{entries, count, 1}}) {
    stage_trial trial(nms_kind(), "{max_outputs: 60}",
                      {{{entries, count, 4}, dtype::float32},
                       {one_each, dtype::float32},
                       {one_each, dtype::int64}});
    trial.input(0, corners).input(1, scores).input(2, classes).run();
    EXPECT_EQ(trial.output<std::int64_t>(0), expected);
    EXPECT_EQ(trial.output<std::int64_t>(1), counts);
  }
}

TEST(nms, refuses_more_outputs_than_any_memory_holds) {
  const std::int64_t entries = std::int64_t{1} << 40;
  EXPECT_THAT(stage_trial(nms_kind(), "{max_outputs: 2000000000}",
                          {{{entries, 1, 4}, dtype::float32}, {{entries, 1}, dtype::float32}})
                  .complaints(),
              ElementsAre(testing::HasSubstr("takes more than any memory holds")));
}

TEST(nms, refuses_shapes_that_do_not_belong_together) {
  const std::vector<std::vector<tensor_type>> wrong = {
      {{{5, 3}, dtype::float32}, {{5}, dtype::float32}},
      {{{5, 4}, dtype::float32}, {{6}, dtype::float32}},
      {{{4}, dtype::float32}, {{4}, dtype::float32}},
      {{{5, 4}, dtype::float32}, {{5, 2}, dtype::float32}},
      {{{5, 4}, dtype::float64}, {{5}, dtype::float32}},
      {{{2, 5, 4}, dtype::float32}, {{10}, dtype::float32}},
      {{{2, 5, 4}, dtype::float32}, {{5}, dtype::float32}},
      {{{2, 5, 4}, dtype::float32}, {{2, 5, 3}, dtype::float32}},
      {{{1, 2, 5, 4}, dtype::float32}, {{1, 2, 5}, dtype::float32}},
      {{{5, 4}, dtype::float32}, {{5}, dtype::float32}, {{4}, dtype::int64}},
      {{{5, 4}, dtype::float32}, {{5}, dtype::float32}, {{5}, dtype::float32}},
      {{{2, 5, 4}, dtype::float32}, {{2, 5}, dtype::float32}, {{2, 5, 3}, dtype::int64}},
  };
  for (const auto& inputs : wrong) {
    std::string list;
    for (const tensor_type& type : inputs) list += (list.empty() ? "" : ", ") + to_string(type);
    EXPECT_THAT(stage_trial(nms_kind(), "{max_outputs: 1}", inputs).complaints(),
                ElementsAre("cpu.nms reads boxes float32 [N, 4], scores float32 [N] and optionally "
                            "classes int64 [N], or of a batch [B, N, 4], [B, N] and [B, N]; "
                            "found " +
                            list));
  }
}

}  // namespace
}  // namespace graphline
