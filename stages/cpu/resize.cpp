#include <algorithm>

#include "stages/cpu/pictures.hpp"
#include "stages/kinds.hpp"

namespace graphline {
namespace {

class resize final : public picture_stage {
 public:
  explicit resize(const stage_config&) {}

  void run_picture(const cpu_call& call, std::size_t index) override {
    const shape& written = call.outputs[0].type.shape;
    const auto height = static_cast<std::size_t>(written[1]);
    const auto width = static_cast<std::size_t>(written[2]);
    const std::size_t row_bytes = width * static_cast<std::size_t>(written[3]);
    auto* out = call.outputs[0].as<std::uint8_t>() + index * height * row_bytes;
    const picture_view from = picture_at(call.inputs, index);
    if (from.height == 0 || from.width == 0) {
      std::fill_n(out, height * row_bytes, std::uint8_t{0});
    } else {
      resize_(from, height, width, out, row_bytes);
    }
  }

 private:
  linear_resize resize_;
};

/// FLOPs are unknown, because pixels are computed with integers.
prepared_stage prepare_resize(const char* kind, const arguments& given,
                              std::span<const tensor_type> inputs, diagnostics& out) {
  const auto& size = given.integers("size");
  const bool two = check_count(given, "size", size.size(), 2, "height and width", out);
  if (!check_pictures(kind, given, inputs, out) || !two) return {};
  const shape& pictures = inputs[0].shape;
  return prepared_moves(inputs, {{{pictures[0], size[0], size[1], pictures[3]}, dtype::uint8}},
                        make_cpu_stage<resize>);
}

stage_kind described_resize(const char* name) {
  stage_kind kind = kind_named(name, "Resize pictures to one size (bilinear, as OpenCV)");
  kind.inputs = {{"pictures", "uint8 [B, H, W, C]", true}, sizes_port()};
  kind.optional_inputs = 1;
  kind.outputs = {
      {"resized", "uint8 [B, height, width, C]; zeros where there is no picture", true}};
  kind.parameters = {
      size_parameter(
          "[height, width]. Of a picture that is more than twice as large, pixels are skipped."),
  };
  kind.prepare = [name](const arguments& given, std::span<const tensor_type> inputs,
                        diagnostics& out) { return prepare_resize(name, given, inputs, out); };
  return kind;
}

}  // namespace

stage_kind resize_kind() {
  return described_resize("cpu.resize");
}

stage_kind device_resize_kind(const device_stage_factory& make_cuda) {
  return pictures_on_device<resize>(described_resize("resize"), make_cuda);
}

}  // namespace graphline
