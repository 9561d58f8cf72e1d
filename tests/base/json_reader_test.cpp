#include "framework/base/json_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace graphline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using json = nlohmann::ordered_json;

std::string nested(std::size_t depth) {
  return std::string(depth, '[') + "1" + std::string(depth, ']');
}

json_error why_refused(std::string_view text) {
  try {
    read_json(text);
  } catch (const json_error& why) {
    return why;
  }
  return {0, "none"};
}

TEST(json_reader, reads_what_the_library_reads) {
  for (const std::string text :
       {"null", "true", "-3", "18446744073709551615", "-9223372036854775808", "1e-3", "\"\\u00e4\"",
        "[]", "{}", "[1, [2, {\"a\": []}], {}]",
        R"({"b": {"x": [1, 2.5, "t"], "y": null}, "a": [{"k": false}, {"k": {}}]})"}) {
    EXPECT_EQ(read_json(text), json::parse(text)) << text;
    EXPECT_EQ(read_json(text).dump(), json::parse(text).dump()) << text;  // the order of keys too
  }
}

TEST(json_reader, refuses_what_is_nested_too_deeply) {
  EXPECT_EQ(read_json(nested(max_json_depth)), json::parse(nested(max_json_depth)));
  EXPECT_STREQ(why_refused(nested(max_json_depth + 1)).what(),
               "lists and objects are nested more than 64 deep");
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += R"({"[\"[":)";
  for (const std::string& text : {std::string(1'000'000, '['), objects,
                                  R"({"passed over": )" + nested(max_json_depth) + "}"}) {
    EXPECT_THAT(why_refused(text).what(), HasSubstr("nested"));
  }
}

TEST(json_reader, says_why_without_the_name_of_the_library) {
  for (const std::string text : {"", "{\"a\": ", "nul", "[1,]", "\"\xff\"", "{} x", "1e999"}) {
    EXPECT_THAT(why_refused(text).what(),
                AllOf(Not(HasSubstr("exception")), Not(HasSubstr("none"))))
        << text;
    EXPECT_EQ(find_json(text), std::nullopt) << text;
  }
  EXPECT_STREQ(why_refused("{\"a\": ").what(), "it ends too early");
  EXPECT_STREQ(why_refused("1e999").what(), "a number in it is larger than any that can be held");
}

TEST(json_reader, takes_time_that_grows_with_the_text) {
  std::string entries = "{";
  std::string objects = "[";
  for (int i = 0; i < 400'000; ++i) {
    entries += '"' + std::to_string(i) + R"(":{"a":[1]},)";
    objects += "{},";
  }
  // Minutes where each looks at those before it, 80,000,000,000 looks; the time limit of tests is
  // one.
  EXPECT_EQ(read_json(entries + "\"a\":0}").size(), 400'001U);
  EXPECT_EQ(read_json(objects + "0]").size(), 400'001U);
}

TEST(json_reader, takes_memory_in_proportion_to_the_text) {
  for (const std::string value : {"[]", "{}", R"("")", R"({"":{}})", R"(["",""])"}) {
    std::string text = "[" + value;
    while (text.size() < 10'000'000) text += ',' + value;
    EXPECT_THAT(why_refused(text + ']').what(), HasSubstr("more values than a file of its size"));
  }
  // Numbers are what large results are made of.
  std::string numbers = "[1";
  while (numbers.size() < 10'000'000) numbers += ",123456789";
  EXPECT_TRUE(read_json(numbers + ']').is_array());
}

TEST(json_reader, keeps_equal_keys_and_finds_the_first) {
  const auto value = read_json(R"({"a": 1, "a": 2})");
  EXPECT_EQ(value.size(), 2U);
  EXPECT_EQ(*value.find("a"), 1);
}

}  // namespace
}  // namespace graphline
