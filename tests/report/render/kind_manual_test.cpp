#include "framework/report/render/kind_manual.hpp"

#include <gmock/gmock.h>

#include "framework/base/error.hpp"
#include "framework/stage/stage_registry.hpp"

namespace graphline {
namespace {

prepared_stage prepare_nothing(const arguments&, std::span<const tensor_type>, diagnostics&) {
  return {};
}

stage_kind crop_kind() {
  stage_kind kind;
  kind.name = "cpu.crop";
  kind.headline = "Cut regions out of an image";
  kind.on = side::cpu;
  kind.inputs = {{"image", "float32 [C, H, W]"}, {"regions", "float32 [N, 4]"}};
  kind.outputs = {{"crops", "float32 [N, C, side, side]"}};
  kind.parameters = {
      {.name = "side",
       .type = parameter_type::integer,
       .help = "Height and width of what is cut out; regions of another form are stretched, which "
               "a network that was trained on stretched regions expects.",
       .default_value = {},
       .required = true,
       .unit = "px",
       .minimum = 1},
      {.name = "padding",
       .type = parameter_type::choice,
       .help = "What lies outside of the image.",
       .default_value = "zeros",
       .choices = {"zeros", "edge"}},
      {.name = "limit", .type = parameter_type::number, .help = "Stop here.", .default_value = {}},
  };
  kind.prepare = prepare_nothing;
  return kind;
}

TEST(describe_kind, prints_ports_parameters_and_wrapped_help) {
  EXPECT_EQ(describe_kind(crop_kind()),
            R"(cpu.crop: Cut regions out of an image
Runs on: cpu

Reads:
  image    float32 [C, H, W]
  regions  float32 [N, 4]

Writes:
  crops  float32 [N, C, side, side]

Parameter  type               default   unit
  side     whole number >= 1  required  px
      Height and width of what is cut out; regions of another form are
      stretched, which a network that was trained on stretched regions expects.
  padding  zeros | edge       zeros
      What lies outside of the image.
  limit    number             optional
      Stop here.
)");
}

TEST(describe_kind, says_which_inputs_may_be_left_out_or_repeated) {
  stage_kind kind = crop_kind();
  kind.parameters.clear();
  kind.outputs.clear();
  kind.optional_inputs = 1;
  EXPECT_EQ(describe_kind(kind),
            R"(cpu.crop: Cut regions out of an image
Runs on: cpu

Reads:
  image    float32 [C, H, W]
  regions  float32 [N, 4] (optional)

Writes: nothing

Parameters: none
)");
  kind.repeat_last_input = true;
  EXPECT_THAT(describe_kind(kind), testing::HasSubstr("[N, 4] (optional, any number)\n"));
  kind.optional_inputs = 0;
  EXPECT_THAT(describe_kind(kind), testing::HasSubstr("[N, 4] (one or more)\n"));
}

TEST(describe_kind, marks_ports_with_rows) {
  stage_kind kind = crop_kind();
  kind.parameters.clear();
  kind.inputs[1].rows = true;
  kind.outputs[0].rows = true;
  EXPECT_EQ(describe_kind(kind),
            R"(cpu.crop: Cut regions out of an image
Runs on: cpu

Reads:
  image    float32 [C, H, W]
  regions  float32 [N, 4] (rows)

Writes:
  crops  float32 [N, C, side, side] (rows)

(rows): a stage with the key 'rows' computes only the first rows of these
tensors.

Parameters: none
)");
}

TEST(describe_kind, ends_with_the_manual_of_the_kind) {
  stage_kind kind = crop_kind();
  kind.manual = [] { return std::string("Layers:\n  conv2d"); };
  EXPECT_TRUE(describe_kind(kind).ends_with("Stop here.\n\nLayers:\n  conv2d\n"));
}

TEST(list_kinds, keeps_to_so_many_columns) {
  stage_registry registry;
  registry.add(crop_kind());
  EXPECT_EQ(list_kinds(registry, 40), R"(kind      runs on  what it does
cpu.crop  cpu      Cut regions out of an
                   image
)");
}

TEST(list_kinds, puts_the_kinds_of_a_plugin_beneath_its_file) {
  stage_registry registry;
  registry.add(crop_kind());
  stage_kind other = crop_kind();
  other.name = "blur";
  other.headline = "Blur an image";
  other.on = side::device;
  other.backends = {""};
  other.origin = "/opt/blur.so";
  registry.add(other);
  EXPECT_EQ(list_kinds(registry),
            R"(kind      runs on  what it does
cpu.crop  cpu      Cut regions out of an image
from plug-in /opt/blur.so:
blur      device   Blur an image
)");
  EXPECT_THAT(describe_kind(other),
              testing::HasSubstr("Runs on: device\nFrom: plug-in /opt/blur.so\n"));
}

policy_kind laxity_kind() {
  policy_kind kind{.name = "laxity",
                   .description = "The stage with the least time to spare, whatever its frame.",
                   .source = "Nobody 1970"};
  kind.uses_priorities = false;
  kind.needs_times = true;
  kind.needs_deadline = true;
  kind.parameters = {{.name = "reserve",
                      .type = parameter_type::duration,
                      .help = "Time that is kept.",
                      .required = true}};
  return kind;
}

TEST(describe_policy, says_what_it_uses_and_where_it_was_published) {
  EXPECT_EQ(describe_policy(laxity_kind(), 60),
            R"(laxity: The stage with the least time to spare, whatever its
frame.
Uses: deadlines, expected times
Source: Nobody 1970

Parameter  type      default
  reserve  duration  required
      Time that is kept.
)");
}

TEST(list_policies, puts_those_of_a_plugin_beneath_its_file) {
  const policy_kind own = laxity_kind();
  policy_kind other{.name = "mine", .description = "The stage that I like."};
  other.origin = "/opt/mine.so";
  policy_kind none{.name = "none", .description = "Any stage."};
  none.uses_priorities = false;
  EXPECT_EQ(list_policies({&other, &own, &none}, 60),
            R"(policy  uses                       what goes first
laxity  deadlines, expected times  The stage with the least
                                   time to spare, whatever
                                   its frame.
none    -                          Any stage.
from plug-in /opt/mine.so:
mine    priorities                 The stage that I like.
)");
}

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Property;
using testing::Throws;

stage_kind cpu_kind(const std::string& name) {
  stage_kind kind;
  kind.name = name;
  kind.prepare = prepare_nothing;
  return kind;
}

auto refused_for(const std::string& words) {
  return Throws<input_error>(Property(&input_error::what, HasSubstr(words)));
}

TEST(stage_registry, finds_kinds_by_name_and_lists_them_in_order) {
  stage_registry registry;
  registry.add(cpu_kind("zoom"));
  registry.add(cpu_kind("blur"));
  ASSERT_NE(registry.find("zoom"), nullptr);
  EXPECT_EQ(registry.find("zoom")->name, "zoom");
  EXPECT_EQ(registry.find("crop"), nullptr);
  EXPECT_THAT(registry.names(), ElementsAre("blur", "zoom"));
  EXPECT_EQ(registry.all().at(0), registry.find("blur"));
}

TEST(stage_registry, refuses_a_name_that_is_taken_and_keeps_the_first) {
  stage_registry registry;
  stage_kind first = cpu_kind("zoom");
  first.headline = "first";
  registry.add(first);
  EXPECT_THAT([&] { registry.add(cpu_kind("zoom")); }, refused_for("'zoom' is already registered"));
  EXPECT_EQ(registry.find("zoom")->headline, "first");
}

TEST(stage_registry, refuses_a_kind_that_cannot_be_planned_or_made) {
  stage_registry registry;
  stage_kind kind = cpu_kind("");
  EXPECT_THAT([&] { registry.add(kind); }, refused_for("no name"));
  kind = cpu_kind("zoom");
  kind.prepare = nullptr;
  EXPECT_THAT([&] { registry.add(kind); }, refused_for("no 'prepare'"));
  kind = cpu_kind("zoom");
  kind.open = [](const arguments&, diagnostics&) { return opened_stage{}; };
  EXPECT_THAT([&] { registry.add(kind); }, refused_for("both 'prepare' and 'open'"));
  kind = cpu_kind("zoom");
  kind.on = side::device;
  EXPECT_THAT([&] { registry.add(kind); }, refused_for("no 'backends'"));
  EXPECT_THAT(registry.names(), ElementsAre());
}

}  // namespace
}  // namespace graphline
