#include "framework/spec/node_reading.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tests/spec/reading.hpp"

namespace graphline {
namespace {

/// What one reading said, the place left away.
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

TEST(read_integer, takes_all_of_a_decimal_text) {
  EXPECT_EQ(integer("0"), 0);
  EXPECT_EQ(integer("-12"), -12);
  EXPECT_EQ(integer("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
}

TEST(read_integer, refuses_everything_else) {
  for (const char* text : {"", "-", "+5", "3.0", "1e3", "0x10", "0o17", "017", "-01", "1_000",
                           "12 ", " 12", "12a", "nan", ".inf", "true", "9223372036854775808"}) {
    EXPECT_FALSE(integer(text)) << text;
  }
  EXPECT_FALSE(integer(node::scalar("5", true, {})));
  EXPECT_FALSE(integer(node::sequence({5})));
  EXPECT_FALSE(integer(node()));
}

TEST(read_integer, says_what_was_expected_and_what_was_found) {
  EXPECT_EQ(said([](auto& out) { read_integer("abc", "frames", out); }),
            "error: 'frames' must be a whole number, found 'abc'");
  EXPECT_EQ(said([](auto& out) { read_integer(node(), "frames", out); }),
            "error: 'frames' must be a whole number, found nothing");
  EXPECT_EQ(said([](auto& out) { read_integer(node::scalar("5", true, {}), "frames", out); }),
            "error: 'frames' must be a whole number, found the quoted text '5'");
  EXPECT_EQ(said([](auto& out) { read_integer("9223372036854775808", "frames", out); }),
            "error: 'frames' is out of range: '9223372036854775808'");
}

TEST(read_number, takes_decimal_fractions_and_exponents) {
  EXPECT_EQ(number("1"), 1.0);
  EXPECT_EQ(number("-0.25"), -0.25);
  EXPECT_EQ(number(".5"), 0.5);
  EXPECT_EQ(number("1e-5"), 1e-5);
  EXPECT_EQ(number("1.5E3"), 1500.0);
}

TEST(read_number, refuses_what_is_not_finite_or_not_decimal) {
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
  EXPECT_EQ(out.all().size(), 2U);
}

TEST(read_text, takes_any_scalar) {
  diagnostics out;
  EXPECT_EQ(read_text("5", "t", out), "5");
  EXPECT_EQ(read_text(node::scalar("", true, {}), "t", out), "");
  EXPECT_FALSE(out.has_errors());
  EXPECT_FALSE(read_text(node(), "t", out));
  EXPECT_FALSE(read_text(node::mapping({}), "t", out));
  EXPECT_EQ(out.all().size(), 2U);
}

TEST(read_duration, proposes_a_unit_where_only_that_is_missing) {
  diagnostics out;
  EXPECT_EQ(read_duration("20ms", "deadline", out), 20'000'000);
  EXPECT_FALSE(out.has_errors());
  EXPECT_EQ(said([](auto& o) { read_duration("20", "deadline", o); }),
            "error: 'deadline' needs a unit, such as 20ms");
  EXPECT_EQ(
      said([](auto& o) { read_duration("-20ms", "deadline", o); }),
      "error: 'deadline' must be a duration in ns, us, ms, s or min, such as 20ms, found '-20ms'");
}

TEST(read_percent, takes_a_part_of_a_whole_with_its_sign) {
  diagnostics out;
  EXPECT_DOUBLE_EQ(read_percent("1%", "margin", out).value_or(0), 0.01);
  EXPECT_DOUBLE_EQ(read_percent("0.25 %", "margin", out).value_or(0), 0.0025);
  EXPECT_FALSE(out.has_errors()) << out.render();
  EXPECT_EQ(said([](auto& o) { read_percent("0.01", "margin", o); }),
            "error: 'margin' needs %, such as 1%");
  EXPECT_EQ(said([](auto& o) { read_percent("0%", "margin", o); }),
            "error: 'margin' must be more than 0% and less than 100%, found '0%'");
  EXPECT_EQ(said([](auto& o) { read_percent("-1%", "margin", o); }),
            "error: 'margin' must be more than 0% and less than 100%, found '-1%'");
  for (const char* text : {"%", "x%", "1%%", "nan%", "1e999%", "one"}) {
    EXPECT_EQ(
        said([&](auto& o) { read_percent(text, "margin", o); }),
        std::string("error: 'margin' must be a percentage, such as 1%, found '") + text + "'");
  }
  EXPECT_FALSE(read_percent(node::sequence({"1%"}), "margin", out));
}

TEST(read_integers, takes_a_single_number_for_a_list_of_one) {
  diagnostics out;
  EXPECT_EQ(read_integers(3, "k", out), std::vector<std::int64_t>{3});
  EXPECT_EQ(read_integers(node::sequence({3, 4}), "k", out), (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(read_integers(node::sequence({}), "k", out), std::vector<std::int64_t>{});
  EXPECT_FALSE(out.has_errors());
}

TEST(read_integers, reports_every_wrong_item) {
  EXPECT_EQ(said([](auto& o) {
              EXPECT_FALSE(read_integers(node::sequence({"a", 1, 2.5}), "k", o));
            }),
            "error: 'k' must be a list of whole numbers, found 'a'\n"
            "error: 'k' must be a list of whole numbers, found '2.5'");
  EXPECT_EQ(said([](auto& o) { EXPECT_FALSE(read_integers(node::mapping({}), "k", o)); }),
            "error: 'k' must be a list of whole numbers, found a mapping");
}

TEST(read_numbers, takes_whole_and_broken_numbers) {
  diagnostics out;
  EXPECT_EQ(read_numbers(node::sequence({1, 0.5}), "k", out), (std::vector<double>{1.0, 0.5}));
  EXPECT_FALSE(read_numbers(node::sequence({"x"}), "k", out));
}

TEST(read_shape, wants_extents_of_at_least_one_that_fit_any_memory) {
  diagnostics out;
  EXPECT_EQ(read_shape(node::sequence({2, 3}), "shape", out), (shape{2, 3}));
  EXPECT_EQ(read_shape(7, "shape", out), (shape{7}));
  EXPECT_FALSE(out.has_errors());
  EXPECT_EQ(said([](auto& o) { EXPECT_FALSE(read_shape(node::sequence({0}), "shape", o)); }),
            "error: each extent of 'shape' must be at least 1, found 0");
  const node absurd = node::sequence({1 << 30, 1 << 30});
  EXPECT_EQ(said([&](auto& o) { EXPECT_FALSE(read_shape(absurd, "shape", o)); }),
            "error: 'shape' has more elements than any memory holds: [1073741824, 1073741824]");
}

TEST(read_dtype, knows_every_dtype) {
  diagnostics out;
  for (const std::string& name : dtype_names())
    EXPECT_EQ(read_dtype(name, "d", out), dtype_from(name));
  EXPECT_EQ(said([](auto& o) { EXPECT_FALSE(read_dtype("float", "dtype", o)); }),
            "error: unknown value 'float' for 'dtype' (did you mean 'float32'?)");
}

TEST(read_names, takes_one_name_or_a_list) {
  diagnostics out;
  EXPECT_EQ(read_names("a", "reads", out).size(), 1U);
  EXPECT_EQ(read_names(node::sequence({"a", "b"}), "reads", out).size(), 2U);
  EXPECT_FALSE(out.has_errors());
}

TEST(read_names, leaves_out_what_is_no_name) {
  EXPECT_EQ(said([](auto& o) {
              const auto names = read_names(node::sequence({"a", "b c", "d/e", ".."}), "reads", o);
              EXPECT_EQ(names.size(), 1U);
            }),
            "error: 'b c' cannot be the name of a member of 'reads': a name is made of letters, "
            "digits, '_', '-' and '.'\n"
            "error: 'd/e' cannot be the name of a member of 'reads': a name is made of letters, "
            "digits, '_', '-' and '.'\n"
            "error: '..' cannot be the name of a member of 'reads': a name is made of letters, "
            "digits, '_', '-' and '.'");
}

TEST(read_word, reads_the_words_of_an_enumeration) {
  diagnostics out;
  EXPECT_EQ(read_word<wait_mode>("yield", "wait", out), wait_mode::yield);
  EXPECT_EQ(said([](auto& o) { EXPECT_FALSE(read_word<wait_mode>("blok", "wait", o)); }),
            "error: unknown value 'blok' for 'wait' (did you mean 'block'?)");
  EXPECT_EQ(
      said([](auto& o) { EXPECT_FALSE(read_word<wait_mode>(node::sequence({}), "wait", o)); }),
      "error: 'wait' must be one of spin, yield, block, found a list");
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
  EXPECT_EQ(said([&](auto& o) { EXPECT_FALSE(read_integer(in_a_file, "n", o)); }), "");
  EXPECT_EQ(said([&](auto& o) { EXPECT_FALSE(read_text(in_a_file, "n", o)); }), "");
  EXPECT_EQ(said([&](auto& o) { EXPECT_TRUE(read_names(in_a_file, "n", o).empty()); }), "");
  EXPECT_EQ(said([&](auto& o) { EXPECT_FALSE(read_word<fill>(in_a_file, "n", o)); }), "");
  EXPECT_EQ(said([&](auto& o) { EXPECT_FALSE(read_duration(in_a_file, "n", o)); }), "");
}

TEST(a_dollar_sign, in_a_value_built_in_cpp_is_reported_like_any_other_text) {
  EXPECT_EQ(said([](auto& o) { EXPECT_FALSE(read_integer("$batch", "n", o)); }),
            "error: 'n' must be a whole number, found '$batch'");
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

TEST(a_stage_without_a_name, is_not_said_to_have_misspelt_what_is_nothing_like_it) {
  const std::string text =
      read_pipeline_text("pipeline: p\nstages:\n  - {kind: network, layers: [relu]}\n")
          .said.render();
  EXPECT_NE(text.find("a stage needs a 'name'\n"), std::string::npos) << text;
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

}  // namespace
}  // namespace graphline
