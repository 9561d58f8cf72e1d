#include "framework/report/json/json_text.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace graphline {
namespace {

using json = nlohmann::ordered_json;

TEST(json_text, puts_objects_over_lines_and_plain_arrays_on_one) {
  const json value = {{"name", "x"},
                      {"samples", {1, 2.5, nullptr, true}},
                      {"stages", {{{"on", "cpu"}}, {{"on", "device"}}}},
                      {"none", json::array()},
                      {"empty", json::object()}};
  EXPECT_EQ(json_text(value), R"({
  "name": "x",
  "samples": [1, 2.5, null, true],
  "stages": [
    {
      "on": "cpu"
    },
    {
      "on": "device"
    }
  ],
  "none": [],
  "empty": {}
}
)");
}

TEST(json_text, writes_null_for_what_json_has_no_number_for) {
  EXPECT_EQ(json_text({std::numeric_limits<double>::infinity(),
                       std::numeric_limits<double>::quiet_NaN()}),
            "[null, null]\n");
}

TEST(json_text, reads_back_as_the_same_double) {
  for (const double value : {0.1, 1.0 / 3, 1e-300, 123456789.123456, -0.0, 1e22}) {
    EXPECT_EQ(json::parse(json_text(value)).get<double>(), value);
  }
}

TEST(json_text, writes_times_that_were_taken_to_the_nanosecond) {
  EXPECT_EQ(json_text(milliseconds(nanoseconds{70'123'456})), "70.123456\n");
  EXPECT_EQ(json_text(milliseconds(nanoseconds{86'400'000'123'456'789})), "86400000123.45679\n");
}

TEST(json_text, writes_means_to_the_thousandth_of_a_nanosecond) {
  EXPECT_EQ(json_text(milliseconds(64.4)), "6.44e-05\n");
  EXPECT_EQ(json_text(milliseconds(70'123'456.0)), "70.123456\n");
  EXPECT_EQ(json_text(milliseconds(70'000'000 + 1.0 / 3)), "70.000000333\n");
}

TEST(json_text, types_only_what_json_itself_would) {
  EXPECT_EQ(typed("8"), 8);
  EXPECT_EQ(typed("-0.5"), -0.5);
  EXPECT_EQ(typed("false"), false);
  EXPECT_EQ(typed("0x10"), "0x10");
  EXPECT_EQ(typed(""), "");
  EXPECT_EQ(typed("null"), "null");
  EXPECT_EQ(typed("\"quoted\""), "\"quoted\"");
}

}  // namespace
}  // namespace graphline
