#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/plan/plan.hpp"
#include "framework/record/fields.hpp"

namespace graphline {

/// Cost of one frame, counted as described in docs/costs.md. A figure is empty if it is unknown or
/// if a sum overflows 64 bits.
struct cost_figures {
  std::optional<std::int64_t> parameters;  ///< elements of the weights
  std::optional<std::int64_t> macs;
  std::optional<std::int64_t> flops;  ///< two for each MAC, and all other arithmetic
  std::optional<std::int64_t> bytes_read;
  std::optional<std::int64_t> bytes_written;
  std::optional<std::int64_t> bytes_rearranged;  ///< bytes that an implementation moves in addition
  /// FLOPs per byte read or written; empty if no byte is moved. A sum includes the stages whose
  /// FLOPs and bytes are both known.
  std::optional<double> intensity;
};

template <class Archive>
void fields(Archive& a, part_of_record<cost_figures> auto& of) {
  a.value("parameters", of.parameters, any_amount);
  a.value("macs", of.macs, any_amount);
  a.value("flops", of.flops, any_amount);
  a.value("bytes_read", of.bytes_read, any_amount);
  a.value("bytes_written", of.bytes_written, any_amount);
  a.value("bytes_rearranged", of.bytes_rearranged, any_amount);
  a.value("intensity", of.intensity, from_0);
}

/// A layer of a stage as written in the pipeline, before fusion.
struct layer_figures {
  std::string name;  ///< "0.conv2d", or the name given to it
  std::string kind;
  tensor_type output;
  cost_figures figures;
};

template <class Archive>
void fields(Archive& a, part_of_record<layer_figures> auto& of) {
  a.value("name", of.name);
  a.value("kind", of.kind);
  a.type(of.output);
  a.value("figures", of.figures);
}

/// A tensor that a stage writes.
struct written_tensor {
  std::string name;
  tensor_type type;
};

template <class Archive>
void fields(Archive& a, part_of_record<written_tensor> auto& of) {
  a.value("name", of.name);
  a.type(of.type);
}

/// Cost of a frame that takes a bucket of a stage with `rows`.
struct bucket_figures {
  std::int64_t rows = 0;
  cost_figures figures;
};

template <class Archive>
void fields(Archive& a, part_of_record<bucket_figures> auto& of) {
  a.value("rows", of.rows, from_1);
  a.value("figures", of.figures);
}

struct stage_figures {
  std::string name;
  std::string kind;
  side on = side::device;
  bool inserted = false;  ///< a copy that the planner inserted
  std::vector<written_tensor> outputs;
  cost_figures figures;
  std::vector<layer_figures> layers;
  std::vector<bucket_figures> buckets = {};  ///< ascending; `figures` is that of the last
};

template <class Archive>
void fields(Archive& a, part_of_record<stage_figures> auto& of) {
  a.value("name", of.name);
  a.value("kind", of.kind);
  a.value("on", of.on);
  a.value("inserted", of.inserted);
  a.value("outputs", of.outputs);
  a.value("figures", of.figures);
  a.value("layers", of.layers);
  a.value("buckets", of.buckets);
}

/// Cost of each stage of a pipeline, in planned order, and the sum.
struct cost_summary {
  std::string pipeline;
  std::string description;
  std::vector<std::pair<std::string, std::string>>
      parameters;  ///< of the pipeline, as name and value
  std::vector<stage_figures> stages;
  cost_figures total;  ///< sum over the stages whose cost is known; empty if there are none
  /// Indices of the stages missing from two groups of sums: MACs and FLOPs; bytes and parameters.
  std::vector<std::size_t> without_flops;
  std::vector<std::size_t> without_bytes;
};

template <class Archive>
void fields(Archive& a, part_of_record<cost_summary> auto& of) {
  a.value("pipeline", of.pipeline);
  a.value("description", of.description);
  a.value("parameters", of.parameters);
  a.value("stages", of.stages);
  a.value("total", of.total);
  a.value("without_flops", of.without_flops, index_below(of.stages.size()));
  a.value("without_bytes", of.without_bytes, index_below(of.stages.size()));
}

cost_summary summarize_cost(const plan& p);

}  // namespace graphline
