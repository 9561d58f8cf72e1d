#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "framework/plan/placement.hpp"
#include "tests/plan/plan_testing.hpp"

namespace graphline::plan_testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::int64_t> rows_of(const std::vector<planned_bucket>& buckets) {
  std::vector<std::int64_t> rows;
  for (const planned_bucket& bucket : buckets) rows.push_back(bucket.rows);
  return rows;
}

const dependency& wait_of(const plan& p, const std::string& later, const std::string& earlier) {
  for (const dependency& wait : stage_of(p, later).waits) {
    if (p.stages[wait.stage].name == earlier) return wait;
  }
  throw std::logic_error("no such edge");
}

class decision_builder : public spec_builder {
 public:
  decision_builder() { input("x", {8, 4}); }

  // Of the stage added last.
  decision_builder& rows(const std::string& tensor, std::vector<std::int64_t> buckets = {}) {
    spec.stages.back().rows = {tensor};
    spec.stages.back().buckets.rows = std::move(buckets);
    return *this;
  }
  decision_builder& when(const std::string& tensor) {
    spec.stages.back().when = {tensor};
    return *this;
  }
  decision_builder& otherwise(const std::string& tensor) {
    spec.stages.back().otherwise = {{tensor}};
    return *this;
  }
  decision_builder& add(const std::string& name, const std::string& kind,
                        const std::vector<std::string>& reads) {
    stage(name, kind, reads);
    return *this;
  }

  std::vector<std::string> warnings() const {
    diagnostics out;
    make_plan(spec, lasting_registry(), {}, out);
    EXPECT_FALSE(out.has_errors()) << out.render();
    return messages(out, severity::warning);
  }
};

TEST(decisions, await_a_count_that_the_device_made) {
  const plan p = plan_of(decision_builder()
                             .add("count", "gpu_count", {"x"})
                             .add("some", "row_gpu", {"x"})
                             .rows("count"));
  const planned_stage& some = stage_of(p, "some");
  ASSERT_TRUE(some.rows);
  EXPECT_EQ(p.tensors[*some.rows].name, "count@cpu");
  EXPECT_EQ(p.tensors[*some.rows].on, side::cpu);
  const dependency& wait = wait_of(p, "some", "copy:count");
  EXPECT_EQ(wait.how, satisfied_by::completion);
  EXPECT_TRUE(wait.decides);
  EXPECT_THAT(wait.tensors, ElementsAre(*some.rows));
  EXPECT_TRUE(stage_of(p, "copy:count").host_waits);
  EXPECT_EQ(some.capacity, 8);
  EXPECT_THAT(rows_of(some.buckets), ElementsAre(1, 2, 4, 8));
}

TEST(decisions, give_copies_the_rows_and_the_buckets_of_the_producer_or_the_reader) {
  const plan p = plan_of(decision_builder()
                             .add("count", "count", {})
                             .add("flag", "count", {})
                             .add("made", "row_gpu", {"x"})
                             .rows("count", {3, 8})
                             .when("flag")
                             .add("found", "row_work", {"made"})
                             .rows("count")
                             .add("back", "row_gpu", {"found"})
                             .rows("count", {2, 5, 8}));
  const planned_stage& down = stage_of(p, "copy:made");
  EXPECT_EQ(p.tensors[down.rows.value()].name, "count");
  EXPECT_THAT(rows_of(down.buckets), ElementsAre(3, 8));
  EXPECT_TRUE(down.conditional);
  EXPECT_THAT(rows_of(stage_of(p, "found").buckets), IsEmpty());
  EXPECT_EQ(stage_of(p, "found").capacity, 8);
  EXPECT_TRUE(stage_of(p, "found").conditional);
  const planned_stage& up = stage_of(p, "copy:found");
  EXPECT_THAT(rows_of(up.buckets), ElementsAre(2, 5, 8));
  EXPECT_TRUE(up.conditional);
  EXPECT_FALSE(stage_of(p, "count").decided_per_frame());
}

