#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "stages/kinds.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/stages/cpu/stage_trial.hpp"

namespace graphline {
namespace {

/// Values from 0 to 2 if they are counts, sizes, classes or indices, and from 0 to 8 else.
void fill(stage_trial& trial, const std::vector<tensor_type>& types) {
  std::mt19937 generator(1);
  for (std::size_t i = 0; i < types.size(); ++i) {
    const auto count = static_cast<std::size_t>(types[i].shape.elements());
    if (types[i].element == dtype::int64) {
      std::vector<std::int64_t> values(count);
      std::ranges::generate(values, [&] { return static_cast<std::int64_t>(generator() % 3); });
      trial.input(i, values);
    } else if (types[i].element == dtype::uint8) {
      std::vector<std::uint8_t> values(count);
      std::ranges::generate(values, [&] { return static_cast<std::uint8_t>(generator()); });
      trial.input(i, values);
    } else {
      std::vector<float> values(count);
      std::ranges::generate(values, [&] { return static_cast<float>(generator() % 800) / 100; });
      trial.input(i, values);
    }
  }
}

/// The stages run on tensors that end at a protected page after these rows, so that a stage that
/// reads or writes a row beyond them ends the test.
TEST(rows, are_those_of_a_run_on_all_rows_and_nothing_behind_them_is_touched) {
  constexpr std::int64_t capacity = 6;
  const temporary_folder files;
  files.write("characters.txt", "a\nb\n");
  const tensor_type pictures{{capacity, 5, 4, 3}, dtype::uint8};
  const tensor_type sizes{{capacity, 2}, dtype::int64};
  const tensor_type counts{{2}, dtype::int64};  // of two entries with three rows each
  const tensor_type scores{{capacity, 7}, dtype::float32};
  const tensor_type boxes{{capacity, 7, 4}, dtype::float32};
  const struct {
    stage_kind kind;
    std::string parameters;
    std::vector<tensor_type> inputs;
  } cases[] = {
      {resize_kind(), "{size: [3, 7]}", {pictures, sizes}},
      {letterbox_kind(), "{size: [7, 3]}", {pictures, sizes}},
      {normalize_kind(), "{}", {pictures, sizes}},
      {crop_kind(),
       "{size: [3, 5]}",
       {{{2, 9, 8, 3}, dtype::uint8},
        {{2, 3, 4, 2}, dtype::float32},
        counts,
        {{capacity, 2}, dtype::float32}}},
      {crop_kind(),
       "{size: [3, 5], format: center}",
       {{{2, 9, 8, 3}, dtype::uint8}, {{2, 3, 4}, dtype::float32}, counts}},
      {ctc_decode_kind(),
       "{characters: '" + files.path().string() + "/characters.txt'}",
       {{{capacity, 7}, dtype::int64}, scores, counts}},
      {top_k_kind(), "{k: 3}", {scores}},
      {nms_kind(), "{max_outputs: 3}", {boxes, scores, {{capacity, 7}, dtype::int64}}},
      {boxes_kind(), "{format: center}", {boxes, {{capacity, 3}, dtype::float32}, sizes}},
      {gather_kind(), "{inputs: [boxes, scores]}", {sizes, boxes, scores}},
  };
  for (const auto& c : cases) {
    stage_trial trial(c.kind, c.parameters, c.inputs);
    ASSERT_TRUE(trial.complaints().empty()) << c.kind.name << ": " << trial.complaints()[0];
    fill(trial, c.inputs);
    trial.run();
    for (std::size_t i = 0; i < trial.prepared().outputs.size(); ++i) {
      const auto bytes = trial.output<std::byte>(i);
      EXPECT_GT(bytes.size() - std::ranges::count(bytes, std::byte{0}), 0U) << c.kind.name;
    }
    for (const std::int64_t rows : {std::int64_t{1}, capacity, capacity - 1, std::int64_t{2}}) {
      const auto some = trial.outputs_of_rows(rows);
      for (std::size_t i = 0; i < some.size(); ++i) {
        auto expected = trial.output<std::byte>(i);
        expected.resize(expected.size() / capacity * static_cast<std::size_t>(rows));
        EXPECT_EQ(some[i], expected) << c.kind.name << ", output " << i << ", rows " << rows;
      }
    }
  }
}

}  // namespace
}  // namespace graphline
