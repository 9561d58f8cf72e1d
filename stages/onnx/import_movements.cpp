#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "stages/onnx/onnx_importer.hpp"

namespace graphline {
namespace {

std::size_t import_identity(onnx_importer& in) {
  return in.value(0);
}

std::size_t import_dropout(onnx_importer& in) {
  in.require(!in.has(2) || in.floats(2, "training_mode").at(0) == 0, "training is not supported");
  return in.value(0);
}

std::size_t import_concat(onnx_importer& in) {
  const std::size_t axis = in.axis(in.integer("axis", 1), in.rank(0));
  std::vector<std::size_t> values;
  for (std::size_t i = 0; i < in.node().inputs.size(); ++i) values.push_back(in.value(i));
  return in.add(concat_layer{axis}, std::move(values));
}

/// A slice of the whole of a value, for its caller to narrow.
slice_layer whole_of(const shape& extents) {
  return {.begin = std::vector<std::int64_t>(extents.rank(), 0),
          .step = std::vector<std::int64_t>(extents.rank(), 1),
          .extents = extents};
}

shape with_extent(const shape& s, std::size_t axis, std::int64_t extent) {
  std::vector<std::int64_t> extents = s.extents();
  extents[axis] = extent;
  return shape(std::move(extents));
}

std::vector<std::size_t> import_split(onnx_importer& in) {
  const shape extents = in.extents(0);
  const std::size_t axis = in.axis(in.integer("axis", 0), extents.rank());
  const auto count = static_cast<std::int64_t>(in.node().outputs.size());
  std::vector<std::int64_t> sizes;
  if (const auto given = in.integers("split", 1)) {
    sizes = *given;
  } else {
    // Equal parts, the last one smaller where they cannot be.
    const std::int64_t part = (extents[axis] + count - 1) / count;
    for (std::int64_t i = 0; i < count; ++i) {
      sizes.push_back(std::min(part, extents[axis] - i * part));
    }
  }
  in.require(std::ranges::all_of(sizes, [](std::int64_t size) { return size > 0; }) &&
                 std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) == extents[axis],
             "the parts do not add up to the dimension");
  const std::size_t x = in.value(0);
  std::vector<std::size_t> parts;
  std::int64_t begin = 0;
  for (const std::int64_t size : sizes) {
    slice_layer part = whole_of(with_extent(extents, axis, size));
    part.begin[axis] = begin;
    begin += size;
    parts.push_back(in.add(std::move(part), {x}));
  }
  return parts;
}

std::size_t import_slice(onnx_importer& in) {
  const shape extents = in.extents(0);
  const auto starts = in.integers("starts", 1);
  const auto ends = in.integers("ends", 2);
  in.require(starts && ends && starts->size() == ends->size(), "starts and ends do not fit");
  std::vector<std::int64_t> axes(starts->size());
  std::iota(axes.begin(), axes.end(), 0);
  axes = in.integers("axes", 3).value_or(axes);
  const std::vector<std::int64_t> steps =
      in.has(4) ? in.integers(4, "steps") : std::vector<std::int64_t>(starts->size(), 1);
  in.require(axes.size() == starts->size() && steps.size() == starts->size(),
             "axes and steps do not fit");
  slice_layer part = whole_of(extents);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = in.axis(axes[i], extents.rank());
    const std::int64_t extent = extents[axis];
    const std::int64_t step = steps[i];
    in.require(step != 0, "a step must not be 0");
    const auto bound = [&](std::int64_t at, std::int64_t low, std::int64_t high) {
      return std::clamp(at < 0 ? at + extent : at, low, high);
    };
    // Backward, one before the first element is a bound too.
    const std::int64_t first =
        step > 0 ? bound((*starts)[i], 0, extent) : bound((*starts)[i], 0, extent - 1);
    const std::int64_t last = step > 0               ? bound((*ends)[i], 0, extent)
                              : (*ends)[i] < -extent ? -1
                                                     : bound((*ends)[i], -1, extent - 1);
    const std::int64_t distance = step > 0 ? last - first : first - last;
    const std::int64_t stride = step > 0 ? step : -step;
    const std::int64_t count = distance > 0 ? (distance + stride - 1) / stride : 0;
    in.require(count > 0, "gives no elements, which is not supported");
    part.begin[axis] = first;
    part.step[axis] = step;
    part.extents = with_extent(part.extents, axis, count);
  }
  return in.add(std::move(part), {in.value(0)});
}

/// The element of a mirrored or extended dimension.
std::int64_t padded_index(std::int64_t at, std::int64_t extent, const std::string& mode) {
  if (mode == "edge") return std::clamp<std::int64_t>(at, 0, extent - 1);
  if (mode == "wrap") return ((at % extent) + extent) % extent;
  if (extent == 1) return 0;
  const std::int64_t period = 2 * (extent - 1);
  const std::int64_t folded = ((at % period) + period) % period;
  return folded < extent ? folded : period - folded;
}

