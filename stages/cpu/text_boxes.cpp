#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "stages/cpu/quad.hpp"
#include "stages/kinds.hpp"

namespace graphline {
namespace {

/// Returns the corners of the convex hull in the order of its outline (Andrew's monotone chain).
/// @pre the points are sorted by y, then x
std::vector<point> convex_hull(const std::vector<point>& points) {
  if (points.size() < 3) return points;
  std::vector<point> hull;
  const auto add = [&](point p, std::size_t least) {
    const auto turns_back = [&] {
      return cross(hull.back() - hull[hull.size() - 2], p - hull.back()) <= 0;
    };
    while (hull.size() > least && turns_back()) hull.pop_back();
    hull.push_back(p);
  };
  for (const point& p : points) add(p, 1);
  const std::size_t half = hull.size();
  for (std::size_t i = points.size() - 1; i-- > 0;) add(points[i], half);
  hull.pop_back();  // equal to the first
  return hull;
}

/// A rotated rectangle: a corner, and the directions and lengths of the two sides from that corner.
struct rectangle {
  point corner;
  point along;  ///< unit vector, as is `across`
  point across;
  float width = 0;  ///< along `along`
  float height = 0;

  float narrow() const noexcept { return std::min(width, height); }

  quad corners() const noexcept {
    const point to = along * width;
    const point down = across * height;
    return {corner, corner + to, corner + to + down, corner + down};
  }
};

/// Returns the rectangle of least area around a hull. A side of the rectangle lies on a side of the
/// hull (Freeman and Shapira 1975).
rectangle least_rectangle(const std::vector<point>& hull) {
  rectangle best;
  float least = std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < hull.size(); ++i) {
    const point edge = hull[(i + 1) % hull.size()] - hull[i];
    if (length(edge) == 0) continue;
    const point along = edge * (1 / length(edge));
    const point across{-along.y, along.x};
    point low{dot(hull[0], along), dot(hull[0], across)};
    point high = low;
    for (const point& p : hull) {
      const point at{dot(p, along), dot(p, across)};
      low = {std::min(low.x, at.x), std::min(low.y, at.y)};
      high = {std::max(high.x, at.x), std::max(high.y, at.y)};
    }
    const point extent = high - low;
    if (extent.x * extent.y >= least) continue;
    least = extent.x * extent.y;
    best = {along * low.x + across * low.y, along, across, extent.x, extent.y};
  }
  return best;
}

/// Returns the outline at `distance` around clockwise corners, as integer points sorted by y, then
/// x. PaddleOCR grows regions with the same algorithm, Clipper 6.4 (ClipperOffset::DoRound, arc
/// tolerance 0.25). At distance 0, the points are the corners.
std::vector<point> points_around(const quad& corners, double distance) {
  const double tolerance = 0.25 * std::min(1.0, distance);
  const double steps =  // per full turn
      std::min(std::numbers::pi / std::acos(1 - tolerance / distance), std::numbers::pi * distance);
  const double step = 2 * std::numbers::pi / steps;
  const auto outwards = [&](std::size_t side) {
    const point along = corners[(side + 1) % 4] - corners[side % 4];
    return std::atan2(static_cast<double>(-along.x), static_cast<double>(along.y));
  };
  std::vector<point> around;
  const auto add = [&](point corner, double direction) {
    const auto moved = [&](float from, double by) {
      return static_cast<float>(std::round(static_cast<double>(from) + by * distance));
    };
    around.push_back({moved(corner.x, std::cos(direction)), moved(corner.y, std::sin(direction))});
  };
  for (std::size_t i = 0; i < 4; ++i) {
    const double first = outwards(i + 3);
    const double last = outwards(i);
    const double turn = std::abs(std::remainder(last - first, 2 * std::numbers::pi));
    const long count = distance == 0 ? 0 : std::max(std::lround(turn / step), 1L);
    for (long k = 0; k < count; ++k) add(corners[i], first + static_cast<double>(k) * step);
    add(corners[i], last);
  }
  std::ranges::sort(around, {}, [](const point& p) { return std::pair(p.y, p.x); });
  return around;
}

/// Orders corners clockwise from the top left, which is the upper of the two leftmost corners.
quad from_top_left(quad corners) {
  std::ranges::sort(corners, {}, &point::x);
  if (corners[0].y > corners[1].y) std::swap(corners[0], corners[1]);
  if (corners[2].y > corners[3].y) std::swap(corners[2], corners[3]);
  return {corners[0], corners[2], corners[3], corners[1]};
}

struct text_box {
  quad corners;
  float score = 0;
};

/// Sorts boxes in reading order: from top to bottom, and from left to right if their tops differ by
/// less than ten pixels.
void put_in_reading_order(std::vector<text_box>& boxes) {
  const auto top = [](const text_box& box) { return box.corners[0].y; };
  const auto left = [](const text_box& box) { return box.corners[0].x; };
  std::ranges::stable_sort(boxes, {},
                           [&](const text_box& b) { return std::pair(top(b), left(b)); });
  for (std::size_t i = 1; i < boxes.size(); ++i) {
    for (std::size_t j = i;
         j > 0 && top(boxes[j]) - top(boxes[j - 1]) < 10 && left(boxes[j]) < left(boxes[j - 1]);
         --j) {
      std::swap(boxes[j], boxes[j - 1]);
    }
  }
}

/// Finds the boxes of each map by "Real-time Scene Text Detection with Differentiable Binarization"
/// (Liao et al., 2020). As in PaddleOCR, the mask grows by a pixel to the right and down, and
/// regions narrower than three pixels are dropped.
class text_boxes final : public cpu_stage {
 public:
  explicit text_boxes(const stage_config& config)
      : threshold_(static_cast<float>(config.arguments.number("threshold"))),
        box_threshold_(static_cast<float>(config.arguments.number("box_threshold"))),
        unclip_(config.arguments.number("unclip")),
        rows_(static_cast<std::size_t>(config.inputs.at(0).shape[2])),
        columns_(static_cast<std::size_t>(config.inputs.at(0).shape[3])),
        open_(rows_ * columns_) {}

