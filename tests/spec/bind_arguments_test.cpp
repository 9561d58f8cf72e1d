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
using testing::IsEmpty;
using testing::SizeIs;

/// Parameters as they would stand in a file, bound to a schema.
struct binding {
  binding(const std::vector<parameter>& schema, const std::string& yaml,
          const std::string& directory = "pipelines") {
    const auto source = std::make_shared<source_text>("p.yaml", yaml);
    const node given = read_yaml(source, problems);
    bound = bind_arguments(schema, given, "stage 's' (test.kind)", owner_place(source), directory,
                           problems);
  }

  static place owner_place(const std::shared_ptr<const source_text>& source) {
    return {source, 1, 1, 1};
  }

  std::vector<std::string> messages() const {
    std::vector<std::string> all;
    for (const diagnostic& d : problems.all()) all.push_back(d.message);
    return all;
  }

  diagnostics problems;
  arguments bound;
};

parameter of(parameter_type type) {
  return {.name = "x", .type = type, .help = "A parameter.", .default_value = {}};
}

parameter with_default(parameter_type type, std::string text) {
  parameter p = of(type);
  p.default_value = std::move(text);
  return p;
}

TEST(bind_arguments, takes_a_word_in_the_place_of_integers_where_there_is_one) {
  parameter p = of(parameter_type::integers);
  p.choices = {"same"};
  p.minimum = 0;
  EXPECT_EQ(binding({p}, "x: same").bound.text("x"), "same");
  EXPECT_TRUE(binding({p}, "x: same").bound.holds_text("x"));
  for (const auto* numbers : {"x: 3", "x: [3]"}) {
    const binding b({p}, numbers);
    EXPECT_FALSE(b.bound.holds_text("x"));
    EXPECT_THAT(b.bound.integers("x"), ElementsAre(3));
  }
  EXPECT_THAT(binding({p}, "x: sane").messages(), ElementsAre(HasSubstr("(did you mean 'same'?)")));
  EXPECT_THAT(binding({p}, "x: -1").messages(), ElementsAre("'x' must be at least 0, found -1"));
  EXPECT_THAT(binding({p}, "x: 1.5").messages(), SizeIs(1));
  EXPECT_FALSE(binding({p}, "").bound.holds_text("x"));
  EXPECT_EQ(describe_type(p), "whole numbers >= 0 or same");
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

  parameter choice = of(parameter_type::choice);
  choice.choices = {"fast", "exact"};
  EXPECT_EQ(binding({choice}, "x: exact").bound.text("x"), "exact");
}

TEST(bind_arguments, refuses_a_value_of_the_wrong_type_and_leaves_it_absent) {
  const std::vector<std::pair<parameter_type, std::string>> wrong = {
      {parameter_type::integer, "x: 2.5"},     {parameter_type::number, "x: many"},
      {parameter_type::boolean, "x: 3"},       {parameter_type::text, "x: [a]"},
      {parameter_type::path, "x: {a: b}"},     {parameter_type::duration, "x: 20"},
      {parameter_type::integers, "x: [1, a]"}, {parameter_type::numbers, "x: [1, a]"},
      {parameter_type::shape, "x: [2, 0]"},    {parameter_type::element, "x: float31"},
  };
  for (const auto& [type, yaml] : wrong) {
    const binding b({of(type)}, yaml);
    EXPECT_THAT(b.messages(), SizeIs(1)) << to_string(type);
    EXPECT_THAT(b.problems.render(), HasSubstr("'x'")) << to_string(type);
    EXPECT_FALSE(b.bound.has("x")) << to_string(type);
  }
}

