#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "stages/cpu/pictures.hpp"
#include "stages/cpu/quad.hpp"
#include "stages/kinds.hpp"
#include "stages/nn/operations/box.hpp"

namespace graphline {
namespace {

/// Projective map from a rectangle to a quad in a picture (Heckbert, "Fundamentals of Texture
/// Mapping and Image Warping", 1989, section 2.2.3).
class projection {
 public:
  projection(const quad& to, double width, double height) {
    const auto x = [&](std::size_t i) { return static_cast<double>(to[i].x); };
    const auto y = [&](std::size_t i) { return static_cast<double>(to[i].y); };
    const double x1 = x(1) - x(2);
    const double y1 = y(1) - y(2);
    const double x2 = x(3) - x(2);
    const double y2 = y(3) - y(2);
    const double sum_x = x(0) - x1 - x(3);
    const double sum_y = y(0) - y1 - y(3);
    const double area = x1 * y2 - y1 * x2;
    const double g = area == 0 ? 0 : (sum_x * y2 - sum_y * x2) / area;
    const double h = area == 0 ? 0 : (x1 * sum_y - y1 * sum_x) / area;
    x_ = {x(0), (x(1) - x(0) + g * x(1)) / width, (x(3) - x(0) + h * x(3)) / height};
    y_ = {y(0), (y(1) - y(0) + g * y(1)) / width, (y(3) - y(0) + h * y(3)) / height};
    depth_ = {1, g / width, h / height};
  }

  point operator()(double u, double v) const noexcept {
    const auto at = [&](const std::array<double, 3>& c) { return c[0] + c[1] * u + c[2] * v; };
    const double depth = at(depth_);
    return {static_cast<float>(at(x_) / depth), static_cast<float>(at(y_) / depth)};
  }

 private:
  std::array<double, 3> x_;  // a constant, then the factors of u and v
  std::array<double, 3> y_;
  std::array<double, 3> depth_;
};

/// Indices and weights of the four pixels that cubic interpolation mixes (Keys, "Cubic Convolution
/// Interpolation for Digital Image Processing", 1981), with OpenCV's a = -0.75. Indices outside the
/// picture are clamped to its edge.
struct cubic_taps {
  std::array<std::size_t, 4> at;
  std::array<float, 4> weights;

  cubic_taps(float coordinate, std::size_t extent) {
    const auto last = static_cast<float>(extent - 1);
    // std::min returns NaN for NaN, and std::max then returns -2. Coordinates below -2 or above
    // last + 2 give the edge pixel.
    const float inside = std::max(-2.0F, std::min(coordinate, last + 2));
    const float first = std::floor(inside);
    constexpr float a = -0.75F;
    const float x = inside - first;
    const float y = 1 - x;
    weights[0] = ((a * (x + 1) - 5 * a) * (x + 1) + 8 * a) * (x + 1) - 4 * a;
    weights[1] = ((a + 2) * x - (a + 3)) * x * x + 1;
    weights[2] = ((a + 2) * y - (a + 3)) * y * y + 1;
    weights[3] = 1 - weights[0] - weights[1] - weights[2];
    for (std::size_t i = 0; i < 4; ++i) {
      at[i] = static_cast<std::size_t>(std::clamp(first + static_cast<float>(i) - 1, 0.0F, last));
    }
  }
};

void sample(const picture_view& picture, point p, std::uint8_t* out) {
  const cubic_taps rows(p.y, picture.height);
  const cubic_taps columns(p.x, picture.width);
  for (std::size_t c = 0; c < picture.channels; ++c) {
    float sum = 0;
    for (std::size_t y = 0; y < 4; ++y) {
      const std::uint8_t* row = picture.pixels + rows.at[y] * picture.row_bytes + c;
      float mixed = 0;
      for (std::size_t x = 0; x < 4; ++x) {
        mixed += columns.weights[x] * static_cast<float>(row[columns.at[x] * picture.channels]);
      }
      sum += rows.weights[y] * mixed;
    }
    out[c] = static_cast<std::uint8_t>(std::lrint(std::clamp(sum, 0.0F, 255.0F)));
  }
}

/// Boxes of a batch: four corners each, or an upright rectangle.
class box_reader {
 public:
  box_reader(const const_tensor_view& boxes, std::string_view format)
      : values_(boxes.as<const float>()),
        quads_(boxes.type.shape.rank() == 4),
        center_(format != "corners"),
        relative_(format == "relative_center") {}

  /// True if a high box holds a line of text that runs upwards.
  bool quads() const noexcept { return quads_; }