  void run(const cpu_call& call) override {
    const float* map = call.inputs[0].as<const float>();
    quad* corners = call.outputs[0].as<quad>();
    std::int64_t* counts = call.outputs[1].as<std::int64_t>();
    const shape& written = call.outputs[0].type.shape;
    const auto most = static_cast<std::size_t>(written[1]);
    for (std::int64_t entry = 0; entry < written[0]; ++entry) {
      find_boxes(map);
      counts[entry] = static_cast<std::int64_t>(found_.size());
      if (found_.size() > most) {
        std::ranges::stable_sort(found_, std::ranges::greater(), &text_box::score);
        found_.resize(most);
      }
      put_in_reading_order(found_);
      for (std::size_t i = 0; i < most; ++i) {
        corners[i] = i < found_.size() ? found_[i].corners : quad{};
      }
      map += open_.size();
      corners += most;
    }
  }

 private:
  void find_boxes(const float* map) {
    found_.clear();
    mark(map);
    for (std::size_t start = 0; start < open_.size(); ++start) {
      if (!open_[start]) continue;
      const rectangle region = least_rectangle(convex_hull(outline_of(start)));
      if (region.narrow() < 3) continue;
      const float score = mean_within(region, map);
      if (score < box_threshold_) continue;
      quad corners = region.corners();
      for (point& p : corners) p = {std::trunc(p.x), std::trunc(p.y)};  // Clipper takes integers
      const auto width = static_cast<double>(region.width);
      const auto height = static_cast<double>(region.height);
      const double distance = unclip_ * width * height / (2 * (width + height));
      const rectangle text = least_rectangle(convex_hull(points_around(corners, distance)));
      if (text.narrow() < 5) continue;
      add(text, score);
    }
  }

  void add(const rectangle& text, float score) {
    quad corners = from_top_left(text.corners());
    for (point& p : corners) {
      p.x = std::clamp(std::nearbyint(p.x), 0.0F, static_cast<float>(columns_ - 1));
      p.y = std::clamp(std::nearbyint(p.y), 0.0F, static_cast<float>(rows_ - 1));
    }
    const auto wide_enough = [&](std::size_t to) { return length(corners[0] - corners[to]) >= 4; };
    if (wide_enough(1) && wide_enough(3)) found_.push_back({corners, score});
  }

  /// Sets `open_` for pixels above the threshold and for their neighbors to the right and below.
  void mark(const float* map) {
    open_.assign(open_.size(), false);
    for (std::size_t y = 0; y < rows_; ++y) {
      for (std::size_t x = 0; x < columns_; ++x) {
        if (!(map[y * columns_ + x] > threshold_)) continue;
        for (const std::size_t to_y : {y, std::min(y + 1, rows_ - 1)}) {
          for (const std::size_t to_x : {x, std::min(x + 1, columns_ - 1)}) {
            open_[to_y * columns_ + to_x] = true;
          }
        }
      }
    }
  }

