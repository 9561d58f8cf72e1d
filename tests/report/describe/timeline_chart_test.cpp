#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "framework/analysis/run/timeline.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/page_parts.hpp"
#include "framework/report/render/render.hpp"
#include "tests/analysis/sample_records.hpp"

namespace graphline::report {
namespace {

constexpr std::size_t ample = 1'200'000;

timeline_chart drawn_of(const run_record& record, const std::vector<std::size_t>& asked = {},
                        std::size_t budget = ample) {
  return timeline_of(record, *attribute(record), asked, budget);
}

std::vector<std::size_t> numbers_of(const timeline_chart& of) {
  std::vector<std::size_t> numbers;
  for (const auto& frame : of.frames) numbers.push_back(static_cast<std::size_t>(frame[0]));
  return numbers;
}

bool keeps(const timeline_chart& of, std::size_t frame) {
  const auto numbers = numbers_of(of);
  return std::binary_search(numbers.begin(), numbers.end(), frame);
}

std::int64_t or_none(std::optional<std::size_t> index) {
  return index ? static_cast<std::int64_t>(*index) : -1;
}

TEST(timeline_chart, keeps_every_stamp_to_the_nanosecond) {
  const auto record = samples::two_models_in_parts(20);
  const auto data = drawn_of(record);
  const timeline picture(record);
  ASSERT_EQ(data.frames.size(), 20U);
  for (std::size_t frame = 0; frame < 20; ++frame) {
    const auto& row = data.frames[frame];
    const auto& at = record.frames[frame];
    EXPECT_EQ(row[1], at.due);
    EXPECT_EQ(row[2], at.begin - at.due);
    EXPECT_EQ(row[3], at.end - at.due);
    const auto spans = picture.spans_of(frame);
    ASSERT_EQ(row[5], static_cast<nanoseconds>(spans.size()));
    nanoseconds begin = at.due;
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const auto& span = spans[i];
      const auto& what = data.spans[static_cast<std::size_t>(row[6 + 3 * i])];
      begin += row[7 + 3 * i];
      EXPECT_EQ(begin, span.begin);
      EXPECT_EQ(row[8 + 3 * i], span.end - span.begin);
      const bool part = span.what == timeline_span::kind::part;
      EXPECT_THAT(what,
                  testing::ElementsAre(static_cast<std::int64_t>(span.what),
                                       static_cast<std::int64_t>(span.lane), or_none(span.stage),
                                       part ? static_cast<std::int64_t>(span.part) : -1));
    }
  }
}

TEST(timeline_chart, names_kinds_by_their_values_in_words_that_the_page_knows) {
  const auto data =
      chart_data({"", "", "", drawn_of(samples::two_models(timing_method::event, 20))});
  for (const auto& [word, what] : timeline_span_words) {
    EXPECT_EQ(data["kinds"][static_cast<std::size_t>(what)], word);
    for (const auto* table : {"const spanWords = {", "const spanColors = {"}) {
      const auto begin = document_script.find(table);
      ASSERT_NE(begin, document_script.npos);
      const auto entries = document_script.substr(begin, document_script.find("};", begin) - begin);
      EXPECT_NE(entries.find(" " + std::string(word) + ": "), entries.npos) << table << word;
    }
  }
  for (const auto& [word, what] : time_category_words) {
    EXPECT_EQ(data["categories"][static_cast<std::size_t>(what)], word);
  }
}

TEST(timeline_chart, has_pieces_that_add_up_to_each_frame_with_its_residual) {
  const auto record = samples::two_models_on_schedule(50);
  const auto data = drawn_of(record);
  for (const auto& frame : data.frames) {
    const auto& row = frame;
    nanoseconds sum = row[4];
    for (std::size_t i = 6 + 3 * static_cast<std::size_t>(row[5]); i < row.size(); i += 3) {
      EXPECT_LT(static_cast<std::size_t>(row[i]), data.pieces.size());
      sum += row[i + 2];
    }
    EXPECT_EQ(sum, row[3]) << "frame " << row[0];
  }
}

TEST(timeline_chart, keeps_all_frames_where_there_is_room) {
  const auto data = drawn_of(samples::two_models(timing_method::event, 300));
  EXPECT_EQ(data.total, 300U);
  EXPECT_EQ(data.frames.size(), 300U);
}

TEST(timeline_chart, stays_within_its_budget_and_spreads_what_it_keeps) {
  constexpr std::size_t total = 20'000;
  constexpr std::size_t budget = 100'000;
  const auto record = samples::two_models(timing_method::event, total);
  const auto data = drawn_of(record, {}, budget);
  const auto bytes = chart_data({"", "", "", data})["frames"].dump().size();
  EXPECT_LE(bytes, budget + 2);
  EXPECT_GT(bytes, budget * 9 / 10);
  auto numbers = numbers_of(data);
  EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
  EXPECT_EQ(std::set(numbers.begin(), numbers.end()).size(), numbers.size());
  numbers.insert(numbers.begin(), 0);
  numbers.push_back(total);
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    EXPECT_LT(numbers[i] - numbers[i - 1], total / 50);
  }
}

TEST(timeline_chart, names_only_frames_that_it_keeps) {
  auto record = samples::two_models(timing_method::event, 20'000);
  record.run.deadline = 74'000'000;
  const auto data = drawn_of(record, {}, 100'000);
  EXPECT_TRUE(keeps(data, data.median));
  EXPECT_TRUE(keeps(data, data.slowest));
  EXPECT_EQ(data.slow.size(), 50U);
  EXPECT_EQ(data.slow[0], data.slowest);
  EXPECT_EQ(data.typical.size(), 50U);
  EXPECT_EQ(data.missed.size(), 100U);
  for (const auto& list : {data.slow, data.typical, data.missed}) {
    for (const auto frame : list) EXPECT_TRUE(keeps(data, frame)) << frame;
  }
  for (const auto frame : data.missed) {
    const auto& at = record.frames[frame];
    EXPECT_GT(at.end - at.due, 74'000'000);
  }
}

TEST(timeline_chart, keeps_the_frames_in_flight_with_the_slowest) {
  auto record = samples::two_models(timing_method::event, 20'000);
  record.run.in_flight = 2;
  record.frames[777].end += 90'000'000;
  const auto data = drawn_of(record, {}, 100'000);
  EXPECT_EQ(data.slowest, 777U);
  for (std::size_t frame = 775; frame <= 779; ++frame) EXPECT_TRUE(keeps(data, frame));
}

TEST(timeline_chart, keeps_wanted_frames_whatever_the_budget) {
  const auto record = samples::two_models(timing_method::event, 1000);
  const auto data = drawn_of(record, {456, 123, 1000}, 10);
  EXPECT_EQ(numbers_of(data), (std::vector<std::size_t>{123, 456}));
  EXPECT_EQ(data.asked, (std::vector<std::size_t>{456, 123}));
  EXPECT_TRUE(data.slow.empty());
}

}  // namespace
}  // namespace graphline::report
