#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stages/onnx/onnx_importer.hpp"

namespace graphline {
namespace {

std::vector<std::size_t> axes_of(const shape& extents) {
  std::vector<std::size_t> axes(extents.rank());
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  return axes;
}

/// How positions of a resized extent lie in the given one.
struct resizing {
  std::string coordinates;  ///< ONNX's coordinate_transformation_mode
  std::string nearest;      ///< its nearest_mode
  bool linear = false;
};

double source_of(const resizing& how, std::int64_t i, double scale, std::int64_t from,
                 std::int64_t to) {
  const auto x = static_cast<double>(i);
  if (how.coordinates == "half_pixel") return (x + 0.5) / scale - 0.5;
  if (how.coordinates == "half_pixel_symmetric") {
    const double adjusted = static_cast<double>(to) / (scale * static_cast<double>(from));
    const double center = static_cast<double>(from) / 2;
    return center * (1 - adjusted) + (x + 0.5) / scale - 0.5;
  }
  if (how.coordinates == "pytorch_half_pixel") return to > 1 ? (x + 0.5) / scale - 0.5 : 0;
  if (how.coordinates == "align_corners") {
    return to > 1 ? x * static_cast<double>(from - 1) / static_cast<double>(to - 1) : 0;
  }
  if (how.coordinates == "asymmetric") return x / scale;
  onnx_importer::refuse(fmt::format("coordinates by '{}' are not supported", how.coordinates));
}

double nearest_of(const resizing& how, double position) {
  if (how.nearest == "round_prefer_floor") return std::ceil(position - 0.5);
  if (how.nearest == "round_prefer_ceil") return std::floor(position + 0.5);
  if (how.nearest == "floor") return std::floor(position);
  if (how.nearest == "ceil") return std::ceil(position);
  onnx_importer::refuse(fmt::format("nearest_mode '{}' is not supported", how.nearest));
}

std::vector<resize_position> positions_of(const resizing& how, double scale, std::int64_t from,
                                          std::int64_t to) {
  std::vector<resize_position> positions;
  for (std::int64_t i = 0; i < to; ++i) {
    const double source = source_of(how, i, scale, from, to);
    const auto inside = [&](double position) {
      return std::clamp<std::int64_t>(static_cast<std::int64_t>(position), 0, from - 1);
    };
    if (!how.linear) {
      const std::int64_t element = inside(nearest_of(how, source));
      positions.push_back({element, element, 0});
      continue;
    }
    const double below = std::floor(source);
    positions.push_back({inside(below), inside(below + 1), static_cast<float>(source - below)});
  }
  return positions;
}

/// Extents before and after, and the scale by which coordinates are computed.
struct resized_extent {
  std::int64_t from = 1;
  std::int64_t to = 1;
  double scale = 1;
};

std::vector<resized_extent> resized_extents(onnx_importer& in) {
  const shape& extents = in.extents(0);
  const bool upsample = in.node().op_type == "Upsample" || in.opset() < 11;
  std::vector<float> scales;
  std::vector<std::int64_t> sizes;
  if (const auto* given = in.node().attribute<std::vector<float>>("scales")) {
    scales = *given;
  } else if (const std::size_t input = upsample ? 1 : 2; in.has(input)) {
    scales = in.floats(input, "scales");
  }
  if (scales.empty() && !upsample && in.has(3)) sizes = in.integers(3, "sizes");
  std::vector<std::size_t> axes = axes_of(extents);
  if (const auto given = in.integers("axes")) {
    axes.clear();
    for (const std::int64_t axis : *given) axes.push_back(in.axis(axis, extents.rank()));
  }
  in.require(scales.size() == axes.size() || sizes.size() == axes.size(),
             "scales or sizes must have a number for each dimension");
  std::vector<resized_extent> result;
  for (const std::int64_t extent : extents.extents()) result.push_back({extent, extent, 1});
  for (std::size_t i = 0; i < axes.size(); ++i) {
    resized_extent& of = result[axes[i]];
    if (sizes.empty()) {
      of.scale = static_cast<double>(scales[i]);
      of.to = static_cast<std::int64_t>(std::floor(static_cast<double>(of.from) * of.scale));
    } else {
      of.to = sizes[i];
      of.scale = static_cast<double>(of.to) / static_cast<double>(of.from);
    }
    in.require(of.to > 0 && of.scale > 0, "scales and sizes must be greater than 0");
  }
  return result;
}

std::size_t import_resize(onnx_importer& in) {
  const bool upsample = in.node().op_type == "Upsample" || in.opset() < 11;
  const std::string mode = in.text("mode", "nearest");
  in.require(mode == "nearest" || mode == "linear" || mode == "bilinear",
             "cubic interpolation is not supported");
  in.require(in.integer("antialias", 0) == 0, "antialias is not supported");
  in.require(in.text("keep_aspect_ratio_policy", "stretch") == "stretch",
             "keep_aspect_ratio_policy is not supported");
  const resizing how{.coordinates = in.text("coordinate_transformation_mode",
                                            upsample ? "asymmetric" : "half_pixel"),
                     .nearest = in.text("nearest_mode", upsample ? "floor" : "round_prefer_floor"),
                     .linear = mode != "nearest"};
  const std::vector<resized_extent> extents = resized_extents(in);
  in.require(extents.size() >= 2, "resizes at least two dimensions");
  // The last two are resized; those before them are planes.
  std::int64_t planes = 1;
  std::vector<std::int64_t> result;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    result.push_back(extents[i].to);
    if (i + 2 >= extents.size()) continue;
    in.require(extents[i].from == extents[i].to,
               "resizing other than the last two dimensions is not supported");
    planes *= extents[i].from;
  }
  const resized_extent& height = extents[extents.size() - 2];
  const resized_extent& width = extents.back();
  std::size_t x = in.value(0);
  if (extents.size() != 4) x = in.add_reshape(x, {1, planes, height.from, width.from});
  const std::size_t given =
      in.add(resize2d_layer{positions_of(how, height.scale, height.from, height.to),
                            positions_of(how, width.scale, width.from, width.to)},
             {x});
  return in.add_reshape(given, shape(std::move(result)));
}

}  // namespace

onnx_operators onnx_resizing() {
  return {
      {"Resize", one_output(import_resize)},
      {"Upsample", one_output(import_resize)},
  };
}

}  // namespace graphline