TEST(decisions, take_no_count_of_another_dimension_for_rows) {
  decision_builder built;
  built.add("columns", "count_columns", {"x"}).add("some", "row_gpu", {"x"}).rows("columns");
  diagnostics out;
  make_plan(built.spec, lasting_registry(), {}, out);
  EXPECT_THAT(
      messages(out, severity::error),
      ElementsAre("stage 'some' cannot compute only its first rows: it counts columns; read "
                  "the count in a stage that computes with it, such as one of a plug-in"));
}

TEST(decisions, keep_counts_and_alternatives_until_they_are_read) {
  const plan p = plan_of(decision_builder()
                             .add("n", "count", {})
                             .add("dear", "gpu", {"x"})
                             .when("n")
                             .add("cheap", "gpu", {"x"})
                             .add("later", "gpu", {"x"})
                             .add("either", "gpu", {"dear", "later"})
                             .otherwise("cheap")
                             .add("last", "row_gpu", {"x"})
                             .rows("n"));
  EXPECT_THAT(tensor_of(p, "cheap").consumers, ElementsAre(index_of(p, "either")));
  EXPECT_THAT(tensor_of(p, "n").consumers, ElementsAre(index_of(p, "dear"), index_of(p, "last")));
  EXPECT_THAT(stage_of(p, "cheap").followers, Contains(index_of(p, "either")));
  EXPECT_FALSE(stage_of(p, "either").conditional);
  const placement placed = place_buffers(p, {});
  const auto offset = [&](const char* name) {
    for (std::size_t t = 0; t < p.tensors.size(); ++t) {
      if (p.tensors[t].name == name) return placed.tensor_offset[t];
    }
    return placement::none;
  };
  EXPECT_NE(offset("cheap"), offset("later"));
  EXPECT_NE(offset("cheap"), offset("dear"));
  EXPECT_NE(offset("cheap"), offset("either"));
}

TEST(decisions, keep_a_tensor_and_its_alternative_in_one_form) {
  decision_builder b;
  b.input("image", {1, 8, 4, 4});
  b.input("flag", {1}).spec.inputs.back().type.element = dtype::int64;
  b.add("dear", "image_net", {"image"}).when("flag");
  b.add("cheap", "gpu", {"image"});
  b.add("either", "image_net", {"dear"}).otherwise("cheap");
  const plan p = plan_of(b.spec, {.backend = "cuda"});
  EXPECT_EQ(tensor_of(p, "dear").layout, tensor_layout::row_major);
  EXPECT_EQ(tensor_of(p, "cheap").layout, tensor_layout::row_major);
}

TEST(decisions, warn_of_a_frame_that_has_neither_of_two_tensors) {
  decision_builder b;
  b.add("n", "count", {}).add("m", "count", {});
  b.add("a", "gpu", {"x"}).when("n");
  b.add("b", "gpu", {"x"}).when("m");
  b.add("either", "gpu", {"a"}).otherwise("b");
  b.add("end", "gpu", {"either"});
  EXPECT_THAT(b.warnings(), ElementsAre(HasSubstr("neither 'a' nor 'b'")));
  EXPECT_TRUE(stage_of(plan_of(b), "end").conditional);
}

TEST(decisions, warn_of_an_alternative_that_is_skipped_with_what_it_replaces) {
  decision_builder b;
  b.add("n", "count", {}).add("m", "count", {});
  b.add("a", "gpu", {"x"}).when("n");
  b.add("b", "gpu", {"x"}).when("n");
  b.add("either", "gpu", {"a"}).otherwise("b");
  const auto no_effect = HasSubstr("a frame that skips 'a' also skips 'b'");
  EXPECT_THAT(b.warnings(), ElementsAre(no_effect));
  EXPECT_TRUE(stage_of(plan_of(b), "either").conditional);
  b.spec.stages[3].reads = {{"a"}};  // `b` is skipped without `m` as well
  b.spec.stages[3].when = {"m"};
  EXPECT_THAT(b.warnings(), ElementsAre(no_effect));
}

