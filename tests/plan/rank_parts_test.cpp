#include "framework/plan/rank_parts.hpp"

#include <gmock/gmock.h>

#include "framework/base/error.hpp"
#include "tests/plan/plan_testing.hpp"

namespace graphline::plan_testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A spec whose stages are on ranks.
struct on_ranks {
  explicit on_ranks(spec_builder made) : spec(std::move(made).spec) {}

  on_ranks& on(const std::string& stage, int rank) {
    for (stage_spec& s : spec.stages) {
      if (s.name.text == stage) s.rank = rank;
    }
    return *this;
  }

  plan whole() {
    plan p = make_plan(spec, registry, {}, out);
    EXPECT_FALSE(out.has_errors()) << out.render();
    return p;
  }

  std::vector<std::string> stages_of(int rank) {
    const plan p = whole();
    std::vector<std::string> names;
    for (const auto& s : part_of_rank(spec, p, rank).stages) {
      names.push_back(s.name.text);
    }
    return names;
  }

  std::string refusal() {
    make_plan(spec, registry, {}, out);
    return out.render();
  }

  stage_registry registry = test_registry();
  pipeline_spec spec;
  diagnostics out;
};

/// x -> a -> b -> c, with b elsewhere, and d after a.
on_ranks there_and_back() {
  return on_ranks(spec_builder()
                      .input("x", {4})
                      .stage("a", "work", {"x"})
                      .stage("b", "work", {"a"})
                      .stage("d", "work", {"a"})
                      .stage("c", "work", {"b", "d"}))
      .on("b", 1);
}

TEST(rank_parts, send_what_another_rank_reads_and_receive_it_before_it_is_read) {
  auto of = there_and_back();
  EXPECT_EQ(of.whole().ranks, 2);
  EXPECT_THAT(of.stages_of(0), ElementsAre("a", "send:a@rank1", "d", "receive:b", "c"));
  EXPECT_THAT(of.stages_of(1), ElementsAre("receive:a", "b", "send:b@rank0"));
}

TEST(rank_parts, receive_after_sending_what_the_other_rank_needs_for_it) {
  auto of = there_and_back();
  const plan p = of.whole();
  const auto part = part_of_rank(of.spec, p, 0);
  const auto receives =
      std::ranges::find(part.stages, "receive:b", [](const stage_spec& s) { return s.name.text; });
  ASSERT_EQ(receives->after.size(), 1U);
  EXPECT_EQ(receives->after.front().text, "send:a@rank1");
}

TEST(rank_parts, send_a_tensor_once_to_each_rank_that_reads_it) {
  auto of = on_ranks(spec_builder()
                         .input("x", {4})
                         .stage("a", "work", {"x"})
                         .stage("b", "gpu", {"a"})
                         .stage("c", "gpu", {"a"})
                         .stage("d", "work", {"a"}))
                .on("b", 1)
                .on("c", 1)
                .on("d", 2);
  EXPECT_THAT(of.stages_of(0), ElementsAre("a", "send:a@rank1", "send:a@rank2"));
  EXPECT_THAT(of.stages_of(1), ElementsAre("receive:a", "b", "c"));
  EXPECT_THAT(of.stages_of(2), ElementsAre("receive:a", "d"));
}

TEST(rank_parts, wait_for_stages_of_other_ranks_by_signals) {
  auto of =
      on_ranks(spec_builder().input("x", {4}).stage("a", "work", {"x"}).stage("b", "work", {"x"}))
          .on("b", 1);
  of.spec.stages[1].after = {{"a"}};
  EXPECT_THAT(of.stages_of(0), ElementsAre("a", "signal:a@rank1"));
  EXPECT_THAT(of.stages_of(1), ElementsAre("await:a", "b"));
}

TEST(rank_parts, keep_the_inputs_that_they_read_and_the_arrivals_of_rank_0) {
  auto of = there_and_back();
  of.spec.run.arrival = arrival::constant;
  of.spec.run.rate = 100;
  of.spec.run.deadline = 5'000'000;
  const plan p = of.whole();
  const auto first = part_of_rank(of.spec, p, 0);
  EXPECT_EQ(first.inputs.size(), 1U);
  EXPECT_EQ(first.run.arrival, arrival::constant);
  const auto second = part_of_rank(of.spec, p, 1);
  EXPECT_THAT(second.inputs, IsEmpty());
  EXPECT_EQ(second.run.arrival, arrival::closed);
  EXPECT_FALSE(second.run.rate);
  EXPECT_FALSE(second.run.deadline);
}

TEST(rank_parts, refuse_what_makes_frames_differ_between_ranks) {
  const auto refused = [](auto change) {
    auto of = there_and_back();
    change(of.spec.run);
    return of.refusal();
  };
  EXPECT_THAT(refused([](settings& run) { run.max_time = 1'000'000; }),
              HasSubstr("'max_time' does not work in a pipeline on several ranks"));
  EXPECT_THAT(refused([](settings& run) {
                run.arrival = arrival::constant;
                run.rate = 10;
                run.when_full = queue_policy::drop_oldest;
              }),
              HasSubstr("use when_full: block"));
  EXPECT_THAT(refused([](settings&) {}), IsEmpty());
}

TEST(rank_parts, refuse_a_rank_without_a_stage) {
  EXPECT_THAT(there_and_back().on("b", 2).refusal(),
              HasSubstr("stage 'b' is on rank 2, but none is on rank 1; number the ranks from 0 "
                        "without gaps"));
}

}  // namespace
}  // namespace graphline::plan_testing