TEST(bind_arguments, refuses_a_word_that_is_no_choice_and_suggests_one) {
  parameter choice = of(parameter_type::choice);
  choice.choices = {"fast", "exact"};
  const binding b({choice}, "x: exakt");
  EXPECT_THAT(b.messages(), ElementsAre(HasSubstr("did you mean 'exact'?")));
  EXPECT_FALSE(b.bound.has("x"));
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

TEST(bind_arguments, refuses_an_empty_path) {
  const binding b({of(parameter_type::path)}, "x: \"\"");
  EXPECT_THAT(b.messages(), ElementsAre("'x' must be a path, found an empty text"));
}

TEST(bind_arguments, suggests_the_nearest_name_for_an_unknown_key) {
  parameter scale = of(parameter_type::number);
  scale.name = "scale";
  const binding b({scale}, "scael: 2");
  ASSERT_THAT(b.messages(), SizeIs(1));
  EXPECT_THAT(b.messages()[0], HasSubstr("did you mean 'scale'?"));
  EXPECT_EQ(b.problems.all()[0].place.line, 1U);
  EXPECT_EQ(b.problems.all()[0].place.column, 1U);
}

TEST(bind_arguments, says_what_a_missing_required_parameter_must_be) {
  parameter k = of(parameter_type::integer);
  k.required = true;
  k.minimum = 1;
  const binding b({k}, "{}");
  EXPECT_THAT(b.messages(), ElementsAre("stage 's' (test.kind) needs 'x' (whole number >= 1)"));
  EXPECT_EQ(b.problems.all()[0].place.line, 1U) << "at the stage";
}

TEST(bind_arguments, reports_everything_that_is_wrong_at_once) {
  parameter required = of(parameter_type::integer);
  required.name = "needed";
  required.required = true;
  const binding b({of(parameter_type::integer), required}, "{x: abc, other: 1}");
  EXPECT_THAT(b.messages(), SizeIs(3));
}

TEST(bind_arguments, takes_nothing_at_all_for_an_empty_mapping) {
  diagnostics problems;
  const arguments bound = bind_arguments({with_default(parameter_type::integer, "4")}, node(),
                                         "layer 0", {}, ".", problems);
  EXPECT_FALSE(problems.has_errors());
  EXPECT_EQ(bound.integer("x"), 4);
}

TEST(bind_arguments, refuses_parameters_that_are_no_mapping) {
  diagnostics problems;
  bind_arguments({}, node("relu"), "layer 0", {}, ".", problems);
  ASSERT_THAT(problems.all(), SizeIs(1));
  EXPECT_EQ(problems.all()[0].message, "the parameters of layer 0 must be a mapping, found 'relu'");
}

TEST(bind_arguments, keeps_numbers_within_their_range) {
  parameter p = of(parameter_type::number);
  p.minimum = 0;
  p.maximum = 1;
  EXPECT_THAT(binding({p}, "x: 0").messages(), IsEmpty());
  EXPECT_THAT(binding({p}, "x: 1").messages(), IsEmpty());
  EXPECT_THAT(binding({p}, "x: 1.5").messages(), ElementsAre("'x' must be from 0 to 1, found 1.5"));
  EXPECT_FALSE(binding({p}, "x: 1.5").bound.has("x"));

  p.maximum.reset();
  EXPECT_THAT(binding({p}, "x: -1").messages(), ElementsAre("'x' must be at least 0, found -1"));
  p.minimum.reset();
  p.maximum = 8;
  EXPECT_THAT(binding({p}, "x: 9").messages(), ElementsAre("'x' must be at most 8, found 9"));
}

TEST(bind_arguments, states_a_range_of_durations_with_units) {
  parameter p = of(parameter_type::duration);
  p.minimum = 1e6;
  EXPECT_THAT(binding({p}, "x: 10us").messages(),
              ElementsAre("'x' must be at least 1.00 ms, found 10.0 us"));
}

TEST(bind_arguments, shows_numbers_with_all_digits_and_commas) {
  parameter p = of(parameter_type::number);
  p.unit = "px";
  p.minimum = 1e-6;
  p.maximum = 12'345'678.5;
  EXPECT_THAT(binding({p}, "x: 1e8").messages(),
              ElementsAre("'x' must be from 0.000001 to 12,345,678.5 px, found 100,000,000"));
  EXPECT_THAT(binding({p}, "x: -1000").messages(),
              ElementsAre("'x' must be from 0.000001 to 12,345,678.5 px, found -1,000"));
  EXPECT_THAT(binding({p}, "x: 1e300").messages(),
              ElementsAre("'x' must be from 0.000001 to 12,345,678.5 px, found 1e+300"));
  EXPECT_THAT(binding({p}, "x: 1e-30").messages(),
              ElementsAre("'x' must be from 0.000001 to 12,345,678.5 px, found 1e-30"));
}

TEST(bind_arguments, refuses_no_time_at_all_where_a_duration_must_be_more) {
  parameter p = of(parameter_type::duration);
  p.minimum = 1;
  p.unit = "s";
  EXPECT_EQ(binding({p}, "x: 1ns").bound.duration("x"), 1);
  EXPECT_THAT(binding({p}, "x: 0ms").messages(),
              ElementsAre("'x' must be more than zero, found 0 ns"));
  EXPECT_THAT(binding({p}, "x: 3").messages(), ElementsAre("'x' needs a unit, such as 3s"));
  EXPECT_EQ(describe_type(p), "duration > 0");
}

TEST(bind_arguments, checks_the_range_of_each_number_in_a_list_at_its_place) {
  parameter p = of(parameter_type::integers);
  p.minimum = 1;
  const binding b({p}, "x: [1, 0, 2, -3]");
  EXPECT_THAT(b.messages(),
              ElementsAre("'x' must be at least 1, found 0", "'x' must be at least 1, found -3"));
  EXPECT_EQ(b.problems.all()[0].place.column, 8U);
  EXPECT_EQ(b.problems.all()[1].place.column, 14U);
}

TEST(bind_arguments, gives_defaults_the_place_of_their_owner) {
  const binding b({with_default(parameter_type::numbers, "[0.5, 2]")}, "{}");
  EXPECT_THAT(b.bound.numbers("x"), ElementsAre(0.5, 2.0));
  EXPECT_EQ(b.bound.where("x").line, 1U);
  EXPECT_EQ(b.bound.where("x").source, b.bound.where().source);
}

TEST(bind_arguments, keeps_the_default_where_the_given_value_is_wrong) {
  const binding b({with_default(parameter_type::integer, "4")}, "x: abc");
  EXPECT_TRUE(b.problems.has_errors());
  EXPECT_EQ(b.bound.integer("x"), 4);
}

TEST(bind_arguments, leaves_an_optional_parameter_absent) {
  const binding b({of(parameter_type::number)}, "{}");
  EXPECT_FALSE(b.problems.has_errors());
  EXPECT_FALSE(b.bound.has("x"));
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
  parameter p = of(parameter_type::choice);
  p.choices = {"zeros", "ones"};
  EXPECT_EQ(describe_type(p), "zeros | ones");
  p = of(parameter_type::number);
  EXPECT_EQ(describe_type(p), "number");
  p.minimum = 0;
  EXPECT_EQ(describe_type(p), "number >= 0");
  p.maximum = 0.5;
  EXPECT_EQ(describe_type(p), "number 0 to 0.5");
  p.minimum.reset();
  EXPECT_EQ(describe_type(p), "number <= 0.5");
  EXPECT_EQ(describe_type(of(parameter_type::percent)), "percentage");
}

}  // namespace
}  // namespace graphline