TEST(decisions, warn_of_batches_that_cost_what_one_frame_costs) {
  decision_builder b;
  b.add("n", "count", {}).add("some", "row_gpu", {"x"});
  b.spec.run.arrival = arrival::constant;
  b.spec.run.rate = 100;
  EXPECT_THAT(b.warnings(), IsEmpty());
  b.spec.run.batch_frames = 8;
  b.spec.run_places.each["batch_frames"] = {std::make_shared<source_text>("--batch-frames 8", "")};
  EXPECT_THAT(b.warnings(), ElementsAre(HasSubstr("set 'rows' to the count of a stage cpu.batch")));
  diagnostics out;
  make_plan(b.spec, lasting_registry(), {}, out);
  EXPECT_THAT(out.render(),
              testing::StartsWith("--batch-frames 8: warning: batch_frames: 8 makes "));
  b.rows("n");
  EXPECT_THAT(b.warnings(), IsEmpty());
}

/// Without `m` a frame has no `inner`; without `n` it has neither, and `chosen` depends on `n`
/// only.
TEST(decisions, know_that_a_nested_branch_falls_back_to_the_outer_one) {
  decision_builder b;
  b.add("n", "count", {}).add("m", "count", {});
  b.add("outer", "gpu", {"x"}).when("n");
  b.add("inner", "gpu", {"outer"}).when("m");
  b.add("chosen", "gpu", {"inner"}).otherwise("outer");
  b.add("end", "gpu", {"chosen"}).otherwise("x");
  EXPECT_THAT(b.warnings(), IsEmpty());
  const plan p = plan_of(b);
  EXPECT_TRUE(stage_of(p, "chosen").conditional);
  EXPECT_FALSE(stage_of(p, "end").conditional);
}

TEST(decisions, accept_a_reader_that_takes_the_count_as_well) {
  const plan p = plan_of(decision_builder()
                             .add("n", "count", {})
                             .add("some", "row_work", {"x"})
                             .rows("n")
                             .add("all", "work", {"some", "n"}));
  EXPECT_FALSE(stage_of(p, "all").decided_per_frame());
}

TEST(decisions, are_refused_in_the_graph_of_a_frame_for_a_device_without_switches) {
  decision_builder b;
  b.add("n", "count", {}).add("some", "row_gpu", {"x"}).rows("n");
  b.spec.run.graphs = graph_mode::frame;
  const auto said = [&](const plan_target& target) {
    diagnostics out;
    make_plan(b.spec, lasting_registry(), target, out);
    return out.render();
  };
  b.spec.run_places.section = {std::make_shared<source_text>("p.yaml", ""), 9, 1};
  const std::string refused =
      "error: stage 'some' depends on the frame, which graphs: frame supports only with a driver "
      "for CUDA 12.8 or later; use graphs: stage";
  EXPECT_EQ(said({.selects = false}), "p.yaml:9:1: " + refused);
  b.spec.run_places.each["graphs"] = {std::make_shared<source_text>("--graphs frame", "")};
  EXPECT_EQ(said({.selects = false}), "--graphs frame: " + refused);
  EXPECT_EQ(said({.selects = true}), "");
}

TEST(decisions, count_a_number_per_frame_in_the_record) {
  decision_builder b;
  b.add("n", "count", {}).add("some", "row_gpu", {"x"});
  const plan always = plan_of(b);
  const plan decided = plan_of(b.rows("n"));
  EXPECT_EQ(record_bytes(decided, {}) - record_bytes(always, {}),
            sizeof(std::int32_t) * static_cast<std::uint64_t>(always.run.frames));
}

}  // namespace
}  // namespace graphline::plan_testing
