#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "stages/kinds.hpp"
#include "stages/nn/operations/ranking.hpp"

namespace graphline {
namespace {

class top_k final : public cpu_stage {
 public:
  explicit top_k(const stage_config&) {}

  void run(const cpu_call& call) override {
    const float* row = call.inputs[0].as<const float>();
    float* values = call.outputs[0].as<float>();
    std::int64_t* indices = call.outputs[1].as<std::int64_t>();
    const shape& read = call.inputs[0].type.shape;
    const std::int64_t each = read.extents().back();
    const std::int64_t rows = read.elements() / each;
    const auto k = static_cast<std::size_t>(call.outputs[0].type.shape.extents().back());
    candidates_.resize(static_cast<std::size_t>(each));
    for (std::int64_t r = 0; r < rows; ++r) {
      rank(row, k);
      for (std::size_t i = 0; i < k; ++i) {
        const std::uint32_t index = candidates_[i].index();
        values[i] = row[index];
        indices[i] = index;
      }
      row += candidates_.size();
      values += k;
      indices += k;
    }
  }

 private:
  /// Moves the k largest values of a row to the front, in order.
  void rank(const float* row, std::size_t k) {
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
      candidates_[c] = nn::ranked(row[c], static_cast<std::uint32_t>(c));
    }
    const auto end = candidates_.begin() + static_cast<std::ptrdiff_t>(k);
    if (end != candidates_.end()) std::nth_element(candidates_.begin(), end, candidates_.end());
    std::sort(candidates_.begin(), end);
  }

  std::vector<nn::ranked> candidates_;  // values of the current row
};

/// FLOPs are unknown, because comparisons do not count as FLOPs.
prepared_stage prepare_top_k(const arguments& given, std::span<const tensor_type> inputs,
                             diagnostics& out) {
  const tensor_type& input = inputs[0];
  if (input.element != dtype::float32 || input.shape.rank() == 0) {
    out.error(given.where(),
              fmt::format("cpu.top_k reads float32 [.., C], found {}", to_string(input)));
    return {};
  }
  std::vector<std::int64_t> extents = input.shape.extents();
  const std::int64_t k = given.integer("k");
  if (k > extents.back()) {
    out.error(given.where("k"),
              fmt::format("'k' must be at most {}, the last extent of {}, found {}", extents.back(),
                          to_string(input), k));
    return {};
  }
  if (extents.back() > std::numeric_limits<std::uint32_t>::max()) {
    out.error(given.where(),
              fmt::format("cpu.top_k ranks fewer than 2^32 values, found {}", to_string(input)));
    return {};
  }

  extents.back() = k;
  return prepared_moves(inputs, {{shape(extents), dtype::float32}, {shape(extents), dtype::int64}},
                        make_cpu_stage<top_k>);
}

}  // namespace

stage_kind top_k_kind() {
  stage_kind kind =
      kind_named("cpu.top_k", "Find the largest values along the last axis and their indices");
  kind.inputs = {{"scores", "float32 [.., C]", true}};
  kind.outputs = {
      {"values", "float32 [.., k], largest first; NaN counts as the largest", true},
      {"indices", "int64 [.., k], positions along the last axis; the lower first among equals",
       true}};
  kind.parameters = {{.name = "k",
                      .type = parameter_type::integer,
                      .help = "Number of values to keep, at most C.",
                      .required = true,
                      .minimum = 1}};
  kind.prepare = prepare_top_k;
  return kind;
}

}  // namespace graphline
