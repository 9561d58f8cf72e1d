#include <algorithm>
#include <array>

#include "stages/cpu/pictures.hpp"
#include "stages/kinds.hpp"

namespace graphline {
namespace {

class normalize final : public cpu_stage {
 public:
  explicit normalize(const stage_config& config)
      : blue_first_(config.arguments.text("channels") == "bgr") {
    const auto& mean = config.arguments.numbers("mean");
    const auto& std = config.arguments.numbers("std");
    // Computes (x / 255 - mean) / std as one multiplication and one addition.
    for (std::size_t c = 0; c < 3; ++c) {
      factor_[c] = static_cast<float>(1.0 / (255.0 * std.at(c)));
      offset_[c] = static_cast<float>(-mean.at(c) / std[c]);
    }
  }

  void run(const cpu_call& call) override {
    const const_tensor_view* sizes = call.inputs.size() > 1 ? &call.inputs[1] : nullptr;
    const shape& written = call.outputs[0].type.shape;
    const auto height = static_cast<std::size_t>(written[2]);
    const auto width = static_cast<std::size_t>(written[3]);
    float* out = call.outputs[0].as<float>();
    for (std::int64_t i = 0; i < written[0]; ++i) {
      const picture_view from = picture_at(call.inputs[0], sizes, static_cast<std::size_t>(i));
      for (std::size_t plane = 0; plane < 3; ++plane) {
        const std::size_t c = blue_first_ ? 2 - plane : plane;
        for (std::size_t y = 0; y < height; ++y, out += width) {
          const std::size_t filled = y < from.height ? from.width : 0;
          const std::uint8_t* row = from.pixels + y * from.row_bytes + c;
          for (std::size_t x = 0; x < filled; ++x) {
            out[x] = static_cast<float>(row[3 * x]) * factor_[c] + offset_[c];
          }
          std::fill(out + filled, out + width, 0.0F);
        }
      }
    }
  }

 private:
  bool blue_first_;
  std::array<float, 3> factor_;
  std::array<float, 3> offset_;
};

prepared_stage prepare_normalize(const arguments& given, std::span<const tensor_type> inputs,
                                 diagnostics& out) {
  bool sound = true;
  for (const char* name : {"mean", "std"}) {
    const std::size_t found = given.numbers(name).size();
    sound = check_count(given, name, found, 3, "red, green and blue", out) && sound;
  }
  if (std::ranges::count(given.numbers("std"), 0) > 0) {
    out.error(given.where("std"), "'std' divides: it must not be 0");
    sound = false;
  }
  if (!check_pictures("cpu.normalize", given, inputs, out) || !sound) return {};
  const shape& pictures = inputs[0].shape;
  if (pictures[3] != 3) {
    out.error(given.where(),
              "cpu.normalize reads pictures of 3 channels, found " + to_string(inputs[0]));
    return {};
  }
  prepared_stage result =
      prepared_moves(inputs, {{{pictures[0], 3, pictures[1], pictures[2]}, dtype::float32}},
                     make_cpu_stage<normalize>);
  result.cost.flops = 2 * pictures.elements();
  result.known = known_cost::all;
  return result;
}

}  // namespace

stage_kind normalize_kind() {
  stage_kind kind;
  kind.name = "cpu.normalize";
  kind.headline = "Convert pictures to the numbers that a network expects";
  kind.on = side::cpu;
  kind.inputs = {{"pictures", "uint8 [B, H, W, 3]: red, green, blue"}, sizes_port()};
  kind.optional_inputs = 1;
  kind.outputs = {
      {"normalized", "float32 [B, 3, H, W]: (x / 255 - mean) / std; zeros outside of a picture"}};
  kind.parameters = {
      {.name = "mean",
       .type = parameter_type::numbers,
       .help = "Mean of red, green and blue, of 1; the default is ImageNet's.",
       .default_value = "[0.485, 0.456, 0.406]"},
      {.name = "std",
       .type = parameter_type::numbers,
       .help = "Standard deviation of red, green and blue, of 1; the default is ImageNet's.",
       .default_value = "[0.229, 0.224, 0.225]",
       .minimum = 0},
      {.name = "channels",
       .type = parameter_type::choice,
       .help = "Their order: red, green, blue, or as models take it that were trained with OpenCV.",
       .default_value = "rgb",
       .choices = {"rgb", "bgr"}},
  };
  kind.prepare = prepare_normalize;
  return kind;
}

}  // namespace graphline
