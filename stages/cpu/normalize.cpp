#include <algorithm>

#include "stages/cpu/pictures.hpp"
#include "stages/kinds.hpp"
#include "stages/nn/operations/luma.hpp"

namespace graphline {
namespace {

class normalize final : public picture_stage {
 public:
  explicit normalize(const stage_config& config) : scale_(normalization_of(config.arguments)) {}

  void run_picture(const cpu_call& call, std::size_t index) override {
    const shape& written = call.outputs[0].type.shape;
    const auto height = static_cast<std::size_t>(written[2]);
    const auto width = static_cast<std::size_t>(written[3]);
    const auto planes = static_cast<std::size_t>(written[1]);
    float* out = call.outputs[0].as<float>() + index * planes * height * width;
    const picture_view from = picture_at(call.inputs, index);
    for (std::size_t plane = 0; plane < planes; ++plane) {
      const std::size_t c = scale_.blue_first ? 2 - plane : plane;
      for (std::size_t y = 0; y < height; ++y, out += width) {
        const std::size_t filled = y < from.height ? from.width : 0;
        const std::uint8_t* row = from.pixels + y * from.row_bytes;
        const auto normalize_row = [&](auto value_at) {
          for (std::size_t x = 0; x < filled; ++x) {
            out[x] =
                static_cast<float>(value_at(row + 3 * x)) * scale_.factor[c] + scale_.offset[c];
          }
        };
        if (scale_.gray) {
          normalize_row(nn::luma);
        } else {
          normalize_row([c](const std::uint8_t* pixel) { return pixel[c]; });
        }
        std::fill(out + filled, out + width, 0.0F);
      }
    }
  }

 private:
  normalization scale_;
};

prepared_stage prepare_normalize(const char* kind, const arguments& given,
                                 std::span<const tensor_type> inputs, diagnostics& out) {
  const std::int64_t channels = given.text("channels") == "gray" ? 1 : 3;
  bool sound = true;
  for (const char* name : {"mean", "std"}) {
    const std::size_t found = given.numbers(name).size();
    sound = check_count(given, name, found, static_cast<std::size_t>(channels),
                        channels == 1 ? "gray has no default" : "red, green and blue", out) &&
            sound;
  }
  if (std::ranges::count(given.numbers("std"), 0) > 0) {
    out.error(given.where("std"), "'std' divides: it must not be 0");
    sound = false;
  }
  if (!check_pictures(kind, given, inputs, out) || !sound) return {};
  const shape& pictures = inputs[0].shape;
  if (pictures[3] != 3) {
    out.error(given.where(),
              std::string(kind) + " reads pictures of 3 channels, found " + to_string(inputs[0]));
    return {};
  }
  prepared_stage result =
      prepared_moves(inputs, {{{pictures[0], channels, pictures[1], pictures[2]}, dtype::float32}},
                     make_cpu_stage<normalize>);
  result.cost.flops = 2 * result.outputs[0].shape.elements();
  result.known = known_cost::all;
  result.forms["cuda"] = {.channels_last = true, .element = {}};
  return result;
}

stage_kind described_normalize(const char* name) {
  stage_kind kind = kind_named(name, "Convert pictures to normalized floating-point tensors");
  kind.inputs = {{"pictures", "uint8 [B, H, W, 3]: red, green, blue", true}, sizes_port()};
  kind.optional_inputs = 1;
  kind.outputs = {{"normalized",
                   "float32 [B, 3, H, W], for gray [B, 1, H, W]: (x / 255 - mean) / std; zeros "
                   "outside of a picture",
                   true}};
  kind.parameters = {
      {.name = "mean",
       .type = parameter_type::numbers,
       .help = "Mean of red, green and blue, from 0 to 1; the default is ImageNet's. One number "
               "for gray, to be given.",
       .default_value = "[0.485, 0.456, 0.406]"},
      {.name = "std",
       .type = parameter_type::numbers,
       .help = "Standard deviation of red, green and blue; the default is ImageNet's. One number "
               "for gray, to be given.",
       .default_value = "[0.229, 0.224, 0.225]",
       .minimum = 0},
      {.name = "channels",
       .type = parameter_type::choice,
       .help = "Channel order; bgr for models that were trained with OpenCV. gray: one channel, "
               "luma by ITU-R BT.601, bit for bit as Pillow's convert('L').",
       .default_value = "rgb",
       .choices = {"rgb", "bgr", "gray"}},
  };
  kind.prepare = [name](const arguments& given, std::span<const tensor_type> inputs,
                        diagnostics& out) { return prepare_normalize(name, given, inputs, out); };
  return kind;
}

}  // namespace

normalization normalization_of(const arguments& given) {
  normalization scale{.blue_first = given.text("channels") == "bgr",
                      .gray = given.text("channels") == "gray"};
  const auto& mean = given.numbers("mean");
  const auto& std = given.numbers("std");
  for (std::size_t c = 0; c < mean.size(); ++c) {
    scale.factor[c] = static_cast<float>(1.0 / (255.0 * std.at(c)));
    scale.offset[c] = static_cast<float>(-mean.at(c) / std[c]);
  }
  return scale;
}

stage_kind normalize_kind() {
  return described_normalize("cpu.normalize");
}

stage_kind device_normalize_kind(const device_stage_factory& make_cuda) {
  return pictures_on_device<normalize>(described_normalize("normalize"), make_cuda);
}

}  // namespace graphline
