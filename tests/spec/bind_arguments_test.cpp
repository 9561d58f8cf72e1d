#include <gmock/gmock.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "framework/spec/parameter.hpp"
#include "framework/spec/yaml_reader.hpp"

namespace graphline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

/// Parameters in YAML, bound to a schema.
struct binding {
  binding(const std::vector<parameter>& schema, const std::string& yaml,
          const std::string& directory = "pipelines") {
    const auto source = std::make_shared<source_text>("p.yaml", yaml);
    const node given = read_yaml(source, problems);
    bound = bind_arguments(schema, given, "stage 's' (test.kind)", {source, 1, 1, 1}, directory,
                           problems);
  }

  std::vector<std::string> messages() const {
    std::vector<std::string> all;
    for (const diagnostic& d : problems.all()) all.push_back(d.message);
    return all;
  }

  diagnostics problems;
  arguments bound;
};

/// A parameter "x"; `bounds` and `choices` where it has some.
parameter of(parameter_type type, std::optional<double> minimum = {},
             std::optional<double> maximum = {}, std::vector<std::string> choices = {}) {
  return {.name = "x",
          .type = type,
          .help = "A parameter.",
          .default_value = {},
          .minimum = minimum,
          .maximum = maximum,
          .choices = std::move(choices)};
}

parameter with_default(parameter_type type, std::string text) {
  parameter p = of(type);
  p.default_value = std::move(text);
  return p;
}

TEST(bind_arguments, takes_a_word_in_the_place_of_integers_where_there_is_one) {
  const parameter p = of(parameter_type::integers, 0, {}, {"same"});
  EXPECT_EQ(binding({p}, "x: same").bound.text("x"), "same");
  EXPECT_TRUE(binding({p}, "x: same").bound.holds_text("x"));
  for (const auto* numbers : {"x: 3", "x: [3]"}) {
    const binding b({p}, numbers);
    EXPECT_FALSE(b.bound.holds_text("x"));
    EXPECT_THAT(b.bound.integers("x"), ElementsAre(3));
  }
  EXPECT_FALSE(binding({p}, "").bound.holds_text("x"));
}

TEST(bind_arguments, reads_a_value_of_every_type) {
  EXPECT_EQ(binding({of(parameter_type::integer)}, "x: -7").bound.integer("x"), -7);
  EXPECT_EQ(binding({of(parameter_type::number)}, "x: 2.5").bound.number("x"), 2.5);
  EXPECT_DOUBLE_EQ(binding({of(parameter_type::percent)}, "x: 2.5%").bound.number("x"), 0.025);
  EXPECT_TRUE(binding({of(parameter_type::boolean)}, "x: true").bound.boolean("x"));
  EXPECT_EQ(binding({of(parameter_type::text)}, "x: some words").bound.text("x"), "some words");
  EXPECT_EQ(binding({of(parameter_type::duration)}, "x: 1.5ms").bound.duration("x"), 1'500'000);
  EXPECT_THAT(binding({of(parameter_type::integers)}, "x: [3, 1]").bound.integers("x"),
              ElementsAre(3, 1));
  EXPECT_THAT(binding({of(parameter_type::numbers)}, "x: [0.5, 1]").bound.numbers("x"),
              ElementsAre(0.5, 1.0));
  EXPECT_EQ(binding({of(parameter_type::shape)}, "x: [2, 3]").bound.extents("x"), (shape{2, 3}));
  EXPECT_EQ(binding({of(parameter_type::element)}, "x: float16").bound.element("x"),
            dtype::float16);
  EXPECT_TRUE(binding({of(parameter_type::tree)}, "x: {a: [1]}").bound.tree("x").is_mapping());
  EXPECT_EQ(
      binding({of(parameter_type::choice, {}, {}, {"fast", "exact"})}, "x: exact").bound.text("x"),
      "exact");
}

TEST(bind_arguments, refuses_a_value_of_the_wrong_type_or_range_and_leaves_it_absent) {
  const parameter in_px = {.name = "x",
                           .type = parameter_type::number,
                           .help = "",
                           .minimum = 1e-6,
                           .maximum = 12'345'678.5};
  const struct {
    parameter p;
    const char* yaml;
    const char* message;
  } cases[] = {
      {of(parameter_type::integer), "x: 2.5", "'x' must be a whole number, found '2.5'"},
      {of(parameter_type::number), "x: many", "'x' must be a number, found 'many'"},
      {of(parameter_type::boolean), "x: 3", "'x' must be on or off (or true or false), found '3'"},
      {of(parameter_type::text), "x: [a]", "'x' must be text, found a list"},
      {of(parameter_type::path), "x: {a: b}", "'x' must be text, found a mapping"},
      {of(parameter_type::path), "x: ''", "'x' must be a path, found an empty text"},
      {of(parameter_type::integers), "x: [1, a]", "'x' must be a list of whole numbers, found 'a'"},
      {of(parameter_type::integers, 0, {}, {"same"}), "x: sane",
       "unknown value 'sane' for 'x' (did you mean 'same'?)"},
      {of(parameter_type::integers, 0, {}, {"same"}), "x: -1", "'x' must be >= 0, found -1"},
      {of(parameter_type::element), "x: float31",
       "unknown value 'float31' for 'x' (did you mean 'float32'?)"},
      {of(parameter_type::choice, {}, {}, {"fast", "exact"}), "x: exakt",
       "unknown value 'exakt' for 'x' (did you mean 'exact'?)"},
      {of(parameter_type::number, 0, 1), "x: 1.5", "'x' must be 0 to 1, found 1.5"},
      {of(parameter_type::number, 0), "x: -1", "'x' must be >= 0, found -1"},
      {of(parameter_type::number, {}, 8), "x: 9", "'x' must be <= 8, found 9"},
      {of(parameter_type::duration, 1e6), "x: 10us", "'x' must be >= 1.00 ms, found 10.0 us"},
      {of(parameter_type::duration, 1), "x: 0ms", "'x' must be >= 1.00 ns, found 0 ns"},
      {in_px, "x: 1e8", "'x' must be 1e-06 to 12345678.5, found 100000000"}};
  for (const auto& [p, yaml, message] : cases) {
    const binding b({p}, yaml);
    EXPECT_THAT(b.messages(), ElementsAre(message)) << yaml;
    EXPECT_FALSE(b.bound.has("x")) << yaml;
  }
  EXPECT_EQ(binding({of(parameter_type::number, 0, 1)}, "x: 1").bound.number("x"), 1);
  EXPECT_EQ(binding({of(parameter_type::duration, 1)}, "x: 1ns").bound.duration("x"), 1);
}