std::size_t import_pad(onnx_importer& in) {
  const shape extents = in.extents(0);
  const std::string mode = in.text("mode", "constant");
  const auto given = in.integers("pads", 1);
  in.require(given.has_value(), "pads is missing");
  std::vector<std::size_t> axes(extents.rank());
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  if (in.has(3)) {
    axes.clear();
    for (const std::int64_t axis : in.integers(3, "axes")) {
      axes.push_back(in.axis(axis, extents.rank()));
    }
  }
  in.require(given->size() == 2 * axes.size(), "pads has another number of dimensions");
  pad_layer padding{.before = std::vector<std::int64_t>(extents.rank(), 0),
                    .after = std::vector<std::int64_t>(extents.rank(), 0)};
  padding.value = in.has(2) ? in.floats(2, "the value").at(0) : in.number("value", 0.0F);
  slice_layer kept = whole_of(extents);
  std::size_t x = in.value(0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = axes[i];
    const std::int64_t before = (*given)[i];
    const std::int64_t after = (*given)[i + axes.size()];
    const std::int64_t extent = extents[axis];
    if (mode == "constant") {
      padding.before[axis] = std::max<std::int64_t>(before, 0);
      padding.after[axis] = std::max<std::int64_t>(after, 0);
      // Negative ones take elements away.
      kept.begin[axis] = std::max<std::int64_t>(-before, 0);
      const std::int64_t left = extent - kept.begin[axis] - std::max<std::int64_t>(-after, 0);
      in.require(left > 0, "takes all elements away");
      kept.extents = with_extent(kept.extents, axis, left);
      continue;
    }
    in.require(mode == "edge" || mode == "reflect" || mode == "wrap", "an unknown mode");
    if (before == 0 && after == 0) continue;
    in.require(extent + before + after > 0, "takes all elements away");
    std::vector<std::int64_t> indices;
    for (std::int64_t at = -before; at < extent + after; ++at) {
      indices.push_back(padded_index(at, extent, mode));
    }
    x = in.add(gather_layer{axis, std::move(indices)}, {x});
  }
  if (mode != "constant") return x;
  if (kept.extents != extents) x = in.add(std::move(kept), {x});
  return in.add(std::move(padding), {x});
}

std::size_t import_transpose(onnx_importer& in) {
  const std::size_t rank = in.rank(0);
  std::vector<std::size_t> order;
  if (const auto given = in.integers("perm")) {
    for (const std::int64_t axis : *given) order.push_back(in.axis(axis, rank));
  } else {
    for (std::size_t axis = rank; axis-- > 0;) order.push_back(axis);
  }
  std::vector<std::size_t> sorted = order;
  std::ranges::sort(sorted);
  in.require(sorted.size() == rank && std::ranges::adjacent_find(sorted) == sorted.end(),
             "perm is no permutation of the dimensions");
  return in.add(transpose_layer{std::move(order)}, {in.value(0)});
}

std::size_t import_reshape(onnx_importer& in) {
  const shape extents = in.extents(0);
  std::vector<std::int64_t> wanted = in.integers(1, "the shape");
  const bool zero_is_zero = in.integer("allowzero", 0) != 0;
  std::int64_t known = 1;
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == 0 && !zero_is_zero) {
      in.require(i < extents.rank(), "takes over a dimension that there is not");
      wanted[i] = extents[i];
    }
    if (wanted[i] == -1) {
      in.require(!open, "leaves two dimensions open");
      open = i;
    } else {
      in.require(wanted[i] > 0, "gives no elements, which is not supported");
      known *= wanted[i];
    }
  }
  if (open) wanted[*open] = known > 0 ? extents.elements() / known : 0;
  return in.add_reshape(in.value(0), shape(std::move(wanted)));
}

std::size_t import_flatten(onnx_importer& in) {
  const shape& extents = in.extents(0);
  const auto rank = static_cast<std::int64_t>(extents.rank());
  const std::int64_t written = in.integer("axis", 1);
  const std::int64_t axis = written < 0 ? written + rank : written;
  in.require(axis >= 0 && axis <= rank, "has an axis beyond the dimensions");
  std::int64_t rows = 1;
  for (std::int64_t i = 0; i < axis; ++i) rows *= extents[static_cast<std::size_t>(i)];
  return in.add_reshape(in.value(0), {rows, extents.elements() / rows});
}

std::size_t import_squeeze(onnx_importer& in) {
  const shape extents = in.extents(0);
  std::vector<bool> goes(extents.rank(), false);
  if (const auto axes = in.integers("axes", 1)) {
    for (const std::int64_t axis : *axes) goes[in.axis(axis, extents.rank())] = true;
  } else {
    for (std::size_t i = 0; i < extents.rank(); ++i) goes[i] = extents[i] == 1;
  }
  std::vector<std::int64_t> kept;
  for (std::size_t i = 0; i < extents.rank(); ++i) {
    in.require(!goes[i] || extents[i] == 1, "takes away a dimension of more than 1");
    if (!goes[i]) kept.push_back(extents[i]);
  }
  return in.add_reshape(in.value(0), shape(std::move(kept)));
}

