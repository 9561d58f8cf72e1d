#include "framework/analysis/run/graph_cost.hpp"

#include <gtest/gtest.h>

#include "tests/analysis/sample_records.hpp"

namespace graphline {
namespace {

run_record with_graphs() {
  auto record = samples::two_models(timing_method::event, 5);
  samples::add_graphs(record);
  return record;
}

TEST(graph_cost, is_empty_without_graphs) {
  EXPECT_FALSE(graph_cost_of(samples::two_models(timing_method::event, 5)));
}

TEST(graph_cost, breaks_even_by_the_saving_per_frame) {
  const auto cost = *graph_cost_of(with_graphs());
  EXPECT_EQ(cost.graphs, 2U);
  EXPECT_EQ(cost.nodes, 14U);
  EXPECT_EQ(cost.capture, 800'000);
  EXPECT_EQ(cost.instantiate, 1'200'000);
  EXPECT_EQ(cost.first_launch, 100'000);
  EXPECT_EQ(cost.found, graph_cost_summary::comparison::saves);
  EXPECT_EQ(cost.saving, 14'000);
  EXPECT_EQ(cost.breaks_even_after, 150);  // 2.1 ms by 14 us
}

TEST(graph_cost, counts_every_executable) {
  auto record = with_graphs();
  for (auto& graph : record.graphs) {
    graph.executables = 3;
    graph.first_launch = 3'300'000;
  }
  EXPECT_EQ(graph_cost_of(record)->executables, 6U);
  EXPECT_EQ(graph_cost_of(record)->first_launch, 600'000);
}

TEST(graph_cost, compares_only_separate_quartiles) {
  auto record = with_graphs();
  for (auto& graph : record.graphs) graph.eager = {2'500, 2'500, 2'600, 9'500};
  EXPECT_EQ(graph_cost_of(record)->found, graph_cost_summary::comparison::no_difference);
  EXPECT_FALSE(graph_cost_of(record)->breaks_even_after);
  for (auto& graph : record.graphs) graph.eager = {1'000, 1'100, 1'000, 9'500};
  EXPECT_EQ(graph_cost_of(record)->found, graph_cost_summary::comparison::costs);
  EXPECT_EQ(graph_cost_of(record)->saving, -3'000);
}

TEST(graph_cost, is_unknown_for_fewer_than_three_repetitions) {
  auto record = with_graphs();
  record.graphs[1].launch.resize(2);
  EXPECT_EQ(graph_cost_of(record)->found, graph_cost_summary::comparison::too_few);
  EXPECT_FALSE(graph_cost_of(record)->saving);
  record = with_graphs();
  record.graphs[0].later_launch.resize(2);
  EXPECT_FALSE(graph_cost_of(record)->first_launch);
  EXPECT_EQ(graph_cost_of(record)->found, graph_cost_summary::comparison::saves);
  EXPECT_FALSE(graph_cost_of(record)->breaks_even_after);
  EXPECT_FALSE(median_of_repetitions({4, 2}));
  EXPECT_EQ(median_of_repetitions({4, 2, 9}), 4);
}

}  // namespace
}  // namespace graphline
