#include "framework/stage/kind_manual.hpp"

#include <gmock/gmock.h>

#include <sstream>

namespace graphline {
namespace {

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
  kind.infer = [](const arguments&, std::span<const tensor_type>, diagnostics&) {
    return stage_shape{};
  };
  kind.make_cpu = [](const stage_config&) { return std::unique_ptr<cpu_stage>(); };
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

TEST(describe_kind, ends_with_the_manual_of_the_kind) {
  stage_kind kind = crop_kind();
  kind.manual = [] { return std::string("Layers:\n  conv2d"); };
  EXPECT_TRUE(describe_kind(kind).ends_with("Stop here.\n\nLayers:\n  conv2d\n"));
}

TEST(describe_kind, keeps_to_so_many_columns) {
  stage_kind kind = crop_kind();
  kind.manual = [] { return "Layers:\n  conv2d   required  Channels of the output, in order\n"; };
  const std::string page = describe_kind(kind, 40);
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 40U) << line;
  EXPECT_TRUE(page.ends_with("  conv2d   required  Channels of the\n    output, in order\n"));
}

TEST(list_kinds, aligns_a_line_for_each_kind) {
  stage_registry registry;
  registry.add(crop_kind());
  stage_kind other = crop_kind();
  other.name = "blur";
  other.headline = "Blur an image";
  other.on = side::device;
  other.make_device[""] = [](device&, const stage_config&) {
    return std::unique_ptr<device_stage>();
  };
  registry.add(other);
  EXPECT_EQ(list_kinds(registry),
            R"(kind      runs on  what it does
blur      device   Blur an image
cpu.crop  cpu      Cut regions out of an image
)");
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
  other.origin = "/opt/blur.so";
  registry.add(other);
  EXPECT_EQ(list_kinds(registry),
            R"(kind      runs on  what it does
cpu.crop  cpu      Cut regions out of an image
from plug-in /opt/blur.so:
blur      cpu      Blur an image
)");
  EXPECT_THAT(describe_kind(other),
              testing::HasSubstr("Runs on: cpu\nFrom: plug-in /opt/blur.so\n"));
}

}  // namespace
}  // namespace graphline
