#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <span>

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
  float start = 0;  ///< of the cropped part, like `end` as a fraction of the last coordinate
  float end = 1;
};

using coordinates = float (*)(float x, const resized_extent& along);

float half_pixel(float x, const resized_extent& along) {
  return (x + 0.5F) / along.scale - 0.5F;
}

/// Functions that map result position x to an input coordinate, by coordinate_transformation_mode.
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
     [](float x, const resized_extent& along) { return along.to > 1 ? half_pixel(x, along) : 0; }},
    {"tf_crop_and_resize", [](float x, const resized_extent& along) {
       const auto last = static_cast<float>(along.from - 1);
       if (along.to == 1) return 0.5F * (along.start + along.end) * last;
       const float part = x * (along.end - along.start) * last;
       return along.start * last + part / static_cast<float>(along.to - 1);
     }}};

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
  for (const std::int64_t extent : extents.extents()) result.push_back({extent, extent});
  std::vector<std::int64_t> axes(result.size());
  std::iota(axes.begin(), axes.end(), 0);
  axes = node.integers("axes").value_or(axes);
  std::set<std::size_t> stated;
  node.require(scales.size() == axes.size() || sizes.size() == axes.size(),
               "needs a scale or size per dimension");
  std::vector<float> part;
  if (node.text("coordinate_transformation_mode", "") == "tf_crop_and_resize") {
    part = node.floats(1);
    node.require(part.size() == 2 * axes.size(), "needs a 'roi' of two numbers per dimension");
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = node.axis(axes[i], result.size());
    node.require(stated.insert(axis).second, "has an axis twice");
    resized_extent& along = result[axis];
    if (!part.empty()) {
      along.start = part[i];
      along.end = part[axes.size() + i];
    }
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

/// Returns the coordinate of each result position. With `crops`, positions whose coordinate is
/// beyond the first or last element are omitted, and counted as padding.
std::vector<float> coordinates_of(const resized_extent& along, coordinates transform, bool crops,
                                  pad_layer& pad) {
  std::vector<float> inside;
  pad.before.push_back(0);
  pad.after.push_back(0);
  for (std::int64_t i = 0; i < along.to; ++i) {
    const auto x = static_cast<float>(i);
    const float source = along.scale == 1 ? x : transform(x, along);
    if (!crops || (source >= 0 && source <= static_cast<float>(along.from - 1))) {
      inside.push_back(source);
    } else {
      ++(inside.empty() ? pad.before : pad.after).back();
    }
  }
  return inside;
}

/// Interpolates between four elements by the weights of a cubic convolution with coefficient `a`
/// (Keys, 1981). Elements outside count as the nearest ones inside, or not at all if `excludes`.
resample_layer cubic_along(std::size_t axis, std::int64_t extent, std::span<const float> sources,
                           float a, bool excludes) {
  resample_layer resample{.axis = axis, .taps = 4, .indices = {}, .weights = {}};
  for (const float source : sources) {
    const float below = std::floor(source);
    const float s = source - below;
    const float t = 1 - s;
    std::array<float, 4> weights{((a * (s + 1) - 5 * a) * (s + 1) + 8 * a) * (s + 1) - 4 * a,
                                 ((a + 2) * s - (a + 3)) * s * s + 1,
                                 ((a + 2) * t - (a + 3)) * t * t + 1,
                                 ((a * (t + 1) - 5 * a) * (t + 1) + 8 * a) * (t + 1) - 4 * a};
    const auto first = static_cast<std::int64_t>(below) - 1;
    float sum = 0;
    for (std::int64_t tap = 0; tap < 4; ++tap) {
      float& weight = weights[static_cast<std::size_t>(tap)];
      if (excludes && (first + tap < 0 || first + tap >= extent)) weight = 0;
      sum += weight;
      resample.indices.push_back(std::clamp<std::int64_t>(first + tap, 0, extent - 1));
    }
    for (const float weight : weights) resample.weights.push_back(excludes ? weight / sum : weight);
  }
  return resample;
}

}  // namespace

std::size_t import_resize(onnx_importer& to, const onnx_call& node) {
  const bool upsample = is_upsample(to, node);
  const std::string mode = node.text("mode", "nearest");
  node.require(mode == "nearest" || mode == "linear" || mode == "bilinear" || mode == "cubic",
               "has a mode that is not known");
  node.require(node.integer("antialias", 0) == 0, "has antialias, which is not supported");
  node.require(node.text("keep_aspect_ratio_policy", "stretch") == "stretch",
               "has a keep_aspect_ratio_policy, which is not supported");
  const auto transformed = transformations.find(
      node.text("coordinate_transformation_mode", upsample ? "asymmetric" : "half_pixel"));
  const auto rounded =
      roundings.find(node.text("nearest_mode", upsample ? "floor" : "round_prefer_floor"));
  node.require(transformed != transformations.end(),
               "has a coordinate_transformation_mode that is not known");
  node.require(rounded != roundings.end(), "has a nearest_mode that is not known");
  const bool crops = transformed->first == "tf_crop_and_resize";

  const std::vector<resized_extent> all = resized_extents(to, node);
  const auto keeps = [](const resized_extent& along) { return along.from == along.to; };
  if (std::ranges::all_of(all, keeps)) return to.value(0);  // a copy, regardless of the scales
  pad_layer pad{.value = node.number("extrapolation_value", 0.0F), .before = {}, .after = {}};
  std::vector<std::vector<float>> sources;
  std::vector<std::int64_t> result;
  for (const resized_extent& along : all) {
    sources.push_back(coordinates_of(along, transformed->second, crops, pad));
    node.require(!sources.back().empty(), "gives no element of its input, which is not supported");
    result.push_back(std::ssize(sources.back()));
  }
  std::size_t x = to.value(0);
  if (mode == "cubic") {
    // From the last dimension, as ONNX Runtime does.
    for (std::size_t axis = all.size(); axis-- > 0;) {
      if (all[axis].scale == 1) continue;
      node.charge(shape{4 * all[axis].to});
      x = to.add(
          cubic_along(axis, all[axis].from, sources[axis], node.number("cubic_coeff_a", -0.75F),
                      node.integer("exclude_outside", 0) != 0),
          {x});
    }
  } else {
    const auto positions = [&](std::size_t axis) {
      std::vector<resize_position> list;
      const bool after = upsample && all[axis].scale < 1;
      for (const float source : sources[axis]) {
        const double below = std::floor(source);
        const double nearest = after ? std::ceil(source) : rounded->second(source);
        list.push_back(mode == "nearest" ? position_in(all[axis].from, nearest)
                                         : position_in(all[axis].from, below, source - below));
      }
      return list;
    };
    // Resizes the last two dimensions; the dimensions before them count as planes.
    node.require(all.size() >= 2, "has fewer than two dimensions");
    const std::size_t height = all.size() - 2;
    node.require(std::ranges::all_of(std::span(all).first(height), keeps),
                 "resizes other than the last two dimensions, which is not supported");
    const std::int64_t planes = extents_along(node.extents(0).extents(), height).outer;
    if (all.size() != 4) x = to.add_reshape(x, {1, planes, all[height].from, all.back().from});
    x = to.add(resize2d_layer{positions(height), positions(height + 1)}, {x});
    x = to.add_reshape(x, shape(std::move(result)));
  }
  const std::vector<std::int64_t> zeros(all.size(), 0);
  return pad.before != zeros || pad.after != zeros ? to.add(std::move(pad), {x}) : x;
}

}  // namespace graphline::nn::onnx
