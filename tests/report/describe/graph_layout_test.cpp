#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "framework/report/describe/describe.hpp"

namespace graphline::report {
namespace {

using edges_of_graph = std::vector<std::pair<std::size_t, std::size_t>>;

pipeline_chart laid_out(std::size_t nodes, const edges_of_graph& edges) {
  pipeline_chart drawn;
  drawn.nodes.resize(nodes);
  for (const auto& [from, to] : edges) drawn.edges.push_back({from, to, {}, {}, {}});
  lay_out(drawn);
  return drawn;
}

/// What must hold for any graph: edges lead on, nothing of a layer lies on anything else of it, and
/// a bend in each layer that an edge passes.
void expect_sound(const pipeline_chart& layout) {
  for (const auto& edge : layout.edges) {
    auto layer = layout.nodes[edge.from].layer;
    for (const auto& [bend, row] : edge.bends) EXPECT_EQ(bend, ++layer);
    EXPECT_EQ(layout.nodes[edge.to].layer, layer + 1);
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
    for (const auto& edge : layout.edges) {
      for (const auto& [layer, row] : edge.bends) {
        if (layer != node.layer) continue;
        EXPECT_GE(std::abs(row - node.row), 0.7 - 1e-9);
      }
    }
  }
}

TEST(graph_layout, of_no_nodes_takes_no_room) {
  const auto layout = laid_out(0, {});
  EXPECT_EQ(layout.layers, 0U);
  EXPECT_EQ(layout.rows, 0);
}

TEST(graph_layout, lays_a_chain_in_a_straight_line) {
  const auto layout = laid_out(3, {{0, 1}, {1, 2}});
  EXPECT_EQ(layout.layers, 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(layout.nodes[i].layer, i);
    EXPECT_EQ(layout.nodes[i].row, 0);
  }
  EXPECT_EQ(layout.rows, 1);
}

TEST(graph_layout, puts_what_joins_in_the_middle_of_what_it_joins) {
  const auto layout = laid_out(4, {{0, 3}, {1, 3}, {2, 3}});
  expect_sound(layout);
  EXPECT_NEAR(layout.nodes[3].row, 1, 1e-9);
}

TEST(graph_layout, orders_a_layer_so_that_edges_do_not_cross) {
  // 0 leads to 3 and 1 to 2, which would cross in the order of the numbers.
  const auto layout = laid_out(4, {{0, 3}, {1, 2}});
  const bool first_above = layout.nodes[0].row < layout.nodes[1].row;
  const bool third_above = layout.nodes[3].row < layout.nodes[2].row;
  EXPECT_EQ(first_above, third_above);
}

TEST(graph_layout, leads_an_edge_past_the_nodes_between) {
  const auto layout = laid_out(4, {{0, 1}, {1, 2}, {2, 3}, {0, 3}});
  expect_sound(layout);
  EXPECT_EQ(layout.edges[3].bends.size(), 2U);
}

TEST(graph_layout, puts_what_nothing_leads_to_right_before_what_it_leads_to) {
  const auto layout = laid_out(5, {{0, 2}, {2, 3}, {3, 4}, {1, 4}});
  expect_sound(layout);
  EXPECT_EQ(layout.nodes[1].layer, 2U);
  EXPECT_TRUE(layout.edges[3].bends.empty());
}

TEST(graph_layout, keeps_everything_apart_in_any_graph) {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 60; ++trial) {
    const std::size_t nodes = 1 + random() % 24;
    edges_of_graph edges;
    for (std::size_t to = 1; to < nodes; ++to) {
      for (std::size_t from = 0; from < to; ++from) {
        if (random() % 5 == 0) edges.emplace_back(from, to);
      }
    }
    expect_sound(laid_out(nodes, edges));
  }
}

}  // namespace
}  // namespace graphline::report
