#include "framework/spec/node_reading.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "framework/spec/node.hpp"
#include "tests/spec/reading.hpp"

namespace graphline {
namespace {

/// The rendered diagnostics of `read`.
template <class Read>
std::string said(Read read) {
  diagnostics out;
  read(out);
  return out.render();
}

std::optional<std::int64_t> integer(const node& n) {
  diagnostics out;
  return read_integer(n, "n", out);
}

std::optional<double> number(const node& n) {
  diagnostics out;
  return read_number(n, "n", out);
}

TEST(read_integer, takes_all_of_a_decimal_text_and_nothing_else) {
  EXPECT_EQ(integer("0"), 0);
  EXPECT_EQ(integer("-12"), -12);
  EXPECT_EQ(integer("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  for (const char* text : {"", "-", "+5", "3.0", "1e3", "0x10", "0o17", "017", "-01", "1_000",
                           "12 ", " 12", "12a", "nan", ".inf", "true", "9223372036854775808"}) {
    EXPECT_FALSE(integer(text)) << text;
  }
  EXPECT_FALSE(integer(node::scalar("5", true, {})));
  EXPECT_FALSE(integer(node::sequence({5})));
  EXPECT_FALSE(integer(node()));
}

TEST(read_number, takes_decimal_fractions_and_exponents_that_are_finite) {
  EXPECT_EQ(number("1"), 1.0);
  EXPECT_EQ(number("-0.25"), -0.25);
  EXPECT_EQ(number(".5"), 0.5);
  EXPECT_EQ(number("1e-5"), 1e-5);
  EXPECT_EQ(number("1.5E3"), 1500.0);
  for (const char* text : {"nan", ".nan", "inf", ".inf", "-inf", "-.inf", "0x1p3", "1e999",
                           "-1e999", "00.5", "1,5", "1.5x", "e5", "--1", "."}) {
    EXPECT_FALSE(number(text)) << text;
  }
}

TEST(read_boolean, takes_on_and_off_and_true_and_false) {
  diagnostics out;
  EXPECT_EQ(read_boolean("on", "b", out), true);
  EXPECT_EQ(read_boolean("true", "b", out), true);
  EXPECT_EQ(read_boolean("off", "b", out), false);
  EXPECT_EQ(read_boolean("false", "b", out), false);
  EXPECT_FALSE(out.has_errors());
  EXPECT_FALSE(read_boolean("1", "b", out));
  EXPECT_FALSE(read_boolean(node::scalar("true", true, {}), "b", out));
}

TEST(read_percent, takes_a_part_of_a_whole_with_its_sign) {
  diagnostics out;
  EXPECT_DOUBLE_EQ(read_percent("1%", "margin", out).value_or(0), 0.01);
  EXPECT_DOUBLE_EQ(read_percent("0.25 %", "margin", out).value_or(0), 0.0025);
  EXPECT_FALSE(out.has_errors()) << out.render();
  for (const char* text : {"0.01", "0%", "100%", "-1%", "%", "x%", "1%%", "nan%", "1e999%"}) {
    EXPECT_FALSE(read_percent(text, "margin", out)) << text;
  }
}

TEST(what_cannot_be_read, is_told_with_what_was_expected_and_what_was_found) {
  EXPECT_EQ(said([](auto& out) {
              read_integer("abc", "frames", out);
              read_integer(node(), "frames", out);
              read_integer(node::scalar("5", true, {}), "frames", out);
              read_integer("9223372036854775808", "frames", out);
              read_integer("$batch", "n", out);  // built in C++
              read_integers(node::sequence({"a", 1, node::sequence({2})}), "k", out);
              read_shape(node::sequence({0}), "shape", out);
              read_shape(node::sequence({1 << 30, 1 << 30}), "shape", out);
              read_duration("20", "deadline", out);
              read_duration("9223372036854775807ns", "deadline", out);
              read_percent("0.01", "margin", out);
              read_names(node::sequence({"a", "b c", ".."}), "reads", out);
              read_word<wait_mode>("blok", "wait", out);
              read_word<wait_mode>(node::sequence({}), "wait", out);
            }),
            R"(error: 'frames' must be a whole number, found 'abc'
error: 'frames' must be a whole number, found nothing
error: 'frames' must be a whole number, found the quoted text '5'
error: 'frames' is out of range: '9223372036854775808'
error: 'n' must be a whole number, found '$batch'
error: 'k' must be a list of whole numbers, found 'a'
error: 'k' must be a list of whole numbers, found a list
error: each extent of 'shape' must be at least 1, found 0
error: 'shape' has more elements than any memory holds: [1073741824, 1073741824]
error: 'deadline' must be a duration in ns, us, ms, s or min, such as 20ms, found '20'
error: 'deadline' is out of range: '9223372036854775807ns'; the longest duration is 292 years
error: 'margin' must be a percentage more than 0% and less than 100%, such as 1%, found '0.01'
error: 'b c' cannot be the name of a member of 'reads': a name is made of letters, digits, '_', '-' and '.', at most 100 bytes
error: '..' cannot be the name of a member of 'reads': a name is made of letters, digits, '_', '-' and '.', at most 100 bytes
error: unknown value 'blok' for 'wait' (did you mean 'block'?)
error: 'wait' must be one of spin, yield, block, found a list)");
}

TEST(read_integers, takes_a_single_number_for_a_list_of_one) {
  diagnostics out;
  EXPECT_EQ(read_integers(3, "k", out), std::vector<std::int64_t>{3});
  EXPECT_EQ(read_integers(node::sequence({3, 4}), "k", out), (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(read_integers(node::sequence({}), "k", out), std::vector<std::int64_t>{});
  EXPECT_EQ(read_numbers(node::sequence({1, 0.5}), "k", out), (std::vector<double>{1.0, 0.5}));
  EXPECT_EQ(read_shape(7, "shape", out), (shape{7}));
  EXPECT_EQ(read_names("a", "reads", out).size(), 1U);
  EXPECT_FALSE(out.has_errors());
}

TEST(check_keys, reports_every_unknown_key_where_it_stands) {
  const auto source = std::make_shared<const source_text>("a.yaml", "x: {widht: 1, zebra: 2}");
  const node mapping = node::mapping(
      {{{"widht", {source, 1, 5, 5}}, 1}, {{"height", {}}, 1}, {{"zebra", {source, 1, 15, 5}}, 2}});
  EXPECT_EQ(said([&](auto& o) {
              check_keys(mapping, "a box", {"width", "height"}, o);
            }),
            "a.yaml:1:5: error: unknown key 'widht' in a box (did you mean 'width'?)\n"
            "    1 | x: {widht: 1, zebra: 2}\n"
            "      |     ^~~~~\n"
            "a.yaml:1:15: error: unknown key 'zebra' in a box (known: width, height)\n"
            "    1 | x: {widht: 1, zebra: 2}\n"
            "      |               ^~~~~");
}

TEST(an_unresolved_parameter, is_not_reported_a_second_time) {
  const auto source = std::make_shared<const source_text>("a.yaml", "n: $batch");
  const node in_a_file = node::scalar("$batch", false, {source, 1, 4, 6});
  EXPECT_EQ(said([&](auto& o) {
              EXPECT_FALSE(read_integer(in_a_file, "n", o));
              EXPECT_FALSE(read_text(in_a_file, "n", o));
              EXPECT_TRUE(read_names(in_a_file, "n", o).empty());
              EXPECT_FALSE(read_word<fill>(in_a_file, "n", o));
              EXPECT_FALSE(read_duration(in_a_file, "n", o));
            }),
            "");
}

TEST(a_name, has_up_to_100_bytes) {
  EXPECT_TRUE(is_name("a"));
  EXPECT_TRUE(is_name(std::string(100, 'a')));
  EXPECT_FALSE(is_name(std::string(101, 'a')));
  EXPECT_FALSE(is_name(""));
  EXPECT_FALSE(is_name(".."));
}

TEST(a_parameter, without_a_value_for_the_backend_needs_one_of_its_own) {
  const std::string text = "pipeline: p\nparams: {batch: {cuda: 32}, side: 4}\nstages: []\n";
  const auto said_with = [&](const char* given) {
    reading_options options;
    options.backend = "host";
    options.values = {{{given}, node::scalar("2", false, {})}};
    return read_pipeline_text(text, options).said.render();
  };
  EXPECT_NE(said_with("side").find("has no value for"), std::string::npos) << said_with("side");
  EXPECT_EQ(said_with("batch").find("has no value for"), std::string::npos) << said_with("batch");
}

TEST(an_input, has_no_type_where_its_shape_or_its_dtype_cannot_be_read) {
  const auto is_typed = [](const std::string& keys) {
    return read_pipeline_text("pipeline: p\ninputs: {x: {" + keys + "}}\nstages: []\n")
        .spec.inputs.at(0)
        .typed;
  };
  EXPECT_TRUE(is_typed("shape: [1, 2], dtype: float16"));
  EXPECT_FALSE(is_typed("shape: [1, two], dtype: float16"));
  EXPECT_FALSE(is_typed("shape: [1, 2], dtype: float17"));
}

TEST(node, holds_values_as_the_text_yaml_would) {
  EXPECT_EQ(node("abc").text(), "abc");
  EXPECT_EQ(node(-3).text(), "-3");
  EXPECT_EQ(node(std::numeric_limits<std::int64_t>::min()).text(), "-9223372036854775808");
  EXPECT_EQ(node(0.1).text(), "0.1");
  EXPECT_EQ(node(true).text(), "true");
  EXPECT_EQ(node(false).text(), "false");
  EXPECT_FALSE(node("abc").quoted());
}

TEST(node, is_shown_on_one_line_as_yaml_could_hold_it) {
  const node list = node::sequence({1, node::sequence({"a", true})});
  EXPECT_EQ(list.in_one_line(), "[1, [a, true]]");
  EXPECT_EQ(node::mapping({{{"cuda"}, 32}, {{"host"}, list}}).in_one_line(),
            "{cuda: 32, host: [1, [a, true]]}");
  EXPECT_EQ(node::scalar("1 2", true, {}).in_one_line(), "1 2");
  EXPECT_EQ(node().in_one_line(), "null");
}

}  // namespace
}  // namespace graphline
