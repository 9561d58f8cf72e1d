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

constexpr std::size_t ample = 200'000;

timeline_chart drawn_of(const run_record& record, std::size_t most_numbers = ample) {
  return timeline_of(record, attribute(record)->median_frame, most_numbers);
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
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const auto& span = spans[i];
      const bool part = span.what == timeline_span::kind::part;
      const std::vector<nanoseconds> expected = {static_cast<nanoseconds>(span.what),
                                                 static_cast<nanoseconds>(span.lane),
                                                 or_none(span.stage),
                                                 part ? static_cast<nanoseconds>(span.part) : -1,
                                                 span.begin - at.due,
                                                 span.end - span.begin,
                                                 0};
      const auto from = row.begin() + 6 + 7 * static_cast<std::ptrdiff_t>(i);
      EXPECT_EQ(std::vector(from, from + 7), expected);
    }
  }
}

TEST(timeline_chart, marks_starts_that_the_policy_decided) {
  auto record = samples::two_models(timing_method::event, 20);
  for (auto& stage : record.stages) stage.preferred.assign(20, 0);
  record.stages[1].preferred[4] = 3;
  record.stages[2].preferred[4] = -1;
  const auto row = drawn_of(record).frames[4];
  std::multiset<std::pair<nanoseconds, nanoseconds>> marked;  // stages and what they passed over
  for (nanoseconds i = 0; i < row[5]; ++i) {
    const auto span = row.begin() + 6 + 7 * i;
    if (span[6] != 0) marked.emplace(span[2], span[6]);
  }
  EXPECT_EQ(marked, (std::multiset<std::pair<nanoseconds, nanoseconds>>{{1, 3}, {2, -1}}));
}

TEST(timeline_chart, names_kinds_and_categories_by_their_values_in_colors_that_the_page_has) {
  const auto data =
      chart_data({"", "", "", drawn_of(samples::two_models(timing_method::event, 20))});
  const auto has_color = [](const std::string& category) {
    return page_style.find("--" + category + ":") != page_style.npos;
  };
  for (const auto& [word, what] : timeline_span_words) {
    const auto& kind = data["kinds"][static_cast<std::size_t>(what)];
    EXPECT_EQ(kind["kind"], word);
    EXPECT_TRUE(has_color(kind["category"])) << word;
  }
  for (const auto& [word, what] : time_category_words) {
    const auto& category = data["categories"][static_cast<std::size_t>(what)];
    EXPECT_EQ(category["category"], word);
    EXPECT_EQ(category["name"], in_words(what));
    EXPECT_NE(category["help"], "");
    EXPECT_TRUE(has_color(category["category"])) << word;
  }
}

TEST(timeline_chart, stays_within_its_budget_and_spreads_what_it_keeps) {
  constexpr std::size_t total = 20'000;
  constexpr std::size_t most = 30'000;
  const auto record = samples::two_models(timing_method::event, total);
  const auto data = drawn_of(record, most);
  std::size_t kept = 0;
  for (const auto& row : data.frames) kept += row.size();
  EXPECT_LE(kept, most);
  EXPECT_GT(kept, most * 8 / 10);
  auto numbers = numbers_of(data);
  EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
  EXPECT_EQ(std::set(numbers.begin(), numbers.end()).size(), numbers.size());
  numbers.insert(numbers.begin(), 0);
  numbers.push_back(total);
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    EXPECT_LT(numbers[i] - numbers[i - 1], total / 50);
  }
}

TEST(timeline_chart, keeps_the_frames_in_flight_with_the_slowest) {
  auto record = samples::two_models(timing_method::event, 20'000);
  record.run.in_flight = 2;
  record.frames[777].end += 90'000'000;
  const auto data = drawn_of(record, 30'000);
  EXPECT_TRUE(keeps(data, data.median));
  for (std::size_t frame = 775; frame <= 779; ++frame) EXPECT_TRUE(keeps(data, frame));
}

TEST(timeline_chart, keeps_one_frame_at_the_least) {
  const auto data = drawn_of(samples::two_models(timing_method::event, 1000), 10);
  EXPECT_EQ(numbers_of(data), (std::vector<std::size_t>{data.median}));
}

}  // namespace
}  // namespace graphline::report
