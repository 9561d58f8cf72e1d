#include <gmock/gmock.h>

#include "framework/base/error.hpp"
#include "stages/kinds.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/stages/cpu/stage_trial.hpp"

namespace graphline {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::FloatEq;
using testing::HasSubstr;

/// Texts of classes: the blank, a, b and é.
class ctc_decode : public testing::Test {
 protected:
  ctc_decode() { files_.write("characters.txt", "a\nb\né\n"); }

  std::string parameters(const std::string& more = "") const {
    return "{characters: '" + files_.path().string() + "/characters.txt'" + more + "}";
  }

  static std::vector<tensor_type> types(std::int64_t rows, std::int64_t steps) {
    return {{{rows, steps}, dtype::int64}, {{rows, steps}, dtype::float32}};
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
  stage_trial trial(ctc_decode_kind(), parameters(), types(4, 5));
  trial
      .input<std::int64_t>(0, {1, 1, 0, 1, 2,  //
                               0, 3, 3, 3, 0,  //
                               0, 0, 0, 0, 0,  //
                               3, 2, 3, 2, 3})
      .input<float>(1, {0.9F, 0.1F, 0.1F, 0.9F, 0.6F,  // repetitions and blanks do not count
                        0.1F, 0.8F, 0.2F, 0.2F, 0.2F,  //
                        0.7F, 0.7F, 0.7F, 0.7F, 0.7F,  //
                        0.6F, 0.6F, 0.6F, 0.6F, 0.6F})
      .run();
  EXPECT_EQ(trial.prepared().outputs[0], (tensor_type{{4, 10}, dtype::uint8}));
  EXPECT_THAT(texts(trial), ElementsAre("aab", "é", "", "ébébé"));
  EXPECT_THAT(trial.output<float>(1),
              ElementsAre(FloatEq(0.8F), FloatEq(0.8F), 0.0F, FloatEq(0.6F)));
}

TEST_F(ctc_decode, leaves_texts_empty_that_score_too_little_or_are_not_there) {
  std::vector<tensor_type> inputs = types(6, 2);
  inputs.push_back({{2}, dtype::int64});
  stage_trial trial(ctc_decode_kind(), parameters(", score_threshold: 0.5"), inputs);
  trial.input<std::int64_t>(0, {1, 2, 2, 1, 2, 3, 1, 2, 2, 1, 2, 3})
      .input<float>(1, {0.9F, 0.9F, 0.4F, 0.4F, 0.9F, 0.9F, 0.9F, 0.9F, 0.4F, 0.4F, 0.9F, 0.9F})
      .input<std::int64_t>(2, {2, 3})
      .run();
  EXPECT_THAT(texts(trial), ElementsAre("ab", "", "", "ab", "", "bé"));
  EXPECT_THAT(trial.output<float>(1).at(1), FloatEq(0.4F));
  EXPECT_THAT(trial.output<float>(1).at(2), 0.0F);
}

TEST_F(ctc_decode, refuses_a_class_without_a_character) {
  for (const std::int64_t wrong : {std::int64_t{4}, std::int64_t{-1}}) {
    stage_trial trial(ctc_decode_kind(), parameters(), types(1, 2));
    trial.input<std::int64_t>(0, {3, wrong}).input<float>(1, {1, 1});
    try {
      trial.run();
      ADD_FAILURE() << "class " << wrong << " was decoded";
    } catch (const run_error& e) {
      EXPECT_THAT(e.what(), AllOf(HasSubstr("class " + std::to_string(wrong) + " has no character"),
                                  HasSubstr("characters.txt' has 3 lines, for classes 1 to 3")));
    }
  }
}

TEST_F(ctc_decode, refuses_wrong_files_and_types) {
  EXPECT_THAT(stage_trial(ctc_decode_kind(), "{characters: no.txt}", types(4, 5)).complaints(),
              ElementsAre(HasSubstr("no.txt")));
  files_.write("empty.txt", "");
  EXPECT_THAT(stage_trial(ctc_decode_kind(),
                          "{characters: '" + files_.path().string() + "/empty.txt'}", types(4, 5))
                  .complaints(),
              ElementsAre(HasSubstr("the file is empty")));
  for (const auto& inputs : std::vector<std::vector<tensor_type>>{
           {{{4, 5, 3}, dtype::int64}, {{4, 5, 3}, dtype::float32}},
           {{{4, 5}, dtype::float32}, {{4, 5}, dtype::float32}},
           {{{4, 5}, dtype::int64}, {{4, 6}, dtype::float32}},
           {{{4, 5}, dtype::int64}, {{4, 5}, dtype::float64}},
           {{{4, 5}, dtype::int64}, {{4, 5}, dtype::float32}, {{3}, dtype::int64}}}) {
    EXPECT_THAT(stage_trial(ctc_decode_kind(), parameters(), inputs).complaints(),
                ElementsAre(HasSubstr("found " + to_string(inputs[0]))));
  }
}

}  // namespace
}  // namespace graphline
