#include <gmock/gmock.h>

#include "tests/plan/plan_testing.hpp"

namespace graphline::testing {
namespace {

using ::testing::ElementsAre;

TEST(stage_order, is_the_declared_one_where_edges_allow) {
  const plan p = plan_of(spec_builder()
                             .input("x", {4})
                             .stage("c", "gpu", {"x"})
                             .stage("a", "gpu", {"x"})
                             .stage("b", "gpu", {"c"}));
  EXPECT_THAT(names_of(p.stages), ElementsAre("c", "a", "b"));
}

TEST(stage_order, moves_a_stage_only_behind_what_it_needs) {
  const plan p = plan_of(spec_builder()
                             .input("x", {4})
                             .stage("late", "gpu", {"z"})
                             .stage("first", "gpu", {"x"})
                             .stage("maker", "gpu", {"first"}, {"z"})
                             .stage("last", "gpu", {"x"}));
  EXPECT_THAT(names_of(p.stages), ElementsAre("first", "maker", "late", "last"));
}

TEST(stage_order, follows_after) {
  const plan p = plan_of(
      spec_builder().input("x", {4}).stage("a", "gpu", {"x"}, {}, {"b"}).stage("b", "gpu", {"x"}));
  EXPECT_THAT(names_of(p.stages), ElementsAre("b", "a"));
}

TEST(stage_order, names_a_cycle_as_a_path_with_the_reason_of_each_step) {
  EXPECT_THAT(errors_of(spec_builder()
                            .stage("a", "gpu", {"z"}, {"x"})
                            .stage("b", "gpu", {"x"}, {"y"})
                            .stage("c", "gpu", {}, {"z"}, {"b"})),
              ElementsAre("cycle: a -> b -> c -> a ('b' reads 'x' of 'a', 'c' runs after 'b', 'a' "
                          "reads 'z' of 'c')"));
}

TEST(stage_order, names_every_cycle_and_not_what_follows_them) {
  EXPECT_THAT(errors_of(spec_builder()
                            .stage("behind", "flat", {"a"})
                            .stage("a", "gpu", {"b"})
                            .stage("b", "gpu", {"a"})
                            .stage("c", "gpu", {"d"})
                            .stage("d", "gpu", {"c"})),
              ElementsAre("cycle: a -> b -> a ('b' reads 'a' of 'a', 'a' reads 'b' of 'b')",
                          "cycle: c -> d -> c ('d' reads 'c' of 'c', 'c' reads 'd' of 'd')"));
}

}  // namespace
}  // namespace graphline::testing
