#pragma once

#include <cstddef>
#include <vector>

namespace graphline {

/// A place in a drawn graph: layers follow the edges, rows lie across them.
struct graph_place {
  std::size_t layer = 0;
  double row = 0;  ///< from 0; two nodes of a layer are at least 1 apart
};

/// An edge between two nodes by index, from a lower to a higher one.
struct graph_edge {
  std::size_t from = 0;
  std::size_t to = 0;
};

struct graph_layout {
  std::vector<graph_place> nodes;               ///< by node
  std::vector<std::vector<graph_place>> bends;  ///< by edge: one place in each layer it passes
  std::size_t layers = 0;
  double rows = 0;  ///< the last row that is taken, plus 1; 0 without nodes
};

/// Places the nodes of an acyclic graph so that edges lead on and lie straight, with few crossings,
/// and that what passes a layer passes beside its nodes. After Sugiyama, Tagawa and Toda, "Methods
/// for visual understanding of hierarchical system structures" (1981): layers by the longest path,
/// order by barycentres. A node that nothing leads to stands right before the first that it leads
/// to.
graph_layout lay_out(std::size_t nodes, const std::vector<graph_edge>& edges);

}  // namespace graphline
