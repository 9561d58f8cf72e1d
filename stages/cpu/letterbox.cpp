#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "stages/cpu/pictures.hpp"
#include "stages/kinds.hpp"

namespace graphline {
namespace {

/// Scale of a picture, and position of the scaled picture in the output.
struct placement {
  double scale = 0;
  std::size_t left = 0;
  std::size_t top = 0;
  std::size_t height = 0;  ///< of the scaled picture
  std::size_t width = 0;
};

/// Computes the placement of Ultralytics' LetterBox (ultralytics/data/augment.py, with center and
/// scaleup). Sizes round to the nearest pixel, halves to even. Each scaled side has at least one
/// pixel.
placement fit_centered(const picture_view& from, std::size_t height, std::size_t width) {
  const auto ratio = [](std::size_t to, std::size_t extent) {
    return static_cast<double>(to) / static_cast<double>(extent);
  };
  placement at{.scale = std::min(ratio(height, from.height), ratio(width, from.width))};
  const auto scaled = [&](std::size_t extent) {
    const double exact = static_cast<double>(extent) * at.scale;
    return static_cast<std::size_t>(std::max(1.0, std::nearbyint(exact)));
  };
  at.height = scaled(from.height);
  at.width = scaled(from.width);
  // Equals round(space / 2 - 0.1) in LetterBox: an odd pixel goes to the bottom or right.
  at.top = (height - at.height) / 2;
  at.left = (width - at.width) / 2;
  return at;
}

class letterbox final : public cpu_stage {
 public:
  explicit letterbox(const stage_config& config)
      : fill_(static_cast<std::uint8_t>(config.arguments.integer("fill"))) {}

  void run(const cpu_call& call) override {
    const shape& written = call.outputs[0].type.shape;
    const auto height = static_cast<std::size_t>(written[1]);
    const auto width = static_cast<std::size_t>(written[2]);
    const auto channels = static_cast<std::size_t>(written[3]);
    const std::size_t row_bytes = width * channels;
    auto* out = call.outputs[0].as<std::uint8_t>();
    auto* placements = call.outputs[1].as<float>();
    std::fill_n(out, call.outputs[0].type.bytes(), fill_);
    for (std::int64_t i = 0; i < written[0]; ++i) {
      const picture_view from = picture_at(call.inputs, static_cast<std::size_t>(i));
      placement at;
      if (from.height != 0 && from.width != 0) {
        at = fit_centered(from, height, width);
        resize_(from, at.height, at.width, out + at.top * row_bytes + at.left * channels,
                row_bytes);
      }
      *placements++ = static_cast<float>(at.scale);
      *placements++ = static_cast<float>(at.left);
      *placements++ = static_cast<float>(at.top);
      out += height * row_bytes;
    }
  }

 private:
  std::uint8_t fill_;
  linear_resize resize_;
};

/// FLOPs are unknown, because pixels are computed with integers.
prepared_stage prepare_letterbox(const arguments& given, std::span<const tensor_type> inputs,
                                 diagnostics& out) {
  const auto& size = given.integers("size");
  const bool two = check_count(given, "size", size.size(), 2, "height and width", out);
  if (!check_pictures("cpu.letterbox", given, inputs, out) || !two) return {};
  const shape& pictures = inputs[0].shape;
  return prepared_moves(inputs,
                        {{{pictures[0], size[0], size[1], pictures[3]}, dtype::uint8},
                         {{pictures[0], 3}, dtype::float32}},
                        make_cpu_stage<letterbox>);
}

}  // namespace

stage_kind letterbox_kind() {
  stage_kind kind =
      kind_named("cpu.letterbox",
                 "Resize pictures, aspect ratio kept, and pad them (bilinear, as Ultralytics)");
  kind.inputs = {{"pictures", "uint8 [B, H, W, C]", true}, sizes_port()};
  kind.optional_inputs = 1;
  kind.outputs = {{"fitted",
                   "uint8 [B, height, width, C]: each picture in the middle, the rest filled; all "
                   "filled where there is no picture",
                   true},
                  {"placement",
                   "float32 [B, 3]: scale, left, top; (x - left) / scale and (y - top) / scale "
                   "are pixels of the picture; zeros where there is no picture",
                   true}};
  kind.parameters = {
      size_parameter("[height, width]. Pictures shrink or grow until one side fits."),
      {.name = "fill",
       .type = parameter_type::integer,
       .help = "Padding value of every channel.",
       .default_value = "114",
       .minimum = 0,
       .maximum = 255},
  };
  kind.prepare = prepare_letterbox;
  return kind;
}

}  // namespace graphline
