#include "framework/report/html/timeline_data.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "framework/analysis/run/timeline.hpp"
#include "framework/report/html/page_parts.hpp"
#include "tests/analysis/sample_records.hpp"

namespace graphline {
namespace {

using json = nlohmann::ordered_json;

json timeline_of(const run_record& record, std::vector<std::size_t> wanted = {},
                 std::size_t budget = timeline_budget) {
  const auto summary = attribute(record);
  return timeline_data(record, *summary, wanted, budget);
}

std::vector<std::size_t> numbers_of(const json& data) {
  std::vector<std::size_t> numbers;
  for (const auto& frame : data["frames"]) numbers.push_back(frame[0]);
  return numbers;
}

bool keeps(const json& data, std::size_t frame) {
  const auto numbers = numbers_of(data);
  return std::binary_search(numbers.begin(), numbers.end(), frame);
}

json or_null(std::optional<std::size_t> index) {
  return index ? json(*index) : json(nullptr);
}

TEST(timeline_data, keeps_every_stamp_to_the_nanosecond) {
  const auto record = samples::two_models_in_parts(20);
  const auto data = timeline_of(record);
  const timeline picture(record);
  ASSERT_EQ(data["frames"].size(), 20U);
  for (std::size_t frame = 0; frame < 20; ++frame) {
    const auto row = data["frames"][frame].get<std::vector<nanoseconds>>();
    const auto& at = record.frames[frame];
    EXPECT_EQ(row[1], at.due);
    EXPECT_EQ(row[2], at.begin - at.due);
    EXPECT_EQ(row[3], at.end - at.due);
    const auto spans = picture.spans_of(frame);
    ASSERT_EQ(row[5], static_cast<nanoseconds>(spans.size()));
    nanoseconds begin = at.due;
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const auto& span = spans[i];
      const auto& what = data["spans"][static_cast<std::size_t>(row[6 + 3 * i])];
      begin += row[7 + 3 * i];
      EXPECT_EQ(begin, span.begin);
      EXPECT_EQ(row[8 + 3 * i], span.end - span.begin);
      EXPECT_EQ(what[0], static_cast<std::size_t>(span.what));
      EXPECT_EQ(what[1], span.lane);
      EXPECT_EQ(what[2], or_null(span.stage));
      const bool part = span.what == timeline_span::kind::part;
      EXPECT_EQ(what[3], part ? json(span.part) : json(nullptr));
    }
  }
}

TEST(timeline_data, names_kinds_by_their_values_in_words_that_the_page_knows) {
  const auto data = timeline_of(samples::two_models(timing_method::event, 20));
  for (const auto& [word, what] : timeline_span_words) {
    EXPECT_EQ(data["kinds"][static_cast<std::size_t>(what)], word);
    for (const auto* table : {"const spanWords = {", "const spanColours = {"}) {
      const auto begin = page_script.find(table);
      ASSERT_NE(begin, page_script.npos);
      const auto entries = page_script.substr(begin, page_script.find("};", begin) - begin);
      EXPECT_NE(entries.find(" " + std::string(word) + ": "), entries.npos) << table << word;
    }
  }
  for (const auto& [word, what] : spent_words) {
    EXPECT_EQ(data["spent"][static_cast<std::size_t>(what)], word);
  }
}

TEST(timeline_data, has_pieces_that_add_up_to_each_frame_with_its_residual) {
  const auto record = samples::two_models_on_schedule(50);
  const auto data = timeline_of(record);
  for (const auto& frame : data["frames"]) {
    const auto row = frame.get<std::vector<nanoseconds>>();
    nanoseconds sum = row[4];
    for (std::size_t i = 6 + 3 * static_cast<std::size_t>(row[5]); i < row.size(); i += 3) {
      EXPECT_LT(static_cast<std::size_t>(row[i]), data["pieces"].size());
      sum += row[i + 2];
    }
    EXPECT_EQ(sum, row[3]) << "frame " << row[0];
  }
}

TEST(timeline_data, keeps_all_frames_where_there_is_room) {
  const auto data = timeline_of(samples::two_models(timing_method::event, 300));
  EXPECT_EQ(data["total"], 300U);
  EXPECT_EQ(data["frames"].size(), 300U);
}

TEST(timeline_data, stays_within_its_budget_and_spreads_what_it_keeps) {
  constexpr std::size_t total = 20'000;
  constexpr std::size_t budget = 100'000;
  const auto record = samples::two_models(timing_method::event, total);
  const auto data = timeline_of(record, {}, budget);
  EXPECT_LE(data["frames"].dump().size(), budget + 2);
  EXPECT_GT(data["frames"].dump().size(), budget * 9 / 10);
  auto numbers = numbers_of(data);
  EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
  EXPECT_EQ(std::set(numbers.begin(), numbers.end()).size(), numbers.size());
  numbers.insert(numbers.begin(), 0);
  numbers.push_back(total);
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    EXPECT_LT(numbers[i] - numbers[i - 1], total / 50);
  }
}

