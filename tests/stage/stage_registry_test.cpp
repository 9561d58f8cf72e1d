#include "framework/stage/stage_registry.hpp"

#include <gmock/gmock.h>

#include "framework/base/error.hpp"

namespace graphline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Property;
using testing::Throws;

stage_kind cpu_kind(const std::string& name) {
  stage_kind kind;
  kind.name = name;
  kind.infer = [](const arguments&, std::span<const tensor_type>, diagnostics&) {
    return stage_shape{};
  };
  kind.make_cpu = [](const stage_config&) { return std::unique_ptr<cpu_stage>(); };
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
  EXPECT_THAT([&] { registry.add(kind); }, refused_for("without a name"));
  kind = cpu_kind("zoom");
  kind.infer = nullptr;
  EXPECT_THAT([&] { registry.add(kind); }, refused_for("no 'infer'"));
  kind = cpu_kind("zoom");
  kind.make_cpu = nullptr;
  EXPECT_THAT([&] { registry.add(kind); }, refused_for("no 'make_cpu'"));
  kind = cpu_kind("zoom");
  kind.on = side::device;
  EXPECT_THAT([&] { registry.add(kind); }, refused_for("no 'make_device'"));
  EXPECT_THAT(registry.names(), ElementsAre());
}

}  // namespace
}  // namespace graphline
