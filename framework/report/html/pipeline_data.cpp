#include "framework/report/html/pipeline_data.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/report/describe/graph_layout.hpp"
#include "framework/report/json/json_text.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

bool reads(const tensor_record& tensor, std::size_t stage) {
  return std::find(tensor.readers.begin(), tensor.readers.end(), stage) != tensor.readers.end();
}

json stage_data(const run_record& record, std::size_t index, const stage_summary& summary) {
  const auto& stage = record.stages[index];
  json data = {{"name", stage.name},
               {"kind", stage.kind},
               {"colour", stage.copy              ? "copy"
                          : stage.on == side::cpu ? "cpu"
                                                  : "device"},
               {"where", stage.on == side::cpu ? "CPU" : stage.stream},
               {"priority", to_word(stage.priority)}};
  const bool timed = !summary.columns.empty() && summary.columns.front().times;
  data["measure"] = timed ? json(key_of(summary.columns.front().what)) : json(nullptr);
  data["mean"] = timed ? json(summary.columns.front().times->mean()) : json(nullptr);
  data["share"] = or_null(summary.share);
  data["parts"] = json::array();
  for (const auto& part : stage.parts) data["parts"].push_back(part.name);
  data["reads"] = json::array();
  data["writes"] = json::array();
  for (std::size_t i = 0; i < record.tensors.size(); ++i) {
    if (reads(record.tensors[i], index)) data["reads"].push_back(i);
    if (record.tensors[i].writer == index) data["writes"].push_back(i);
  }
  data["waits"] = json::array();
  for (const auto& wait : stage.waits) {
    data["waits"].push_back({wait.stage, to_word(wait.how)});
  }
  return data;
}

/// The picture: inputs, stages and outputs as nodes, in an order that every edge follows.
class pipeline_graph {
 public:
  explicit pipeline_graph(const run_record& record) : record_(record) {
    add_inputs();
    for (std::size_t i = 0; i < record.stages.size(); ++i) nodes_.push_back({"stage", i});
    for (std::size_t i = 0; i < record.stages.size(); ++i) {
      for (const auto& wait : record.stages[i].waits) add_wait(wait, i);
    }
    add_outputs();
  }

  void write(json& to) const {
    std::vector<graph_edge> ends;
    for (const auto& drawn : edges_) ends.push_back(drawn.ends);
    const auto layout = lay_out(nodes_.size(), ends);
    to["nodes"] = json::array();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      to["nodes"].push_back({{"what", nodes_[i].what},
                             {"of", nodes_[i].of},
                             {"layer", layout.nodes[i].layer},
                             {"row", rounded(layout.nodes[i].row)}});
    }
    to["edges"] = json::array();
    for (std::size_t i = 0; i < edges_.size(); ++i) {
      json bends = json::array();
      for (const auto& bend : layout.bends[i]) bends.push_back({bend.layer, rounded(bend.row)});
      to["edges"].push_back({{"from", edges_[i].ends.from},
                             {"to", edges_[i].ends.to},
                             {"tensors", edges_[i].tensors},
                             {"how", or_null(edges_[i].how)},
                             {"bends", std::move(bends)}});
    }
    to["layers"] = layout.layers;
    to["rows"] = rounded(layout.rows);
  }

 private:
  struct node {
    const char* what;
    std::size_t of;
  };
  struct edge {
    graph_edge ends;
    std::vector<std::size_t> tensors;
    std::optional<std::string_view> how;
  };

  static double rounded(double row) { return std::round(row * 1000) / 1000; }

  std::size_t node_of(std::size_t stage) const { return inputs_ + stage; }

  void add_inputs() {
    for (const auto& tensor : record_.tensors) inputs_ += tensor.writer ? 0 : 1;
    for (std::size_t i = 0; i < record_.tensors.size(); ++i) {
      if (record_.tensors[i].writer) continue;
      for (const auto reader : record_.tensors[i].readers) {
        edges_.push_back({{nodes_.size(), node_of(reader)}, {i}, std::nullopt});
      }
      nodes_.push_back({"input", i});
    }
  }

  void add_wait(const wait_record& wait, std::size_t stage) {
    std::vector<std::size_t> tensors;
    for (std::size_t i = 0; i < record_.tensors.size(); ++i) {
      const auto& tensor = record_.tensors[i];
      if (tensor.writer == wait.stage && reads(tensor, stage)) tensors.push_back(i);
    }
    edges_.push_back(
        {{node_of(wait.stage), node_of(stage)}, std::move(tensors), to_word(wait.how)});
  }

  void add_outputs() {
    for (std::size_t i = 0; i < record_.tensors.size(); ++i) {
      const auto& tensor = record_.tensors[i];
      if (!tensor.writer || !tensor.readers.empty()) continue;
      edges_.push_back({{node_of(*tensor.writer), nodes_.size()}, {i}, std::nullopt});
      nodes_.push_back({"output", i});
    }
  }

  const run_record& record_;
  std::size_t inputs_ = 0;
  std::vector<node> nodes_;
  std::vector<edge> edges_;
};

}  // namespace

json pipeline_data(const run_record& record, const run_summary& summary) {
  auto data = json::object();
  data["stages"] = json::array();
  for (std::size_t i = 0; i < record.stages.size(); ++i) {
    data["stages"].push_back(stage_data(record, i, summary.stages[i]));
  }
  data["tensors"] = json::array();
  for (const auto& tensor : record.tensors) {
    data["tensors"].push_back({tensor.name, to_string(tensor.type)});
  }
  pipeline_graph(record).write(data);
  return data;
}

}  // namespace graphline
