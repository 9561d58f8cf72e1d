#include <algorithm>
#include <cmath>
#include <set>

#include "stages/nn/onnx/onnx_importer.hpp"
#include "stages/nn/operations/movements.hpp"

namespace graphline::nn::onnx {
namespace {

/// One resized dimension: extents before and after, and the scale of coordinates in float32, as in
/// ONNX Runtime and PyTorch. In float32, 60 * 0.7 is 42.
struct resized_extent {
  std::int64_t from = 1;
  std::int64_t to = 1;
  float scale = 1;
};

using coordinates = float (*)(float x, const resized_extent& along);

float half_pixel(float x, const resized_extent& along) {
  return (x + 0.5F) / along.scale - 0.5F;
}

/// Functions that map result position x to an input coordinate, by coordinate_transformation_mode.
/// Other modes are unsupported.
const std::map<std::string_view, coordinates> transformations = {
    {"align_corners",
     [](float x, const resized_extent& along) {
       const auto last = static_cast<float>(along.to - 1);
       return last > 0 ? x * static_cast<float>(along.from - 1) / last : 0;
     }},
    {"asymmetric", [](float x, const resized_extent& along) { return x / along.scale; }},
    {"half_pixel", half_pixel},
    {"half_pixel_symmetric",
     [](float x, const resized_extent& along) {
       const auto from = static_cast<float>(along.from);
       const float adjusted = static_cast<float>(along.to) / (along.scale * from);
       return from / 2 * (1 - adjusted) + half_pixel(x, along);
     }},
    {"pytorch_half_pixel",
     [](float x, const resized_extent& along) { return along.to > 1 ? half_pixel(x, along) : 0; }}};

/// Functions that round a coordinate to an element, by nearest_mode.
const std::map<std::string_view, float (*)(float)> roundings = {
    {"ceil", [](float x) { return std::ceil(x); }},
    {"floor", [](float x) { return std::floor(x); }},
    {"round_prefer_ceil", [](float x) { return std::round(x); }},
    {"round_prefer_floor",
     [](float x) { return x == std::floor(x) + 0.5F ? std::floor(x) : std::round(x); }}};

/// Returns true for `Upsample`, and for `Resize` before operator set 11. Both have a single mode,
/// in which ONNX Runtime rounds coordinates up when downscaling and down otherwise.
bool is_upsample(const onnx_importer& to, const onnx_call& node) {
  return node.node().op_type == "Upsample" || to.opset() < 11;
}

std::vector<resized_extent> resized_extents(const onnx_importer& to, const onnx_call& node) {
  const shape& extents = node.extents(0);
  const bool upsample = is_upsample(to, node);
  std::vector<float> scales;
  std::vector<std::int64_t> sizes;
  if (const auto* given = node.node().attribute<std::vector<float>>("scales")) {
    scales = *given;
  } else if (const std::size_t input = upsample ? 1 : 2; node.has(input)) {
    scales = node.floats(input);
  }
  if (scales.empty() && !upsample && node.has(3)) sizes = node.integers(3);
  std::vector<resized_extent> result;
  std::vector<std::int64_t> axes;
  for (const std::int64_t extent : extents.extents()) {
    axes.push_back(static_cast<std::int64_t>(result.size()));
    result.push_back({extent, extent, 1});
  }
  axes = node.integers("axes").value_or(axes);
  std::set<std::size_t> stated;
  node.require(scales.size() == axes.size() || sizes.size() == axes.size(),
               "needs a scale or size per dimension");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = node.axis(axes[i], result.size());
    node.require(stated.insert(axis).second, "has an axis twice");
    resized_extent& along = result[axis];
    const auto from = static_cast<float>(along.from);
    along.scale = sizes.empty() ? scales[i] : static_cast<float>(sizes[i]) / from;
    const double size = sizes.empty() ? static_cast<double>(std::floor(from * along.scale))
                                      : static_cast<double>(sizes[i]);
    node.require(size >= 1 && size < 1e9, "has no scale or size that gives 1 to 1e9 elements");
    along.to = static_cast<std::int64_t>(size);
    node.charge(shape{along.to});
  }
  return result;
}

std::size_t import_resize(onnx_importer& to, const onnx_call& node) {
  const bool upsample = is_upsample(to, node);
  const std::string mode = node.text("mode", "nearest");
  node.require(mode != "cubic", "has cubic interpolation, which is not supported");
  node.require(mode == "nearest" || mode == "linear" || mode == "bilinear",
               "has a mode that is not known");
  node.require(node.integer("antialias", 0) == 0, "has antialias, which is not supported");
  node.require(node.text("keep_aspect_ratio_policy", "stretch") == "stretch",
               "has a keep_aspect_ratio_policy, which is not supported");
  const auto transformed = transformations.find(
      node.text("coordinate_transformation_mode", upsample ? "asymmetric" : "half_pixel"));
  const auto rounded =
      roundings.find(node.text("nearest_mode", upsample ? "floor" : "round_prefer_floor"));
  node.require(transformed != transformations.end(),
               "has a coordinate_transformation_mode that is not supported");
  node.require(rounded != roundings.end(), "has a nearest_mode that is not known");

  const auto positions = [&](const resized_extent& along) {
    std::vector<resize_position> list;
    for (std::int64_t i = 0; i < along.to; ++i) {
      const float source = along.scale == 1 ? static_cast<float>(i)
                                            : transformed->second(static_cast<float>(i), along);
      if (mode == "nearest") {
        const bool after = upsample && along.scale < 1;
        const float nearest = after ? std::ceil(source) : rounded->second(source);
        list.push_back(position_in(along.from, static_cast<double>(nearest)));
      } else {
        const float below = std::floor(source);
        list.push_back(position_in(along.from, static_cast<double>(below),
                                   static_cast<double>(source - below)));
      }
    }
    return list;
  };

  // Resizes the last two dimensions; the dimensions before them count as planes.
  std::vector<resized_extent> all = resized_extents(to, node);
  const auto keeps = [](const resized_extent& along) { return along.from == along.to; };
  if (std::ranges::all_of(all, keeps)) return to.value(0);  // a copy, regardless of the scales
  node.require(all.size() >= 2, "has fewer than two dimensions");
  std::int64_t planes = 1;
  std::vector<std::int64_t> result;
  for (std::size_t i = 0; i < all.size(); ++i) {
    result.push_back(all[i].to);
    if (i + 2 >= all.size()) continue;
    node.require(all[i].from == all[i].to,
                 "resizes other than the last two dimensions, which is not supported");
    planes *= all[i].from;
  }
  const resized_extent& height = all[all.size() - 2];
  const resized_extent& width = all.back();
  std::size_t x = to.value(0);
  if (all.size() != 4) x = to.add_reshape(x, {1, planes, height.from, width.from});
  x = to.add(resize2d_layer{positions(height), positions(width)}, {x});
  return to.add_reshape(x, shape(std::move(result)));
}

}  // namespace

onnx_operators imported_resizing() {
  return {{"Resize", one_output(import_resize)}, {"Upsample", one_output(import_resize)}};
}

}  // namespace graphline::nn::onnx
