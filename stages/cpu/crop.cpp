#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "stages/cpu/quad.hpp"
#include "stages/kinds.hpp"

namespace graphline {
namespace {

/// Where the points of a rectangle lie in a picture, of which the corners are known: a projective
/// map (Heckbert, "Fundamentals of Texture Mapping and Image Warping", 1989, section 2.2.3).
class projection {
 public:
  projection(const quad& to, float width, float height) : origin_(to[0]) {
    const point at1 = to[1] - to[2];
    const point at2 = to[3] - to[2];
    const point sum = to[0] - to[1] + to[2] - to[3];
    const float area = cross(at1, at2);
    const float g = area == 0 ? 0 : cross(sum, at2) / area;
    const float h = area == 0 ? 0 : cross(at1, sum) / area;
    along_ = (to[1] - to[0] + to[1] * g) * (1 / width);
    down_ = (to[3] - to[0] + to[3] * h) * (1 / height);
    g_ = g / width;
    h_ = h / height;
  }

  point operator()(float u, float v) const noexcept {
    return (origin_ + along_ * u + down_ * v) * (1 / (1 + g_ * u + h_ * v));
  }

 private:
  point origin_;
  point along_;
  point down_;
  float g_ = 0;
  float h_ = 0;
};

/// The value between the four pixels around a point, linear; outside, that at the edge.
float value_at(const float* plane, std::size_t rows, std::size_t columns, point p) {
  const auto taps = [](float at, std::size_t extent) {
    // In this order NaN becomes 0.
    const float inside = std::max(0.0F, std::min(at, static_cast<float>(extent - 1)));
    const auto first = static_cast<std::size_t>(inside);
    return std::tuple(first, std::min(first + 1, extent - 1), inside - static_cast<float>(first));
  };
  const auto [top, bottom, down] = taps(p.y, rows);
  const auto [left, right, along] = taps(p.x, columns);
  const float upper = std::lerp(plane[top * columns + left], plane[top * columns + right], along);
  const float lower =
      std::lerp(plane[bottom * columns + left], plane[bottom * columns + right], along);
  return std::lerp(upper, lower, down);
}

/// What a picture shows in a box, as lines of text are cut out: a box that stands upright, one and
/// a half times as high as wide, is a line that runs upwards.
class crop_view {
 public:
  crop_view(const quad& box, bool turned)
      : width_(extent(box, 0, 1, 3, 2)),
        height_(extent(box, 0, 3, 1, 2)),
        upright_(height_ >= 1.5F * width_),
        turned_(turned),
        to_picture_(box, width_, height_) {}

  float width() const noexcept { return upright_ ? height_ : width_; }
  float height() const noexcept { return upright_ ? width_ : height_; }

  /// Where the pixel at (u, v) of the view lies in the picture.
  point operator()(float u, float v) const noexcept {
    if (turned_) {
      u = width() - 1 - u;
      v = height() - 1 - v;
    }
    return upright_ ? to_picture_(width_ - 1 - v, u) : to_picture_(u, v);
  }

 private:
  /// The longer of two opposite sides, in whole pixels.
  static float extent(const quad& box, std::size_t a, std::size_t b, std::size_t c, std::size_t d) {
    return std::max(1.0F, std::floor(std::max(length(box[a] - box[b]), length(box[c] - box[d]))));
  }

  float width_;
  float height_;
  bool upright_;
  bool turned_;
  projection to_picture_;
};

class crop final : public cpu_stage {
 public:
  explicit crop(const stage_config& config)
      : turn_threshold_(static_cast<float>(config.arguments.number("turn_threshold"))),
        columns_(static_cast<std::size_t>(config.arguments.integers("size").at(1))),
        rows_(static_cast<std::size_t>(config.arguments.integers("size").at(0))) {}

  void run(const cpu_call& call) override {
    const shape& pictures = call.inputs[0].type.shape;
    const float* picture = call.inputs[0].as<const float>();
    const quad* boxes = call.inputs[1].as<const quad>();
    const std::int64_t* counts = call.inputs[2].as<const std::int64_t>();
    const float* turned = call.inputs.size() > 3 ? call.inputs[3].as<const float>() : nullptr;
    float* out = call.outputs[0].as<float>();
    const std::int64_t most = call.inputs[1].type.shape[1];

    std::fill_n(out, call.outputs[0].type.shape.elements(), 0.0F);
    for (std::int64_t entry = 0; entry < pictures[0]; ++entry) {
      for (std::int64_t i = 0; i < std::min(counts[entry], most); ++i) {
        const std::int64_t at = entry * most + i;
        const bool turn = turned != nullptr && turned[at * 2 + 1] > turn_threshold_;
        cut(picture, pictures, crop_view(boxes[at], turn),
            out + static_cast<std::size_t>(at * pictures[1]) * rows_ * columns_);
      }
      picture += pictures[1] * pictures[2] * pictures[3];
    }
  }