std::size_t import_unsqueeze(onnx_importer& in) {
  const shape extents = in.extents(0);
  const auto axes = in.integers("axes", 1);
  in.require(axes.has_value(), "axes is missing");
  const std::size_t rank = extents.rank() + axes->size();
  std::vector<std::int64_t> result(rank, 0);
  for (const std::int64_t axis : *axes) result[in.axis(axis, rank)] = 1;
  std::size_t next = 0;
  for (std::int64_t& extent : result) {
    if (extent == 0) {
      in.require(next < extents.rank(), "names an axis twice");
      extent = extents[next++];
    }
  }
  return in.add_reshape(in.value(0), shape(std::move(result)));
}

std::size_t import_expand(onnx_importer& in) {
  const shape both[] = {in.extents(0), shape(in.integers(1, "the shape"))};
  const auto extents = broadcast(both);
  in.require(extents.has_value(), "the shape does not fit x");
  if (*extents == in.extents(0)) return in.value(0);
  return in.add(expand_layer{*extents}, {in.value(0)});
}

std::size_t import_tile(onnx_importer& in) {
  const std::vector<std::int64_t> repeats = in.integers(1, "repeats");
  in.require(repeats.size() == in.rank(0), "repeats does not fit the dimensions");
  std::size_t x = in.value(0);
  for (std::size_t axis = 0; axis < repeats.size(); ++axis) {
    in.require(repeats[axis] > 0, "gives no elements, which is not supported");
    if (repeats[axis] == 1) continue;
    std::vector<std::int64_t> indices;
    for (std::int64_t i = 0; i < repeats[axis] * in.extents(0)[axis]; ++i) {
      indices.push_back(i % in.extents(0)[axis]);
    }
    x = in.add(gather_layer{axis, std::move(indices)}, {x});
  }
  return x;
}

/// Blocks of size x size elements become channels, or the other way around.
std::size_t import_depth_to_space(onnx_importer& in) {
  const shape s = in.extents(0);
  const std::int64_t size = in.integer("blocksize", 0);
  in.require(s.rank() == 4 && size > 0 && s[1] % (size * size) == 0, "the channels do not fit");
  const std::int64_t channels = s[1] / size / size;
  const bool by_column = in.text("mode", "DCR") == "CRD";
  std::size_t x = in.value(0);
  if (by_column) {
    x = in.add_reshape(x, {s[0], channels, size, size, s[2], s[3]});
    x = in.add(transpose_layer{{0, 1, 4, 2, 5, 3}}, {x});
  } else {
    x = in.add_reshape(x, {s[0], size, size, channels, s[2], s[3]});
    x = in.add(transpose_layer{{0, 3, 4, 1, 5, 2}}, {x});
  }
  return in.add_reshape(x, {s[0], channels, s[2] * size, s[3] * size});
}

std::size_t import_space_to_depth(onnx_importer& in) {
  const shape s = in.extents(0);
  const std::int64_t size = in.integer("blocksize", 0);
  in.require(s.rank() == 4 && size > 0 && s[2] % size == 0 && s[3] % size == 0,
             "height and width do not fit");
  std::size_t x = in.add_reshape(in.value(0), {s[0], s[1], s[2] / size, size, s[3] / size, size});
  x = in.add(transpose_layer{{0, 3, 5, 1, 2, 4}}, {x});
  return in.add_reshape(x, {s[0], s[1] * size * size, s[2] / size, s[3] / size});
}

/// Indices are constants: one number takes its dimension away, several dimensions take its place.
std::size_t import_gather(onnx_importer& in) {
  const shape extents = in.extents(0);
  const std::size_t axis = in.axis(in.integer("axis", 0), extents.rank());
  std::vector<std::int64_t> indices = in.integers(1, "indices");
  for (std::int64_t& index : indices) {
    if (index < 0) index += extents[axis];
    in.require(index >= 0 && index < extents[axis], "has an index beyond the dimension");
  }
  in.require(!indices.empty(), "gives no elements, which is not supported");
  const shape wanted = in.extents(1);
  const std::size_t given = in.add(gather_layer{axis, std::move(indices)}, {in.value(0)});
  std::vector<std::int64_t> result = extents.extents();
  const auto at = result.erase(result.begin() + static_cast<std::ptrdiff_t>(axis));
  result.insert(at, wanted.extents().begin(), wanted.extents().end());
  return in.add_reshape(given, shape(std::move(result)));
}

}  // namespace

onnx_operators onnx_movements() {
  return {
      {"Concat", one_output(import_concat)},
      {"DepthToSpace", one_output(import_depth_to_space)},
      {"Dropout", one_output(import_dropout)},
      {"Expand", one_output(import_expand)},
      {"Flatten", one_output(import_flatten)},
      {"Gather", one_output(import_gather)},
      {"Identity", one_output(import_identity)},
      {"Pad", one_output(import_pad)},
      {"Reshape", one_output(import_reshape)},
      {"Slice", one_output(import_slice)},
      {"SpaceToDepth", one_output(import_space_to_depth)},
      {"Split", import_split},
      {"Squeeze", one_output(import_squeeze)},
      {"Tile", one_output(import_tile)},
      {"Transpose", one_output(import_transpose)},
      {"Unsqueeze", one_output(import_unsqueeze)},
  };
}

}  // namespace graphline
