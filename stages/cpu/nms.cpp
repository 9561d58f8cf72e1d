#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "stages/kinds.hpp"
#include "stages/nn/operations/suppression.hpp"

namespace graphline {
namespace {

/// Returns N for boxes of shape [.., N, 4].
std::int64_t per_entry(const shape& boxes) {
  return boxes[boxes.rank() - 2];
}

nn::suppression_limits limits_of(const arguments& given) {
  nn::suppression_limits limits{.iou_threshold = given.number("iou_threshold"),
                                .score_threshold = {},
                                .most = static_cast<std::size_t>(given.integer("max_outputs"))};
  if (given.has("score_threshold")) limits.score_threshold = given.number("score_threshold");
  return limits;
}

/// Suppresses the boxes of each entry of a batch, as torchvision.ops.batched_nms does or, without
/// classes, torchvision.ops.nms.
class nms final : public cpu_stage {
 public:
  explicit nms(const stage_config& config)
      : boxes_(static_cast<std::size_t>(per_entry(config.inputs.at(0).shape))),
        max_outputs_(limits_of(config.arguments).most),
        centered_(config.arguments.text("format") == "center"),
        suppressor_(limits_of(config.arguments), boxes_) {}

  void run(const cpu_call& call) override {
    const nn::box* boxes = call.inputs[0].as<const nn::box>();
    const float* scores = call.inputs[1].as<const float>();
    const auto* classes =
        call.inputs.size() > 2 ? call.inputs[2].as<const std::int64_t>() : nullptr;
    std::int64_t* indices = call.outputs[0].as<std::int64_t>();
    std::int64_t* counts = call.outputs[1].as<std::int64_t>();
    const auto entries = static_cast<std::size_t>(call.outputs[1].type.shape.elements());
    for (std::size_t entry = 0; entry < entries; ++entry) {
      const std::size_t first = entry * boxes_;
      std::int64_t* const begin = indices + entry * max_outputs_;
      std::int64_t* end = begin;
      suppressor_.run(
          {scores + first, boxes_},
          [&](std::size_t i) {
            return centered_ ? nn::from_center(boxes[first + i]) : boxes[first + i];
          },
          [&](std::size_t i) { return classes == nullptr ? 0 : classes[first + i]; },
          [&](std::size_t i) { *end++ = static_cast<std::int64_t>(i); });
      counts[entry] = end - begin;
      std::fill(end, begin + max_outputs_, -1);
    }
  }

 private:
  std::size_t boxes_;  ///< number of boxes in an entry of a batch
  std::size_t max_outputs_;
  bool centered_;
  nn::suppressor suppressor_;
};

/// Upper bound of `max_outputs`, so that the size of the indices in bytes fits into 64 bits.
constexpr std::int64_t most_kept = std::int64_t{1} << 56;

/// Returns true if `values` has one score or class per box: the shape of `boxes` with the last
/// extent removed or 1. Layers with one feature and cpu.top_k with k = 1 write a last extent of 1.
bool one_each(const shape& boxes, const shape& values) {
  std::vector<std::int64_t> expected = boxes.extents();
  expected.back() = 1;
  if (values.extents() == expected) return true;
  expected.pop_back();
  return values.extents() == expected;
}

/// FLOPs are unknown, because they depend on the boxes.
prepared_stage prepare_nms(const arguments& given, std::span<const tensor_type> inputs,
                           diagnostics& out) {
  const tensor_type& boxes = inputs[0];
  const tensor_type& scores = inputs[1];
  const bool sound = boxes.element == dtype::float32 && scores.element == dtype::float32 &&
                     (boxes.shape.rank() == 2 || boxes.shape.rank() == 3) &&
                     boxes.shape.extents().back() == 4 && one_each(boxes.shape, scores.shape) &&
                     (inputs.size() < 3 || (inputs[2].element == dtype::int64 &&
                                            one_each(boxes.shape, inputs[2].shape)));
  if (!check_inputs(sound, given, inputs,
                    "cpu.nms reads boxes float32 [N, 4], scores float32 [N] and optionally "
                    "classes int64 [N], or of a batch [B, N, 4], [B, N] and [B, N]",
                    out)) {
    return {};
  }
  if (per_entry(boxes.shape) > std::numeric_limits<std::uint32_t>::max()) {
    out.error(given.where(),
              fmt::format("cpu.nms takes fewer than 2^32 boxes, found {}", to_string(boxes)));
    return {};
  }

  const std::int64_t kept = given.integer("max_outputs");
  if (boxes.shape.rank() == 3) {
    const std::int64_t entries = boxes.shape[0];
    if (entries > most_kept / kept) {
      out.error(given.where("max_outputs"),
                fmt::format("'max_outputs' of {} for each of {} entries of the batch takes more "
                            "than any memory holds",
                            kept, entries));
      return {};
    }
    return prepared_moves(inputs, {{{entries, kept}, dtype::int64}, {{entries}, dtype::int64}},
                          make_cpu_stage<nms>);
  }
  return prepared_moves(inputs, {{{kept}, dtype::int64}, {{1}, dtype::int64}}, make_cpu_stage<nms>);
}

}  // namespace

stage_kind nms_kind() {
  stage_kind kind =
      kind_named("cpu.nms", "Keep the best of overlapping boxes (non-maximum suppression)");
  // Rows are the entries of a batch. Without a batch, boxes are not independent of each other: the
  // first extents of `boxes` and `count` then differ, and a plan refuses `rows`.
  kind.inputs = {{"boxes", "float32 [N, 4], or of a batch [B, N, 4]", true},
                 {"scores", "float32 [N] or [N, 1], of a batch [B, N] or [B, N, 1]", true},
                 {"classes",
                  "int64, shaped like scores; with them a box is dropped only for a better one of "
                  "its class",
                  true}};
  kind.optional_inputs = 1;
  kind.outputs = {
      {"indices", "int64 [max_outputs] or [B, max_outputs]: positions among N, best first, then -1",
       true},
      {"count", "int64 [1] or [B], how many were kept", true}};
  kind.parameters = {
      {.name = "iou_threshold",
       .type = parameter_type::number,
       .help = "A box is dropped when its intersection over union with a better one is above this.",
       .default_value = "0.5",
       .minimum = 0,
       .maximum = 1},
      {.name = "max_outputs",
       .type = parameter_type::integer,
       .help = "Maximum number of boxes.",
       .required = true,
       .minimum = 1,
       .maximum = std::numeric_limits<std::int32_t>::max()},
      {.name = "score_threshold",
       .type = parameter_type::number,
       .help = "Boxes with a score at or below this are ignored."},
      {.name = "format",
       .type = parameter_type::choice,
       .help = "corners: x1, y1, x2, y2. center: center x, center y, width, height.",
       .default_value = "corners",
       .choices = {"corners", "center"}},
  };
  kind.prepare = prepare_nms;
  return kind;
}

}  // namespace graphline