  /// Returns the first and last pixel in each row of the 8-connected region at `start`, from top to
  /// bottom, and clears `open_` for the region. `start` is the first pixel of the region.
  const std::vector<point>& outline_of(std::size_t start) {
    first_.assign(rows_, columns_);
    last_.assign(rows_, 0);
    open_[start] = false;
    pending_ = {start};
    while (!pending_.empty()) {
      const std::size_t y = pending_.back() / columns_;
      const std::size_t x = pending_.back() % columns_;
      pending_.pop_back();
      first_[y] = std::min(first_[y], x);
      last_[y] = std::max(last_[y], x);
      for (std::size_t to_y = y - (y > 0); to_y <= std::min(y + 1, rows_ - 1); ++to_y) {
        for (std::size_t to_x = x - (x > 0); to_x <= std::min(x + 1, columns_ - 1); ++to_x) {
          const std::size_t to = to_y * columns_ + to_x;
          if (!open_[to]) continue;
          open_[to] = false;
          pending_.push_back(to);
        }
      }
    }
    outline_.clear();
    for (std::size_t y = start / columns_; y < rows_ && first_[y] < columns_; ++y) {
      const auto row = static_cast<float>(y);
      outline_.push_back({static_cast<float>(first_[y]), row});
      if (last_[y] > first_[y]) outline_.push_back({static_cast<float>(last_[y]), row});
    }
    return outline_;
  }

  /// Returns the mean of the map over the pixels whose centers lie in a rectangle.
  float mean_within(const rectangle& r, const float* map) const {
    const quad corners = r.corners();
    const auto [left, right] = std::ranges::minmax(corners, {}, &point::x);
    const auto [top, bottom] = std::ranges::minmax(corners, {}, &point::y);
    const auto pixel = [](float at, std::size_t extent) {
      return static_cast<std::size_t>(std::clamp(at, 0.0F, static_cast<float>(extent - 1)));
    };
    constexpr float slack = 0.01F;  // for rounding errors
    double sum = 0;
    std::int64_t count = 0;
    for (std::size_t y = pixel(top.y, rows_); y <= pixel(bottom.y + 1, rows_); ++y) {
      for (std::size_t x = pixel(left.x, columns_); x <= pixel(right.x + 1, columns_); ++x) {
        const point from = point{static_cast<float>(x), static_cast<float>(y)} - r.corner;
        const auto within = [](float at, float extent) {
          return at >= -slack && at <= extent + slack;
        };
        if (!within(dot(from, r.along), r.width) || !within(dot(from, r.across), r.height))
          continue;
        sum += static_cast<double>(map[y * columns_ + x]);
        ++count;
      }
    }
    return count == 0 ? 0 : static_cast<float>(sum / static_cast<double>(count));
  }

  float threshold_;
  float box_threshold_;
  double unclip_;
  std::size_t rows_;
  std::size_t columns_;
  std::vector<bool> open_;  // pixels of the mask that are in no region so far
  std::vector<std::size_t> first_;
  std::vector<std::size_t> last_;
  std::vector<std::size_t> pending_;
  std::vector<point> outline_;
  std::vector<text_box> found_;
};

/// FLOPs are unknown, because they depend on the map.
prepared_stage prepare_text_boxes(const arguments& given, std::span<const tensor_type> inputs,
                                  diagnostics& out) {
  const tensor_type& map = inputs[0];
  if (map.element != dtype::float32 || map.shape.rank() != 4 || map.shape[1] != 1) {
    out.error(given.where(),
              fmt::format("cpu.text_boxes reads float32 [B, 1, H, W], found {}", to_string(map)));
    return {};
  }
  return prepared_moves(inputs,
                        {{{map.shape[0], given.integer("max_outputs"), 4, 2}, dtype::float32},
                         {{map.shape[0]}, dtype::int64}},
                        make_cpu_stage<text_boxes>);
}

}  // namespace

stage_kind text_boxes_kind() {
  stage_kind kind = kind_named(
      "cpu.text_boxes", "Find lines of text in a probability map (differentiable binarization)");
  kind.inputs = {{"probabilities", "float32 [B, 1, H, W], of each pixel to be of a text"}};
  kind.outputs = {{"boxes",
                   "float32 [B, max_outputs, 4, 2]: x and y of the corners in pixels of the map, "
                   "clockwise from the top left, in reading order, then zeros"},
                  {"count", "int64 [B], how many were found; may be more than max_outputs"}};
  kind.parameters = {
      {.name = "threshold",
       .type = parameter_type::number,
       .help = "Pixels above this belong to a text.",
       .default_value = "0.3",
       .minimum = 0,
       .maximum = 1},
      {.name = "box_threshold",
       .type = parameter_type::number,
       .help = "Boxes whose mean probability is below this are dropped.",
       .default_value = "0.5",
       .minimum = 0,
       .maximum = 1},
      {.name = "unclip",
       .type = parameter_type::number,
       .help = "How far boxes grow on each side, by their area over their perimeter: such maps "
               "show the inside of a text.",
       .default_value = "1.6",
       .minimum = 0,
       .maximum = 100},
      {.name = "max_outputs",
       .type = parameter_type::integer,
       .help = "Maximum number of boxes; the most probable are kept.",
       .required = true,
       .minimum = 1,
       .maximum = 65536},
  };
  kind.prepare = prepare_text_boxes;
  return kind;
}

}  // namespace graphline
