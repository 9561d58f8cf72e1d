#include <gmock/gmock.h>

#include "stages/kinds.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/stages/cpu/stage_trial.hpp"

namespace graphline {
namespace {

using testing::ElementsAre;
using testing::FloatEq;
using testing::HasSubstr;

/// Texts of probabilities, whose classes are the blank, a, b and é.
class ctc_decode : public testing::Test {
 protected:
  ctc_decode() { files_.write("characters.txt", "a\nb\né\n"); }

  std::string parameters(const std::string& more = "") const {
    return "{characters: '" + files_.path().string() + "/characters.txt'" + more + "}";
  }

  /// A row of steps, one class each, with this probability.
  static void add(std::vector<float>& to, const std::vector<int>& classes, float probability) {
    for (const int wanted : classes) {
      for (int c = 0; c < 4; ++c) to.push_back(c == wanted ? probability : 0.0F);
    }
  }

  /// The text of each row, after checking that only zeros follow it.
  static std::vector<std::string> texts(const stage_trial& trial) {
    const auto bytes = trial.output<char>(0);
    const auto room = static_cast<std::size_t>(trial.prepared().outputs[0].shape[1]);
    std::vector<std::string> list;
    for (std::size_t start = 0; start < bytes.size(); start += room) {
      const std::string row(&bytes[start], room);
      list.push_back(row.substr(0, row.find_last_not_of('\0') + 1));
    }
    return list;
  }

  temporary_folder files_;
};

TEST_F(ctc_decode, drops_repetitions_and_blanks) {
  std::vector<float> steps;
  add(steps, {1, 1, 0, 1, 2}, 0.9F);
  add(steps, {0, 3, 3, 3, 0}, 0.8F);
  add(steps, {0, 0, 0, 0, 0}, 0.7F);
  add(steps, {3, 2, 3, 2, 3}, 0.6F);
  stage_trial trial(ctc_decode_kind(), parameters(), {{{4, 5, 4}, dtype::float32}});
  trial.input(0, steps).run();
  EXPECT_EQ(trial.prepared().outputs[0], (tensor_type{{4, 10}, dtype::uint8}));
  EXPECT_THAT(texts(trial), ElementsAre("aab", "é", "", "ébébé"));
  EXPECT_THAT(trial.output<float>(1),
              ElementsAre(FloatEq(0.9F), FloatEq(0.8F), 0.0F, FloatEq(0.6F)));
}

TEST_F(ctc_decode, leaves_texts_empty_that_score_too_little_or_are_not_there) {
  std::vector<float> steps;
  for (int entry = 0; entry < 2; ++entry) {
    add(steps, {1, 2}, 0.9F);
    add(steps, {2, 1}, 0.4F);
    add(steps, {2, 3}, 0.9F);
  }
  stage_trial trial(ctc_decode_kind(), parameters(", score_threshold: 0.5"),
                    {{{6, 2, 4}, dtype::float32}, {{2}, dtype::int64}});
  trial.input(0, steps).input<std::int64_t>(1, {2, 3}).run();
  EXPECT_THAT(texts(trial), ElementsAre("ab", "", "", "ab", "", "bé"));
  EXPECT_THAT(trial.output<float>(1).at(1), FloatEq(0.4F));
  EXPECT_THAT(trial.output<float>(1).at(2), 0.0F);
}

TEST_F(ctc_decode, refuses_characters_that_are_not_those_of_the_classes) {
  const std::vector<tensor_type> wrong = {{{4, 5, 5}, dtype::float32}};
  EXPECT_THAT(stage_trial(ctc_decode_kind(), parameters(), wrong).complaints(),
              ElementsAre(HasSubstr("has 3 lines, but float32 [4, 5, 5] has 5 classes: there must "
                                    "be a line for each but the first, the blank")));
  EXPECT_THAT(stage_trial(ctc_decode_kind(), "{characters: no.txt}", wrong).complaints(),
              ElementsAre(HasSubstr("no.txt")));
  for (const auto& inputs :
       std::vector<std::vector<tensor_type>>{{{{4, 5}, dtype::float32}},
                                             {{{4, 5, 4}, dtype::float64}},
                                             {{{4, 5, 1}, dtype::float32}},
                                             {{{4, 5, 4}, dtype::float32}, {{3}, dtype::int64}}}) {
    EXPECT_THAT(stage_trial(ctc_decode_kind(), parameters(), inputs).complaints(),
                ElementsAre(HasSubstr("found " + to_string(inputs[0]))));
  }
}

}  // namespace
}  // namespace graphline
