#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "stages/nn/operations/box.hpp"
#include "stages/nn/operations/ranking.hpp"

namespace graphline::nn {

struct suppression_limits {
  double iou_threshold = 0;
  std::optional<double> score_threshold;  ///< boxes with a score at or below it are ignored
  std::size_t most = 0;
};

/// Greedy non-maximum suppression. By falling score, each box is kept unless a kept box of its
/// class overlaps it by more than the threshold. Of equal scores, the first box comes first.
class suppressor {
 public:
  suppressor(const suppression_limits& limits, std::size_t boxes) : limits_(limits) {
    order_.reserve(boxes);
    kept_.reserve(std::min(limits.most, boxes));
  }

  /// Calls `keep(i)` for each kept box i, the best first. `box_at(i)` and `class_of(i)` give a box
  /// and its class.
  template <class BoxAt, class ClassOf, class Keep>
  void run(std::span<const float> scores, const BoxAt& box_at, const ClassOf& class_of,
           const Keep& keep) {
    rank(scores);
    kept_.clear();
    for (const ranked& candidate : order_) {
      if (kept_.size() == limits_.most) break;
      const std::size_t i = candidate.index();
      const classed_box b{box_at(i), class_of(i)};
      if (suppressed(b)) continue;
      keep(i);
      kept_.push_back(b);
    }
  }

 private:
  struct classed_box {
    box corners;
    std::int64_t of_class;
  };

  void rank(std::span<const float> scores) {
    order_.clear();
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (limits_.score_threshold && !(scores[i] > *limits_.score_threshold)) continue;
      order_.emplace_back(scores[i], static_cast<std::uint32_t>(i));
    }
    std::sort(order_.begin(), order_.end());
  }

  bool suppressed(const classed_box& b) const {
    return std::any_of(kept_.begin(), kept_.end(), [&](const classed_box& k) {
      return k.of_class == b.of_class && overlap(k.corners, b.corners) > limits_.iou_threshold;
    });
  }

  suppression_limits limits_;
  std::vector<ranked> order_;
  std::vector<classed_box> kept_;
};

}  // namespace graphline::nn