  quad operator()(std::size_t index, const picture_view& picture) const noexcept {
    const float* v = values_ + index * (quads_ ? 8 : 4);
    if (quads_) return {{{v[0], v[1]}, {v[2], v[3]}, {v[4], v[5]}, {v[6], v[7]}}};
    nn::box b{v[0], v[1], v[2], v[3]};
    if (center_) b = nn::from_center(b);
    if (relative_) {
      const auto width = static_cast<float>(picture.width);
      const auto height = static_cast<float>(picture.height);
      b = {b.x1 * width, b.y1 * height, b.x2 * width, b.y2 * height};
    }
    return {{{b.x1, b.y1}, {b.x2, b.y1}, {b.x2, b.y2}, {b.x1, b.y2}}};
  }

 private:
  const float* values_;
  bool quads_;
  bool center_;
  bool relative_;
};

/// A box of a picture, brought upright.
class crop_view {
 public:
  /// The sides of `box` may be infinite or NaN; `longest` limits them. A box of text that is at
  /// least 1.5 times as high as wide holds a line that runs upwards.
  crop_view(const quad& box, bool text, bool turned, float longest)
      : width_(extent(box, 0, 1, 3, 2, longest)),
        height_(extent(box, 0, 3, 1, 2, longest)),
        upright_(text && 2 * height_ >= 3 * width_),
        turned_(turned),
        to_picture_(box, static_cast<double>(width_), static_cast<double>(height_)) {}

  std::size_t width() const noexcept { return upright_ ? height_ : width_; }
  std::size_t height() const noexcept { return upright_ ? width_ : height_; }

  /// Returns the position in the picture that corresponds to pixel (u, v) of the view.
  point operator()(std::size_t u, std::size_t v) const noexcept {
    if (turned_) {
      u = width() - 1 - u;
      v = height() - 1 - v;
    }
    const auto x = static_cast<double>(upright_ ? width_ - 1 - v : u);
    return to_picture_(x, static_cast<double>(upright_ ? u : v));
  }

 private:
  /// Returns the longer of two opposite sides, in pixels, from 1 to `longest`.
  static std::size_t extent(const quad& box, std::size_t a, std::size_t b, std::size_t c,
                            std::size_t d, float longest) {
    const float side = std::max(length(box[a] - box[b]), length(box[c] - box[d]));
    return static_cast<std::size_t>(std::max(1.0F, std::min(side, longest)));  // 1 for NaN
  }

  std::size_t width_;
  std::size_t height_;
  bool upright_;
  bool turned_;
  projection to_picture_;
};

/// Cuts boxes out and then resizes them, as PaddleOCR does.
class crop final : public cpu_stage {
 public:
  explicit crop(const stage_config& config)
      : format_(config.arguments.text("format")),
        turn_threshold_(static_cast<float>(config.arguments.number("turn_threshold"))),
        columns_(static_cast<std::size_t>(config.arguments.integers("size").at(1))),
        rows_(static_cast<std::size_t>(config.arguments.integers("size").at(0))) {}

  void run(const cpu_call& call) override {
    const box_reader boxes(call.inputs[1], format_);
    const std::int64_t* counts = call.inputs[2].as<const std::int64_t>();
    const float* turned = call.inputs.size() > 3 ? call.inputs[3].as<const float>() : nullptr;
    const auto most = static_cast<std::size_t>(call.inputs[1].type.shape[1]);
    const auto crops = static_cast<std::size_t>(call.outputs[1].type.shape[0]);
    auto* out = call.outputs[0].as<std::uint8_t>();
    auto* sizes = call.outputs[1].as<std::int64_t>();

    std::fill_n(out, call.outputs[0].type.bytes(), std::uint8_t{0});
    for (std::size_t at = 0; at < crops; ++at, sizes += 2) {
      const picture_view picture = picture_at(call.inputs.first(1), at / most);
      sizes[0] = sizes[1] = 0;
      if (static_cast<std::int64_t>(at % most) >= counts[at / most]) continue;
      const bool turn = turned != nullptr && turned[at * 2 + 1] > turn_threshold_;
      const auto longest = static_cast<float>(picture.height + picture.width);
      const crop_view view(boxes(at, picture), boxes.quads(), turn, longest);
      const std::size_t width = cut(picture, view, out + at * rows_ * columns_ * picture.channels);
      sizes[0] = static_cast<std::int64_t>(rows_);
      sizes[1] = static_cast<std::int64_t>(width);
    }
  }

