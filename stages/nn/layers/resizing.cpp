#include <algorithm>
#include <cmath>

#include "stages/nn/layers/layers.hpp"
#include "stages/nn/operations/movements.hpp"

namespace graphline::nn {
namespace {

/// Limits the memory for positions, because a small file can request a large image.
constexpr std::int64_t largest_upsampled = 65536;

/// Returns the source elements of `count` result elements that are `step` source elements apart, in
/// float32 as in PyTorch: the element at or before each position and, with `blends`, the next one.
/// `center` is the offset of a pixel's center from its edge.
std::vector<resize_position> upsampled_positions(std::int64_t extent, std::int64_t count,
                                                 float step, bool blends, float center) {
  std::vector<resize_position> positions;
  for (std::int64_t i = 0; i < count; ++i) {
    const float source = step * (static_cast<float>(i) + center) - center;
    const float below = std::floor(source);
    const auto beyond = blends ? std::optional(static_cast<double>(source - below)) : std::nullopt;
    positions.push_back(position_in(extent, static_cast<double>(below), beyond));
  }
  return positions;
}

/// Makes a resize with the formulas of torch.nn.Upsample.
layer_operation read_upsample(const arguments& values, layer_inputs inputs,
                              layer_problems& problems) {
  const bool by_size = values.has("size");
  const bool blends = values.text("mode") == "bilinear";
  const bool align_corners = values.boolean("align_corners");
  if (by_size == values.has("scale_factor")) {
    problems.refuse("takes either a 'size' or a 'scale_factor'");
  } else if (align_corners && !blends) {
    problems.refuse_at("align_corners", "takes 'align_corners' with 'mode: bilinear' alone");
  }
  expect_images(inputs[0], problems);
  const auto sizes = by_size ? read_pair(values, "size", problems) : extent_pair{};
  const auto factors =
      by_size ? std::array<double, 2>{} : read_number_pair(values, "scale_factor", problems);
  std::vector<resize_position> positions[2];
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t extent = inputs[0].shape[axis + 2];
    const double wanted = by_size ? static_cast<double>(sizes[axis])
                                  : std::floor(static_cast<double>(extent) * factors[axis]);
    const auto count = static_cast<std::int64_t>(std::min(wanted, largest_upsampled + 1.0));
    if (count < 1 || count > largest_upsampled) {
      problems.refuse_at(
          "scale_factor",
          "makes a height or width of {:.10g} elements ({} gives {}); it must be 1 to {}", wanted,
          inputs[0].giver, to_string(inputs[0].shape), largest_upsampled);
    }
    const auto from = static_cast<float>(extent);
    const auto to = static_cast<float>(count);
    float step = by_size ? from / to : static_cast<float>(1 / factors[axis]);
    if (blends && count == extent) {  // a copy, regardless of the factor
      step = 1;
    } else if (align_corners) {
      step = count > 1 ? (from - 1) / (to - 1) : 0;
    }
    const float center = blends && !align_corners ? 0.5F : 0.0F;
    positions[axis] = upsampled_positions(extent, count, step, blends, center);
  }
  return resize2d_layer{std::move(positions[0]), std::move(positions[1])};
}

}  // namespace

layer_shape infer(const resize2d_layer& resize, layer_inputs inputs, layer_problems& problems) {
  expect_images(inputs[0], problems);
  const shape& input = inputs[0].shape;
  const shape output{input[0], input[1], std::ssize(resize.rows), std::ssize(resize.columns)};
  const auto blends = [](const std::vector<resize_position>& positions) {
    return std::ranges::any_of(positions, [](const auto& at) { return at.weight != 0; });
  };
  // Each blended dimension takes a difference, a product and a sum per element.
  const std::int64_t flops = (blends(resize.rows) ? 3 : 0) + (blends(resize.columns) ? 3 : 0);
  return {.output = output, .cost = element_cost(output, flops)};
}

layer_shape infer(const resample_layer& resample, layer_inputs inputs, layer_problems&) {
  const shape output =
      with_extent(inputs[0].shape, resample.axis, std::ssize(resample.indices) / resample.taps);
  return {.output = output, .cost = element_cost(output, 2 * resample.taps - 1)};
}

std::vector<layer_kind> resizing_kinds() {
  parameter size = pair_parameter("size", "Height and width of the result.", {}, 1);
  size.maximum = largest_upsampled;
  return {{"upsample",
           "Resizes images by nearest or bilinear interpolation",
           {std::move(size),
            {.name = "scale_factor",
             .type = parameter_type::numbers,
             .help = "Factors of height and width, instead of 'size': a number or [h, w].",
             .minimum = 0},
            {.name = "mode",
             .type = parameter_type::choice,
             .help = "nearest: the element at or before a position; bilinear: interpolate four.",
             .default_value = "nearest",
             .choices = {"nearest", "bilinear"}},
            boolean_parameter("align_corners",
                              "With bilinear: align the centers of the corner pixels, not their "
                              "edges.",
                              "false")},
           {},
           read_upsample}};
}

}  // namespace graphline::nn
