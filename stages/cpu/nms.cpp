#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "stages/cpu/quad.hpp"
#include "stages/cpu/ranking.hpp"
#include "stages/kinds.hpp"

namespace graphline {
namespace {

/// Returns intersection over union: NaN if both boxes are empty. NaN suppresses no box.
float overlap(const box& a, const box& b) noexcept {
  const float width = std::max(0.0F, std::min(a.x2, b.x2) - std::max(a.x1, b.x1));
  const float height = std::max(0.0F, std::min(a.y2, b.y2) - std::max(a.y1, b.y1));
  const float common = width * height;
  return common / (a.area() + b.area() - common);
}

/// Returns N for boxes of shape [.., N, 4].
std::int64_t per_entry(const shape& boxes) {
  return boxes[boxes.rank() - 2];
}

/// A box with its class.
struct classed_box {
  box corners;
  std::int64_t of_class;
};

/// Greedy non-maximum suppression for each entry of a batch. By falling score, each box is kept
/// unless a kept box of its class overlaps it by more than the threshold. The result equals that of
/// torchvision.ops.batched_nms or, without classes, torchvision.ops.nms.
class nms final : public cpu_stage {
 public:
  explicit nms(const stage_config& config)
      : iou_threshold_(config.arguments.number("iou_threshold")),
        max_outputs_(static_cast<std::size_t>(config.arguments.integer("max_outputs"))),
        centered_(config.arguments.text("format") == "center"),
        boxes_(static_cast<std::size_t>(per_entry(config.inputs.at(0).shape))) {
    if (config.arguments.has("score_threshold")) {
      score_threshold_ = config.arguments.number("score_threshold");
    }
    order_.reserve(boxes_);
    kept_.reserve(std::min(max_outputs_, boxes_));
  }

  void run(const cpu_call& call) override {
    const box* boxes = call.inputs[0].as<const box>();
    const float* scores = call.inputs[1].as<const float>();
    const auto* classes =
        call.inputs.size() > 2 ? call.inputs[2].as<const std::int64_t>() : nullptr;
    std::int64_t* indices = call.outputs[0].as<std::int64_t>();
    std::int64_t* counts = call.outputs[1].as<std::int64_t>();
    const auto entries = static_cast<std::size_t>(call.outputs[1].type.shape.elements());
    for (std::size_t entry = 0; entry < entries; ++entry) {
      const std::size_t first = entry * boxes_;
      counts[entry] =
          suppress(boxes + first, scores + first, classes == nullptr ? nullptr : classes + first,
                   indices + entry * max_outputs_);
    }
  }

 private:
  /// Processes one entry of a batch; `classes` may be null.
  /// @return the number of kept boxes
  std::int64_t suppress(const box* boxes, const float* scores, const std::int64_t* classes,
                        std::int64_t* indices) {
    rank(scores);
    kept_.clear();
    for (const ranked& candidate : order_) {
      if (kept_.size() == max_outputs_) break;
      const box& given = boxes[candidate.index()];
      const classed_box b{.corners = centered_ ? from_center(given) : given,
                          .of_class = classes == nullptr ? 0 : classes[candidate.index()]};
      if (suppressed(b)) continue;
      indices[kept_.size()] = candidate.index();
      kept_.push_back(b);
    }
    std::fill(indices + kept_.size(), indices + max_outputs_, -1);
    return static_cast<std::int64_t>(kept_.size());
  }

  void rank(const float* scores) {
    order_.clear();
    for (std::size_t i = 0; i < boxes_; ++i) {
      if (score_threshold_ && !(scores[i] > *score_threshold_)) continue;
      order_.emplace_back(scores[i], static_cast<std::uint32_t>(i));
    }
    std::sort(order_.begin(), order_.end());
  }

  bool suppressed(const classed_box& b) const {
    return std::any_of(kept_.begin(), kept_.end(), [&](const classed_box& k) {
      return k.of_class == b.of_class && overlap(k.corners, b.corners) > iou_threshold_;
    });
  }

  double iou_threshold_;
  std::optional<double> score_threshold_;
  std::size_t max_outputs_;
  bool centered_;
  std::size_t boxes_;  ///< number of boxes in an entry of a batch
  std::vector<ranked> order_;
  std::vector<classed_box> kept_;
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
  if (!sound) {
    out.error(given.where(),
              fmt::format("cpu.nms reads boxes float32 [N, 4], scores float32 [N] and optionally "
                          "classes int64 [N], or of a batch [B, N, 4], [B, N] and [B, N]; found "
                          "{}, {}{}",
                          to_string(boxes), to_string(scores),
                          inputs.size() < 3 ? "" : ", " + to_string(inputs[2])));
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
  stage_kind kind;
  kind.name = "cpu.nms";
  kind.headline = "Keep the best of overlapping boxes (non-maximum suppression)";
  kind.on = side::cpu;
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
       .help = "corners: x1, y1, x2, y2; center: x and y of the center, width, height.",
       .default_value = "corners",
       .choices = {"corners", "center"}},
  };
  kind.prepare = prepare_nms;
  return kind;
}

}  // namespace graphline
