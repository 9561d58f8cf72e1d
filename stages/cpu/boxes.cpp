#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "stages/cpu/pictures.hpp"
#include "stages/kinds.hpp"
#include "stages/nn/operations/box.hpp"

namespace graphline {
namespace {

/// Maps a coordinate of a letterboxed picture to the original one and clips it. Keeps NaN.
struct coordinate_map {
  float offset = 0;
  float scale = 1;
  float lowest = -std::numeric_limits<float>::infinity();
  float highest = std::numeric_limits<float>::infinity();

  float operator()(float value) const noexcept {
    return std::min(std::max((value - offset) / scale, lowest), highest);
  }
};

class box_conversion final : public cpu_stage {
 public:
  explicit box_conversion(const stage_config& config)
      : centered_(config.arguments.text("format") == "center") {
    if (!config.arguments.has("relative_to")) return;
    const auto& size = config.arguments.integers("relative_to");
    height_ = static_cast<float>(size.at(0));
    width_ = static_cast<float>(size.at(1));
  }

  void run(const cpu_call& call) override {
    const shape& written = call.outputs[0].type.shape;
    const std::int64_t entries = written.rank() == 3 ? written[0] : 1;
    const std::int64_t each = written[written.rank() - 2];
    const nn::box* from = call.inputs[0].as<const nn::box>();
    nn::box* to = call.outputs[0].as<nn::box>();
    for (std::int64_t entry = 0; entry < entries; ++entry) {
      coordinate_map x;
      coordinate_map y;
      if (call.inputs.size() > 1) {
        const float* placement = call.inputs[1].as<const float>() + 3 * entry;
        x = {.offset = placement[1], .scale = placement[0]};
        y = {.offset = placement[2], .scale = placement[0]};
      }
      if (call.inputs.size() > 2) {
        const std::int64_t* size = call.inputs[2].as<const std::int64_t>() + 2 * entry;
        x.lowest = y.lowest = 0;
        x.highest = static_cast<float>(size[1]);
        y.highest = static_cast<float>(size[0]);
      }
      for (std::int64_t i = 0; i < each; ++i, ++from, ++to) {
        const nn::box b = centered_ ? nn::from_center(*from) : *from;
        *to = x.scale == 0 ? nn::box{}  // no picture
                           : nn::box{x(b.x1 * width_), y(b.y1 * height_), x(b.x2 * width_),
                                     y(b.y2 * height_)};
      }
    }
  }

 private:
  bool centered_;
  float height_ = 1;  ///< of what boxes are fractions, as `width_`
  float width_ = 1;
};

prepared_stage prepare_boxes(const arguments& given, std::span<const tensor_type> inputs,
                             diagnostics& out) {
  const shape& read = inputs[0].shape;
  const std::int64_t entries = read.rank() == 3 ? read[0] : 1;
  const bool sound =
      inputs[0].element == dtype::float32 && (read.rank() == 2 || read.rank() == 3) &&
      read.extents().back() == 4 &&
      (inputs.size() < 2 || inputs[1] == tensor_type{{entries, 3}, dtype::float32}) &&
      (inputs.size() < 3 || inputs[2] == tensor_type{{entries, 2}, dtype::int64});
  if (!check_inputs(sound, given, inputs,
                    "cpu.boxes reads boxes float32 [N, 4] and optionally a placement float32 "
                    "[1, 3] and sizes int64 [1, 2], or of a batch [B, N, 4], [B, 3] and [B, 2]",
                    out)) {
    return {};
  }
  const bool relative = given.has("relative_to");
  if (relative && !check_count(given, "relative_to", given.integers("relative_to").size(), 2,
                               "height and width", out)) {
    return {};
  }
  prepared_stage result = prepared_moves(inputs, {inputs[0]}, make_cpu_stage<box_conversion>);
  const int per_box =
      (given.text("format") == "center" ? 6 : 0) + (relative ? 4 : 0) + (inputs.size() > 1 ? 8 : 0);
  result.cost.flops = read.elements() / 4 * per_box;
  result.known = known_cost::all;
  return result;
}

}  // namespace

stage_kind boxes_kind() {
  stage_kind kind = kind_named(
      "cpu.boxes", "Convert boxes to corners, in pixels of the pictures that cpu.letterbox read");
  kind.inputs = {{"boxes", "float32 [N, 4], or of a batch [B, N, 4]", true},
                 {"placement",
                  "float32 [1, 3] or [B, 3], which cpu.letterbox writes; without it, boxes are "
                  "not moved",
                  true},
                 {"sizes",
                  "int64 [1, 2] or [B, 2]: height and width of each picture; with them, boxes are "
                  "clipped to the picture",
                  true}};
  kind.optional_inputs = 2;
  kind.outputs = {
      {"corners", "float32, shaped like the boxes: x1, y1, x2, y2; zeros where there is no picture",
       true}};
  kind.parameters = {
      {.name = "format",
       .type = parameter_type::choice,
       .help = "corners: x1, y1, x2, y2. center: center x, center y, width, height.",
       .default_value = "corners",
       .choices = {"corners", "center"}},
      {.name = "relative_to",
       .type = parameter_type::integers,
       .help =
           "For boxes that are fractions of a picture: its [height, width], which cpu.letterbox "
           "writes. By default, boxes are in pixels.",
       .unit = "px",
       .minimum = 1,
       .maximum = 65535},
  };
  kind.prepare = prepare_boxes;
  return kind;
}

}  // namespace graphline