 private:
  /// Fills the left of a crop, as far as its proportions let it be wide.
  void cut(const float* picture, const shape& pictures, const crop_view& view, float* out) const {
    const auto height = static_cast<std::size_t>(pictures[2]);
    const auto width = static_cast<std::size_t>(pictures[3]);
    const float proportional = std::ceil(static_cast<float>(rows_) * view.width() / view.height());
    const auto filled =
        static_cast<std::size_t>(std::min(static_cast<float>(columns_), proportional));
    const auto center = [](std::size_t i, float extent, std::size_t count) {
      const float at = (static_cast<float>(i) + 0.5F) * extent / static_cast<float>(count) - 0.5F;
      return std::clamp(at, 0.0F, extent - 1);
    };
    for (std::int64_t c = 0; c < pictures[1]; ++c) {
      for (std::size_t y = 0; y < rows_; ++y) {
        for (std::size_t x = 0; x < filled; ++x) {
          const point at = view(center(x, view.width(), filled), center(y, view.height(), rows_));
          out[y * columns_ + x] = value_at(picture, height, width, at);
        }
      }
      picture += height * width;
      out += rows_ * columns_;
    }
  }

  float turn_threshold_;
  std::size_t columns_;
  std::size_t rows_;
};

/// How many crops are made depends on the boxes: no FLOPs are stated.
stage_shape infer_crop(const arguments& given, std::span<const tensor_type> inputs,
                       diagnostics& out) {
  const shape& pictures = inputs[0].shape;
  const shape& boxes = inputs[1].shape;
  const auto all_float32 = [&](std::size_t i) { return inputs[i].element == dtype::float32; };
  const bool sound =
      all_float32(0) && pictures.rank() == 4 && all_float32(1) && boxes.rank() == 4 &&
      boxes[2] == 4 && boxes[3] == 2 && boxes[0] == pictures[0] &&
      inputs[2] == tensor_type{{pictures[0]}, dtype::int64} &&
      (inputs.size() < 4 || inputs[3] == tensor_type{{boxes[0] * boxes[1], 2}, dtype::float32});
  if (!sound) {
    std::string found;
    for (const tensor_type& type : inputs) found += (found.empty() ? "" : ", ") + to_string(type);
    out.error(
        given.where(),
        fmt::format("cpu.crop reads pictures float32 [B, C, H, W], boxes float32 [B, N, 4, 2], "
                    "how many int64 [B] and, if at all, which are turned float32 [B x N, 2]; "
                    "found {}",
                    found));
    return {};
  }
  const auto& size = given.integers("size");
  if (size.size() != 2) {
    out.error(given.where("size"), fmt::format("'size' must hold 2 numbers (height and width), "
                                               "found {}",
                                               size.size()));
    return {};
  }
  return shape_of_moves(inputs,
                        {{{boxes[0] * boxes[1], pictures[1], size[0], size[1]}, dtype::float32}});
}

}  // namespace

stage_kind crop_kind() {
  stage_kind kind;
  kind.name = "cpu.crop";
  kind.headline = "Cut boxes out of pictures and bring them upright to one size";
  kind.on = side::cpu;
  kind.inputs = {{"pictures", "float32 [B, C, H, W]"},
                 {"boxes",
                  "float32 [B, N, 4, 2]: x and y of the corners in pixels, clockwise from the top "
                  "left"},
                 {"count", "int64 [B], how many of the N there are"},
                 {"turned",
                  "float32 [B x N, 2]: probabilities that a crop is the right way up and upside "
                  "down"}};
  kind.optional_inputs = 1;
  kind.outputs = {{"crops",
                   "float32 [B x N, C, height, width]; zeros right of a crop that is narrower, and "
                   "where there is no box"}};
  kind.parameters = {
      {.name = "size",
       .type = parameter_type::integers,
       .help = "[height, width] of a crop, bilinear; the width follows from the height and the "
               "box, and is at most this.",
       .required = true,
       .unit = "px",
       .minimum = 1,
       .maximum = 65535},
      {.name = "turn_threshold",
       .type = parameter_type::number,
       .help = "Crops are turned by 180 degrees where they are upside down with a probability "
               "above this.",
       .default_value = "0.9",
       .minimum = 0,
       .maximum = 1},
  };
  kind.infer = infer_crop;
  kind.make_cpu = make_cpu_stage<crop>;
  return kind;
}

}  // namespace graphline