TEST(timeline_data, names_only_frames_that_it_keeps) {
  auto record = samples::two_models(timing_method::event, 20'000);
  record.run.deadline = 74'000'000;
  const auto data = timeline_of(record, {}, 100'000);
  EXPECT_TRUE(keeps(data, data["median"]));
  EXPECT_TRUE(keeps(data, data["slowest"]));
  EXPECT_EQ(data["slow"].size(), 50U);
  EXPECT_EQ(data["slow"][0], data["slowest"]);
  EXPECT_EQ(data["typical"].size(), 50U);
  EXPECT_EQ(data["missed"].size(), 100U);
  for (const auto* list : {"slow", "typical", "missed"}) {
    for (const auto& frame : data[list]) EXPECT_TRUE(keeps(data, frame)) << list << ' ' << frame;
  }
  for (const auto& frame : data["missed"]) {
    const auto& at = record.frames[frame.get<std::size_t>()];
    EXPECT_GT(at.end - at.due, 74'000'000);
  }
}

TEST(timeline_data, keeps_the_frames_in_flight_with_the_slowest) {
  auto record = samples::two_models(timing_method::event, 20'000);
  record.run.in_flight = 2;
  record.frames[777].end += 90'000'000;
  const auto data = timeline_of(record, {}, 100'000);
  EXPECT_EQ(data["slowest"], 777U);
  for (std::size_t frame = 775; frame <= 779; ++frame) EXPECT_TRUE(keeps(data, frame));
}

TEST(timeline_data, keeps_wanted_frames_whatever_the_budget) {
  const auto record = samples::two_models(timing_method::event, 1000);
  const auto data = timeline_of(record, {456, 123, 1000}, 10);
  EXPECT_EQ(numbers_of(data), (std::vector<std::size_t>{123, 456}));
  EXPECT_EQ(data["asked"], json({456, 123}));
  EXPECT_TRUE(data["slow"].empty());
}

TEST(timeline_data, says_what_is_not_known_by_leaving_it_out) {
  auto record = samples::two_models(timing_method::event, 5);
  record.run.deadline.reset();
  const auto data = timeline_of(record);
  EXPECT_TRUE(data["deadline"].is_null());
  EXPECT_TRUE(data["missed"].empty());
  EXPECT_EQ(data["clock_error"], 80);
}

TEST(timeline_data, has_lanes_of_any_name) {
  auto record = samples::two_models(timing_method::event, 5);
  record.threads[0] = "</script>\n\"main\"";
  record.stages[0].stream = record.stages[2].stream = "\xd8\xaa\xd8\xaf\xd9\x81\xd9\x82";
  const auto data = timeline_of(record);
  ASSERT_EQ(data["lanes"].size(), 2U);
  EXPECT_EQ(data["lanes"][0]["kind"], "thread");
  EXPECT_EQ(data["lanes"][0]["name"], record.threads[0]);
  EXPECT_EQ(data["lanes"][1]["kind"], "stream");
  EXPECT_EQ(data["lanes"][1]["name"], record.stages[0].stream);
}

}  // namespace
}  // namespace graphline
