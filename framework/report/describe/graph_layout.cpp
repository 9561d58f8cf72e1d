#include <algorithm>
#include <limits>

#include "framework/report/describe/describe.hpp"

namespace graphline::report {

namespace {

constexpr int sweeps = 12;

/// The longest way to each node, in edges.
std::vector<std::size_t> layers_of(std::size_t nodes, std::vector<pipeline_chart::edge> edges) {
  std::vector<std::size_t> layer(nodes, 0);
  std::vector<bool> led_to(nodes, false);
  std::ranges::sort(edges, {}, &pipeline_chart::edge::from);
  for (const auto& edge : edges) {
    layer[edge.to] = std::max(layer[edge.to], layer[edge.from] + 1);
    led_to[edge.to] = true;
  }
  std::vector<std::size_t> first(nodes, std::numeric_limits<std::size_t>::max());
  for (const auto& edge : edges) first[edge.from] = std::min(first[edge.from], layer[edge.to]);
  for (std::size_t i = 0; i < nodes; ++i) {
    const bool leads = first[i] != std::numeric_limits<std::size_t>::max();
    if (!led_to[i] && leads) layer[i] = first[i] - 1;
  }
  return layer;
}

/// The graph with a bend in each layer that an edge passes, so that every edge is one layer long.
class layered_graph {
 public:
  explicit layered_graph(const pipeline_chart& of)
      : real_(of.nodes.size()), layer_(layers_of(real_, of.edges)), before_(real_), after_(real_) {
    for (const auto& edge : of.edges) {
      std::size_t last = edge.from;
      std::vector<std::size_t> bends;
      for (auto at = layer_[edge.from] + 1; at < layer_[edge.to]; ++at) {
        bends.push_back(layer_.size());
        layer_.push_back(at);
        before_.emplace_back();
        after_.emplace_back();
        connect(last, bends.back());
        last = bends.back();
      }
      connect(last, edge.to);
      bends_.push_back(std::move(bends));
    }
    for (std::size_t i = 0; i < layer_.size(); ++i) {
      if (layer_[i] >= order_.size()) order_.resize(layer_[i] + 1);
      order_[layer_[i]].push_back(i);
    }
    row_.resize(layer_.size());
    number();
  }

  /// Puts each layer in the order of the middles of what it is connected with, down and up in turn,
  /// and keeps the best of all.
  void uncross() {
    auto best = order_;
    std::size_t fewest = crossings();
    for (int sweep = 0; sweep < sweeps && fewest > 0; ++sweep) {
      for_each_layer(sweep, [&](std::vector<std::size_t>& layer, const auto& beside) {
        std::stable_sort(layer.begin(), layer.end(), [&](std::size_t a, std::size_t b) {
          return middle(a, beside[a]) < middle(b, beside[b]);
        });
        for (std::size_t i = 0; i < layer.size(); ++i) row_[layer[i]] = static_cast<double>(i);
      });
      const auto now = crossings();
      if (now < fewest) {
        fewest = now;
        best = order_;
      }
    }
    order_ = std::move(best);
    number();
  }

  /// Moves what is in a layer towards what it is connected with, in its order and apart.
  void straighten() {
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      for_each_layer(sweep, [&](const std::vector<std::size_t>& layer, const auto& beside) {
        place_apart(layer, beside);
      });
    }
    const double least = row_.empty() ? 0 : *std::min_element(row_.begin(), row_.end());
    for (auto& row : row_) row -= least;
  }

  void write(pipeline_chart& to) const {
    for (std::size_t i = 0; i < real_; ++i) {
      to.nodes[i].layer = layer_[i];
      to.nodes[i].row = row_[i];
    }
    for (std::size_t i = 0; i < bends_.size(); ++i) {
      for (const auto bend : bends_[i]) to.edges[i].bends.emplace_back(layer_[bend], row_[bend]);
    }
    to.layers = order_.size();
    to.rows = row_.empty() ? 0 : *std::ranges::max_element(row_) + 1;
  }

 private:
  using lists = std::vector<std::vector<std::size_t>>;

  void connect(std::size_t from, std::size_t to) {
    after_[from].push_back(to);
    before_[to].push_back(from);
  }

  void number() {
    for (const auto& layer : order_) {
      for (std::size_t i = 0; i < layer.size(); ++i) row_[layer[i]] = static_cast<double>(i);
    }
  }

  /// From the first layer to the last with what stands before it, in odd sweeps the other way round
  /// with what stands after it.
  template <class Visit>
  void for_each_layer(int sweep, Visit visit) {
    if (sweep % 2 == 0) {
      for (auto& layer : order_) visit(layer, before_);
    } else {
      for (auto layer = order_.rbegin(); layer != order_.rend(); ++layer) visit(*layer, after_);
    }
  }

  double middle(std::size_t node, const std::vector<std::size_t>& beside) const {
    if (beside.empty()) return row_[node];
    double sum = 0;
    for (const auto other : beside) sum += row_[other];
    return sum / static_cast<double>(beside.size());
  }

  std::size_t crossings() const {
    std::size_t count = 0;
    for (const auto& layer : order_) {
      std::vector<double> ends;  // of the edges that leave the layer, by their beginnings
      for (const auto node : layer) {
        const auto first = ends.size();
        for (const auto other : after_[node]) {
          count += static_cast<std::size_t>(
              std::count_if(ends.begin(), ends.begin() + static_cast<std::ptrdiff_t>(first),
                            [&](double end) { return end > row_[other]; }));
          ends.push_back(row_[other]);
        }
      }
    }
    return count;
  }

  /// Bends need less room than nodes.
  double room(std::size_t node) const { return node < real_ ? 1 : 0.4; }

  /// The rows nearest to where each would be, by least squares, that keep the order and the room:
  /// an isotonic regression, by pooling neighbors that are in each other's way.
  void place_apart(const std::vector<std::size_t>& layer, const lists& beside) {
    struct pool {
      double sum;
      double count;
      double mean() const { return sum / count; }
    };
    std::vector<pool> pools;
    std::vector<double> offset;
    for (const auto node : layer) {
      offset.push_back(
          offset.empty() ? 0 : offset.back() + (room(layer[offset.size() - 1]) + room(node)) / 2);
      pools.push_back({middle(node, beside[node]) - offset.back(), 1});
      while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
        const auto last = pools.back();
        pools.pop_back();
        pools.back() = {pools.back().sum + last.sum, pools.back().count + last.count};
      }
    }
    std::size_t i = 0;
    for (const auto& p : pools) {
      for (double n = 0; n < p.count; ++n, ++i) row_[layer[i]] = p.mean() + offset[i];
    }
  }

  std::size_t real_;  ///< nodes; bends come after them
  std::vector<std::size_t> layer_;
  lists before_;
  lists after_;
  lists bends_;  ///< by edge
  lists order_;  ///< by layer
  std::vector<double> row_;
};

}  // namespace

void lay_out(pipeline_chart& of) {
  layered_graph graph(of);
  graph.uncross();
  graph.straighten();
  graph.write(of);
}

}  // namespace graphline::report