TEST(bind_arguments, checks_the_range_of_each_number_in_a_list_at_its_place) {
  const binding b({of(parameter_type::integers, 1)}, "x: [1, 0, 2, -3]");
  EXPECT_THAT(b.messages(), ElementsAre("'x' must be >= 1, found 0", "'x' must be >= 1, found -3"));
  EXPECT_EQ(b.problems.all()[0].place.column, 8U);
  EXPECT_EQ(b.problems.all()[1].place.column, 14U);
}

TEST(bind_arguments, starts_relative_paths_at_the_directory) {
  const parameter path = of(parameter_type::path);
  EXPECT_EQ(binding({path}, "x: data/images").bound.text("x"), "pipelines/data/images");
  EXPECT_EQ(binding({path}, "x: ../data").bound.text("x"), "data");
  EXPECT_EQ(binding({path}, "x: data", ".").bound.text("x"), "data");
  EXPECT_EQ(binding({path}, "x: /data").bound.text("x"), "/data");
  EXPECT_EQ(binding({with_default(parameter_type::path, "data")}, "{}").bound.text("x"),
            "pipelines/data");
}

TEST(bind_arguments, reports_everything_that_is_wrong_at_once) {
  parameter required = of(parameter_type::integer, 1);
  required.name = "needed";
  required.required = true;
  const binding b({of(parameter_type::integer), required}, "{x: abc, neded: 1}");
  EXPECT_THAT(b.messages(),
              ElementsAre("unknown key 'neded' in stage 's' (test.kind) (did you mean 'needed'?)",
                          "'x' must be a whole number, found 'abc'",
                          "stage 's' (test.kind) needs 'needed' (whole number >= 1)"));
  EXPECT_EQ(b.problems.all()[0].place.column, 10U);
  EXPECT_EQ(b.problems.all()[2].place.column, 1U) << "at the stage";
}

TEST(bind_arguments, takes_nothing_at_all_for_an_empty_mapping_and_nothing_else) {
  diagnostics problems;
  const arguments bound = bind_arguments({with_default(parameter_type::integer, "4")}, node(),
                                         "layer 0", {}, ".", problems);
  EXPECT_FALSE(problems.has_errors());
  EXPECT_EQ(bound.integer("x"), 4);
  bind_arguments({}, node("relu"), "layer 0", {}, ".", problems);
  ASSERT_THAT(problems.all(), SizeIs(1));
  EXPECT_EQ(problems.all()[0].message, "the parameters of layer 0 must be a mapping, found 'relu'");
}

TEST(bind_arguments, keeps_defaults_at_the_place_of_their_owner_where_nothing_sound_is_given) {
  const binding b({with_default(parameter_type::numbers, "[0.5, 2]")}, "{}");
  EXPECT_THAT(b.bound.numbers("x"), ElementsAre(0.5, 2.0));
  EXPECT_EQ(b.bound.where("x").source, b.bound.where().source);
  EXPECT_EQ(binding({with_default(parameter_type::integer, "4")}, "x: abc").bound.integer("x"), 4);
  const binding optional({of(parameter_type::number)}, "{}");
  EXPECT_FALSE(optional.problems.has_errors());
  EXPECT_FALSE(optional.bound.has("x"));
}

TEST(bind_arguments, refuses_a_schema_whose_default_is_wrong_even_when_a_value_is_given) {
  EXPECT_THROW(binding({with_default(parameter_type::integer, "four")}, "x: 4"), std::logic_error);
  parameter p = with_default(parameter_type::integer, "0");
  p.minimum = 1;
  EXPECT_THROW(binding({p}, "x: 4"), std::logic_error);
}

TEST(arguments, refuse_to_be_read_as_another_type_or_when_absent) {
  const binding b({of(parameter_type::integer)}, "x: 1");
  EXPECT_THROW(b.bound.number("x"), std::logic_error);
  EXPECT_THROW(b.bound.integer("y"), std::logic_error);
}

TEST(describe_type, names_choices_and_ranges) {
  EXPECT_EQ(describe_type(of(parameter_type::choice, {}, {}, {"zeros", "ones"})), "zeros | ones");
  EXPECT_EQ(describe_type(of(parameter_type::integers, 0, {}, {"same"})),
            "whole numbers >= 0 or same");
  EXPECT_EQ(describe_type(of(parameter_type::number)), "number");
  EXPECT_EQ(describe_type(of(parameter_type::number, 0, 0.5)), "number 0 to 0.5");
  EXPECT_EQ(describe_type(of(parameter_type::number, {}, 0.5)), "number <= 0.5");
}

}  // namespace
}  // namespace graphline
