#include "framework/report/describe/graph_layout.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace graphline {
namespace {

/// What must hold for any graph: edges lead on, nothing of a layer lies on anything else of it, and
/// a bend in each layer that an edge passes.
void expect_sound(const graph_layout& layout, const std::vector<graph_edge>& edges) {
  ASSERT_EQ(layout.bends.size(), edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    auto layer = layout.nodes[edges[i].from].layer;
    for (const auto& bend : layout.bends[i]) EXPECT_EQ(bend.layer, ++layer);
    EXPECT_EQ(layout.nodes[edges[i].to].layer, layer + 1);
  }
  for (std::size_t a = 0; a < layout.nodes.size(); ++a) {
    const auto& node = layout.nodes[a];
    EXPECT_LT(node.layer, layout.layers);
    EXPECT_GE(node.row, 0);
    EXPECT_LE(node.row + 1, layout.rows + 1e-9);
    for (std::size_t b = 0; b < a; ++b) {
      if (node.layer != layout.nodes[b].layer) continue;
      EXPECT_GE(std::abs(node.row - layout.nodes[b].row), 1 - 1e-9) << a << " and " << b;
    }
    for (const auto& bends : layout.bends) {
      for (const auto& bend : bends) {
        if (bend.layer == node.layer) {
          EXPECT_GE(std::abs(bend.row - node.row), 0.7 - 1e-9);
        }
      }
    }
  }
}

TEST(graph_layout, of_no_nodes_takes_no_room) {
  const auto layout = lay_out(0, {});
  EXPECT_EQ(layout.layers, 0U);
  EXPECT_EQ(layout.rows, 0);
}

TEST(graph_layout, lays_a_chain_in_a_straight_line) {
  const auto layout = lay_out(3, {{0, 1}, {1, 2}});
  EXPECT_EQ(layout.layers, 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(layout.nodes[i].layer, i);
    EXPECT_EQ(layout.nodes[i].row, 0);
  }
  EXPECT_EQ(layout.rows, 1);
}

TEST(graph_layout, puts_what_joins_in_the_middle_of_what_it_joins) {
  const std::vector<graph_edge> edges = {{0, 3}, {1, 3}, {2, 3}};
  const auto layout = lay_out(4, edges);
  expect_sound(layout, edges);
  EXPECT_NEAR(layout.nodes[3].row, 1, 1e-9);
}

TEST(graph_layout, orders_a_layer_so_that_edges_do_not_cross) {
  // 0 leads to 3 and 1 to 2, which would cross in the order of the numbers.
  const auto layout = lay_out(4, {{0, 3}, {1, 2}});
  const bool first_above = layout.nodes[0].row < layout.nodes[1].row;
  const bool third_above = layout.nodes[3].row < layout.nodes[2].row;
  EXPECT_EQ(first_above, third_above);
}

TEST(graph_layout, leads_an_edge_past_the_nodes_between) {
  const std::vector<graph_edge> edges = {{0, 1}, {1, 2}, {2, 3}, {0, 3}};
  const auto layout = lay_out(4, edges);
  expect_sound(layout, edges);
  EXPECT_EQ(layout.bends[3].size(), 2U);
}

TEST(graph_layout, puts_what_nothing_leads_to_right_before_what_it_leads_to) {
  const std::vector<graph_edge> edges = {{0, 2}, {2, 3}, {3, 4}, {1, 4}};
  const auto layout = lay_out(5, edges);
  expect_sound(layout, edges);
  EXPECT_EQ(layout.nodes[1].layer, 2U);
  EXPECT_TRUE(layout.bends[3].empty());
}

TEST(graph_layout, keeps_everything_apart_in_any_graph) {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 60; ++trial) {
    const std::size_t nodes = 1 + random() % 24;
    std::vector<graph_edge> edges;
    for (std::size_t to = 1; to < nodes; ++to) {
      for (std::size_t from = 0; from < to; ++from) {
        if (random() % 5 == 0) edges.push_back({from, to});
      }
    }
    expect_sound(lay_out(nodes, edges), edges);
  }
}

}  // namespace
}  // namespace graphline
