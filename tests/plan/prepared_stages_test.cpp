#include "framework/plan/prepared_stages.hpp"

#include <gmock/gmock.h>

#include "tests/plan/plan_testing.hpp"

namespace graphline::plan_testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A kind that counts how often its functions are called, and warns of each stage.
struct counted_kind {
  counted_kind() {
    stage_kind kind = plain_kind("counted", side::device);
    kind.open = [this, plain = kind.prepare](const arguments& values, diagnostics& out) {
      ++opened;
      if (fails) out.error(values.where(), "cannot be opened");
      const auto prepare = [this, plain](const arguments& given,
                                         std::span<const tensor_type> inputs, diagnostics& found) {
        ++prepared;
        found.warning(given.where(), "is counted");
        return plain(given, inputs, found);
      };
      return opened_stage{{{{"x", ""}}, {{"y", ""}}}, prepare};
    };
    kind.prepare = nullptr;
    registry.add(std::move(kind));
  }

  /// A plan of one such stage that reads so many elements, with `flops` as its argument.
  plan planned(std::int64_t elements, int flops, diagnostics& out) {
    spec_builder b;
    b.input("x", {elements}).stage("a", "counted", {"x"}).with("flops", flops);
    return make_plan(b.spec, registry, {}, shared, out);
  }

  stage_registry registry;
  prepared_stages shared;
  int opened = 0;
  int prepared = 0;
  bool fails = false;
};

TEST(prepared_stages, are_shared_by_plans_with_the_same_arguments_and_types) {
  counted_kind kind;
  diagnostics out;
  const plan first = kind.planned(4, 1, out);
  const plan second = kind.planned(4, 1, out);
  EXPECT_EQ(first.stages[0].prepared, second.stages[0].prepared);
  EXPECT_EQ(kind.opened, 1);
  EXPECT_EQ(kind.prepared, 1);
  EXPECT_THAT(messages(out, severity::warning), ElementsAre("is counted", "is counted"));

  const plan wider = kind.planned(5, 1, out);
  EXPECT_EQ(wider.stages[0].prepared->outputs[0].shape, (shape{5}));
  EXPECT_EQ(kind.opened, 1);
  EXPECT_EQ(kind.prepared, 2);

  const plan other = kind.planned(4, 2, out);
  EXPECT_EQ(other.stages[0].prepared->cost.flops, 2);
  EXPECT_EQ(first.stages[0].prepared->cost.flops, 1);
  EXPECT_EQ(kind.opened, 2);
  EXPECT_THAT(messages(out, severity::error), IsEmpty());
}

TEST(prepared_stages, are_tried_again_after_an_error) {
  counted_kind kind;
  kind.fails = true;
  for (int i = 0; i < 2; ++i) {
    diagnostics out;
    kind.planned(4, 1, out);
    EXPECT_THAT(messages(out, severity::error), ElementsAre("cannot be opened"));
  }
  kind.fails = false;
  diagnostics out;
  kind.planned(4, 1, out);
  EXPECT_FALSE(out.has_errors());
  EXPECT_EQ(kind.opened, 3);
}

TEST(prepared_stages, have_a_factory_for_each_backend_of_their_kind) {
  for (const side on : {side::cpu, side::device}) {
    stage_kind kind = plain_kind("odd", on);
    if (on == side::device) kind.backends = {"host", "cuda"};
    kind.prepare = [plain = kind.prepare](const arguments& given,
                                          std::span<const tensor_type> inputs, diagnostics& found) {
      prepared_stage result = plain(given, inputs, found);
      result.make_cpu = nullptr;
      result.make_device = {{"host", result.make_device[""]}};
      return result;
    };
    stage_registry registry;
    registry.add(std::move(kind));
    spec_builder b;
    b.input("x", {4}).stage("a", "odd", {"x"});
    diagnostics out;
    make_plan(b.spec, registry, {}, out);
    EXPECT_THAT(messages(out, severity::error),
                ElementsAre(on == side::cpu
                                ? "kind 'odd' prepared no 'make_cpu' factory, which is a fault of "
                                  "the kind"
                                : "kind 'odd' prepared no 'make_device' factory for 'cuda', which "
                                  "is a fault of the kind"));
  }
}

}  // namespace
}  // namespace graphline::plan_testing