 private:
  /// Fills the left columns of a crop; the aspect ratio sets their number.
  std::size_t cut(const picture_view& picture, const crop_view& view, std::uint8_t* out) {
    const std::size_t row_bytes = view.width() * picture.channels;
    cut_.resize(view.height() * row_bytes);
    std::uint8_t* to = cut_.data();
    for (std::size_t v = 0; v < view.height(); ++v) {
      for (std::size_t u = 0; u < view.width(); ++u, to += picture.channels) {
        sample(picture, view(u, v), to);
      }
    }
    // PaddleOCR multiplies in this order; a different order may round to a different pixel.
    const double ratio = static_cast<double>(view.width()) / static_cast<double>(view.height());
    const double proportional = std::ceil(static_cast<double>(rows_) * ratio);
    const auto width =
        static_cast<std::size_t>(std::min(static_cast<double>(columns_), proportional));
    resize_({cut_.data(), view.height(), view.width(), picture.channels, row_bytes}, rows_, width,
            out, columns_ * picture.channels);
    return width;
  }

  std::string format_;
  float turn_threshold_;
  std::size_t columns_;
  std::size_t rows_;
  std::vector<std::uint8_t> cut_;  // pixels of a box before it is resized
  linear_resize resize_;
};

/// FLOPs are unknown, because they depend on the boxes.
prepared_stage prepare_crop(const arguments& given, std::span<const tensor_type> inputs,
                            diagnostics& out) {
  const shape& pictures = inputs[0].shape;
  const shape& boxes = inputs[1].shape;
  const bool quads = boxes.rank() == 4;
  const bool sound =
      inputs[0].element == dtype::uint8 && pictures.rank() == 4 &&
      inputs[1].element == dtype::float32 && (quads || boxes.rank() == 3) && boxes[2] == 4 &&
      (!quads || boxes[3] == 2) && boxes[0] == pictures[0] &&
      inputs[2] == tensor_type{{pictures[0]}, dtype::int64} &&
      (inputs.size() < 4 || inputs[3] == tensor_type{{boxes[0] * boxes[1], 2}, dtype::float32});
  if (!check_inputs(sound, given, inputs,
                    "cpu.crop reads pictures uint8 [B, H, W, C], boxes float32 [B, N, 4, 2] or "
                    "[B, N, 4], how many int64 [B] and optionally which are turned float32 [B x N, "
                    "2]",
                    out)) {
    return {};
  }
  if (quads && given.text("format") != "corners") {
    out.error(given.where("format"),
              fmt::format("'format' applies to boxes [B, N, 4], found {}", to_string(inputs[1])));
  }
  const auto& size = given.integers("size");
  if (!check_count(given, "size", size.size(), 2, "height and width", out)) return {};
  const std::int64_t crops = boxes[0] * boxes[1];
  return prepared_moves(
      inputs, {{{crops, size[0], size[1], pictures[3]}, dtype::uint8}, {{crops, 2}, dtype::int64}},
      make_cpu_stage<crop>);
}

}  // namespace

stage_kind crop_kind() {
  stage_kind kind = kind_named("cpu.crop", "Crop boxes from pictures, upright and at one size");
  kind.inputs = {
      {"pictures", "uint8 [B, H, W, C]"},
      {"boxes",
       "float32 [B, N, 4, 2]: x and y of the corners of a text in pixels, clockwise from "
       "the top left; a box much higher than wide is turned upright. Or [B, N, 4]: "
       "rectangles in 'format'"},
      {"count", "int64 [B], how many of the N there are"},
      {"turned",
       "float32 [B x N, 2]: probabilities that a crop is the right way up and upside "
       "down",
       true}};
  kind.optional_inputs = 1;
  kind.outputs = {
      {"crops",
       "uint8 [B x N, height, width, C]; zeros right of a crop that is narrower, and "
       "where there is no box",
       true},
      {"sizes", "int64 [B x N, 2]: height and width of each, 0 where there is no box", true}};
  kind.parameters = {
      size_parameter(
          "[height, width] of a crop, which is cut out pixel by pixel (bicubic) and then "
          "resized (bilinear); the width follows from the height and the box, and is at "
          "most this."),
      {.name = "format",
       .type = parameter_type::choice,
       .help =
           "Layout of boxes [B, N, 4]. corners: x1, y1, x2, y2. center: center x, center y, width, "
           "height. relative_center: the same, as fractions of the picture's size.",
       .default_value = "corners",
       .choices = {"corners", "center", "relative_center"}},
      {.name = "turn_threshold",
       .type = parameter_type::number,
       .help = "Crops are turned by 180 degrees where they are upside down with a probability "
               "above this.",
       .default_value = "0.9",
       .minimum = 0,
       .maximum = 1},
  };
  kind.prepare = prepare_crop;
  return kind;
}

}  // namespace graphline
