#include "stages/nn/onnx/onnx_forms.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "stages/nn/layers/layers.hpp"
#include "stages/nn/onnx/onnx_constants.hpp"
#include "stages/nn/operations/pointwise.hpp"

namespace graphline::nn::onnx {
namespace {

using integer_list = std::vector<std::int64_t>;

integer_list counted(std::int64_t first, std::int64_t count) {
  integer_list list(static_cast<std::size_t>(count));
  std::iota(list.begin(), list.end(), first);
  return list;
}

/// Returns true for each axis that a list names; refuses an axis twice.
std::vector<bool> marked(const onnx_call& call, const integer_list& axes, std::size_t rank) {
  std::vector<bool> result(rank);
  for (const std::int64_t axis : axes) {
    const std::size_t place = call.axis(axis, rank);
    call.require(!result[place], "has an axis twice");
    result[place] = true;
  }
  return result;
}

shape same_extents(const onnx_call& call) {
  return call.extents(0);
}

shape squeezed_extents(const onnx_call& call) {
  const shape& from = call.extents(0);
  const auto axes = call.integers("axes", 1);
  const auto drop = marked(call, axes.value_or(integer_list()), from.rank());
  integer_list extents;
  for (std::size_t axis = 0; axis < drop.size(); ++axis) {
    const std::int64_t extent = from[axis];
    if (axes ? !drop[axis] : extent != 1) extents.push_back(extent);
  }
  return shape(std::move(extents));
}

shape unsqueezed_extents(const onnx_call& call) {
  const shape& from = call.extents(0);
  const auto axes = call.integers("axes", 1).value_or(integer_list());
  integer_list extents;
  auto next = from.extents().begin();
  for (const bool one : marked(call, axes, from.rank() + axes.size()))
    extents.push_back(one ? 1 : *next++);
  return shape(std::move(extents));
}

shape reshaped_extents(const onnx_call& call) {
  const shape& from = call.extents(0);
  auto extents = call.integers(1);
  const bool zero_is_zero = call.integer("allowzero", 0) != 0;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] != 0 || zero_is_zero) continue;
    call.require(i < from.rank(), "copies an extent that its input lacks");
    extents[i] = from[i];
  }
  if (const auto open = std::ranges::find(extents, -1); open != extents.end()) {
    *open = 1;
    const auto others = shape(extents).checked_elements();
    call.require(others.value_or(0) > 0, "has an extent that cannot be inferred");
    *open = *from.checked_elements() / *others;
  }
  return shape(std::move(extents));
}

shape flattened_extents(const onnx_call& call) {
  const shape& from = call.extents(0);
  const auto& extents = from.extents();
  const std::int64_t rank = std::ssize(extents);
  const std::int64_t written = call.integer("axis", 1);
  const std::int64_t axis =
      written == rank ? rank : static_cast<std::int64_t>(call.axis(written, extents.size()));
  const auto product = [&](std::int64_t begin, std::int64_t end) {
    const shape part(integer_list(extents.begin() + begin, extents.begin() + end));
    return part.checked_elements().value_or(-1);
  };
  return shape{product(0, axis), product(axis, rank)};
}

/// Returns the positions of Python's slice start:end:step along `along` elements.
integer_list sliced(const onnx_call& call, std::int64_t along, std::int64_t start, std::int64_t end,
                    std::int64_t step) {
  const std::int64_t low = step < 0 ? -1 : 0;
  const std::int64_t high = step < 0 ? along - 1 : along;
  const auto bound = [&](std::int64_t written) {
    return std::clamp(written < 0 ? written + along : written, low, high);
  };
  start = bound(start);
  end = bound(end);
  step = std::clamp(step, -along - 1, along + 1);
  call.charge(shape{std::max<std::int64_t>((end - start) / step + 1, 0)});
  integer_list list;
  for (std::int64_t i = start; step < 0 ? i > end : i < end; i += step) list.push_back(i);
  return list;
}

/// The bounds are attributes before operator set 10, and inputs since.
std::vector<selection> slices(const onnx_call& call) {
  const shape& from = call.extents(0);
  const auto starts = call.integers("starts", 1).value_or(integer_list());
  const auto ends = call.integers("ends", 2).value_or(integer_list());
  const auto axes = call.integers("axes", 3).value_or(counted(0, std::ssize(starts)));
  const auto steps = call.integers("steps", 4).value_or(integer_list(starts.size(), 1));
  call.require(
      ends.size() == starts.size() && axes.size() == starts.size() && steps.size() == starts.size(),
      "has different numbers of starts, ends, axes and steps");
  selection lists;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    call.require(steps[i] != 0, "has a step of 0");
    const std::size_t axis = call.axis(axes[i], from.rank());
    call.require(!lists.contains(axis), "has an axis twice");
    lists[axis] = sliced(call, from[axis], starts[i], ends[i], steps[i]);
  }
  return {lists};
}

/// The parts are an attribute before operator set 13, and an input since. By default, all parts are
/// equal except a shorter last part.
std::vector<selection> split_parts(const onnx_call& call) {
  const shape& from = call.extents(0);
  const std::size_t axis = call.axis(call.integer("axis", 0), from.rank());
  const std::int64_t along = from[axis];
  const auto count = static_cast<std::int64_t>(call.node().outputs.size());
  auto parts = call.integers("split", 1);
  if (!parts) {
    parts.emplace();
    const std::int64_t part = count > 0 ? (along + count - 1) / count : 0;
    for (std::int64_t left = along; std::ssize(*parts) < count; left -= parts->back()) {
      parts->push_back(std::min(part, left));
    }
  }
  call.require(std::ssize(*parts) == count, "needs one part per output");
  std::vector<selection> results;
  std::int64_t start = 0;
  for (const std::int64_t part : *parts) {
    call.require(part >= 0 && part <= along - start, "has parts that do not add up");
    call.charge(shape{part});
    results.push_back({{axis, counted(start, part)}});
    start += part;
  }
  call.require(start == along, "has parts that do not add up");
  return results;
}

std::vector<selection> tiles(const onnx_call& call) {
  const shape& from = call.extents(0);
  const auto repeats = call.integers(1);
  call.require(repeats.size() == from.rank(), "needs one repeat per axis");
  selection lists;
  for (std::size_t axis = 0; axis < repeats.size(); ++axis) {
    const std::int64_t along = from[axis];
    call.require(
        repeats[axis] >= 0 && repeats[axis] < call.budget() / std::max<std::int64_t>(along, 1),
        "asks for too many elements");
    call.charge(shape{along * repeats[axis]});
    integer_list& list = lists[axis] = counted(0, along * repeats[axis]);
    for (std::int64_t& position : list) position %= along;
  }
  return {lists};
}

/// Returns the source of a position counted from the first unpadded element, or `outside`.
std::int64_t padded_from(std::string_view mode, std::int64_t position, std::int64_t along) {
  if (position >= 0 && position < along) return position;
  if (mode == "constant") return outside;
  if (mode == "edge") return std::clamp<std::int64_t>(position, 0, along - 1);
  const auto modulo = [](std::int64_t a, std::int64_t b) { return (a % b + b) % b; };
  if (mode == "wrap") return modulo(position, along);
  const std::int64_t period = std::max<std::int64_t>(2 * (along - 1), 1);  // "reflect"
  return std::min(modulo(position, period), period - modulo(position, period));
}

/// The pads are an attribute before operator set 11, and an input since.
std::vector<selection> padded(const onnx_call& call) {
  const shape& from = call.extents(0);
  const auto pads = call.integers("pads", 1).value_or(integer_list());
  const auto all = counted(0, static_cast<std::int64_t>(from.rank()));
  const auto axes = call.has(3) ? call.integers(3) : all;
  const std::string mode = call.text("mode", "constant");
  call.require(mode == "constant" || mode == "edge" || mode == "reflect" || mode == "wrap",
               "has a mode that is not supported");
  call.require(pads.size() == 2 * axes.size(), "needs two pads per axis");
  for (const std::int64_t each : pads) {
    call.require(each > -call.budget() && each < call.budget(), "asks for too many elements");
  }
  selection lists;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = call.axis(axes[i], from.rank());
    call.require(!lists.contains(axis), "has an axis twice");
    const std::int64_t before = pads[i];
    const std::int64_t after = pads[axes.size() + i];
    // Negative pads crop first. The other pads then repeat elements that remain.
    const std::int64_t first = std::max<std::int64_t>(-before, 0);
    const std::int64_t along = from[axis] - first + std::min<std::int64_t>(after, 0);
    const std::int64_t count = from[axis] + before + after;
    call.require(count >= 0, "takes away more elements than it has");
    call.charge(shape{count});
    call.require(along > 0 || count == 0 || mode == "constant",
                 "repeats elements of an empty input");
    integer_list& list = lists[axis] = counted(-before - first, count);
    for (std::int64_t& position : list) {
      position = padded_from(mode, position, along);
      if (position != outside) position += first;
    }
  }
  return {lists};
}

bool selects_rows(const onnx_call& call) {
  return call.node().op_type.ends_with("ND");
}

}  // namespace

const std::map<std::string_view, reshaping>& reshapings() {
  static const std::map<std::string_view, reshaping> all = {{"Flatten", flattened_extents},
                                                            {"Identity", same_extents},
                                                            {"Reshape", reshaped_extents},
                                                            {"Squeeze", squeezed_extents},
                                                            {"Unsqueeze", unsqueezed_extents}};
  return all;
}

const std::map<std::string_view, selecting>& selectings() {
  static const std::map<std::string_view, selecting> all = {
      {"Pad", padded}, {"Slice", slices}, {"Split", split_parts}, {"Tile", tiles}};
  return all;
}

gathering gathering_of(const onnx_call& call) {
  const shape& from = call.extents(0);
  const std::size_t axis = call.axis(call.integer("axis", 0), from.rank());
  const std::int64_t along = from[axis];
  integer_list indices = call.integers(1);
  for (std::int64_t& index : indices) {
    call.require(index >= -along && index < along, "has an index beyond its axis");
    if (index < 0) index += along;
  }
  auto extents = from.extents();
  const auto& inserted = call.extents(1).extents();
  const auto at = extents.erase(extents.begin() + static_cast<std::ptrdiff_t>(axis));
  extents.insert(at, inserted.begin(), inserted.end());
  return {{{axis, std::move(indices)}}, shape(std::move(extents))};
}

shape indexed_extents(const onnx_call& call) {
  if (!selects_rows(call)) return call.extents(1);
  const auto& from = call.extents(0).extents();
  auto extents = call.extents(1).extents();
  call.require(!extents.empty(), "has indices without dimensions");
  const std::int64_t depth = extents.back();
  const std::int64_t batch = call.integer("batch_dims", 0);
  call.require(
      batch >= 0 && batch < std::ssize(extents) && depth >= 0 && depth <= std::ssize(from) - batch,
      "has indices of more dimensions than what they are of");
  call.require(std::equal(from.begin(), from.begin() + batch, extents.begin()),
               "has batch dimensions that differ");
  extents.pop_back();
  extents.insert(extents.end(), from.begin() + batch + depth, from.end());
  return shape(std::move(extents));
}

indexed_elements indexed_of(const onnx_call& call) {
  const shape& from = call.extents(0);
  const shape& at = call.extents(1);
  const shape extents = indexed_extents(call);
  call.charge(extents);
  const bool elements = !selects_rows(call);
  const std::size_t axis = elements ? call.axis(call.integer("axis", 0), from.rank()) : 0;
  call.require(!elements || at.rank() == from.rank(),
               "has indices of other dimensions than what they are of");
  for (std::size_t i = 0; elements && i < from.rank(); ++i) {
    call.require(i == axis || at[i] <= from[i], "has more indices than what they are of");
  }
  if (extents.elements() == 0) return {{{0}, {{0}, {0}}}, {}, {}};
  call.require(from.elements() > 0, "has an index beyond its axis");
  const integer_list strides = packed_strides(from);
  if (elements) {
    integer_list others = strides;
    others[axis] = 0;
    return {{at.extents(), {std::move(others), packed_strides(at)}},
            {from[axis]},
            {strides[axis]},
            axis};
  }
  const std::int64_t depth = at[at.rank() - 1];
  const std::int64_t batch = call.integer("batch_dims", 0);
  const auto product = [](auto begin, auto end) {
    return std::accumulate(begin, end, std::int64_t{1}, std::multiplies<>());
  };
  const auto first = from.extents().begin();
  const auto inner = first + batch + depth;
  const std::int64_t batches = product(first, first + batch);
  const std::int64_t row = product(inner, from.extents().end());
  const std::int64_t rows = product(at.extents().begin() + batch, at.extents().end() - 1);
  return {{{batches, rows, row},
           {{product(first + batch, from.extents().end()), 0, 1}, {rows * depth, depth, 0}}},
          integer_list(first + batch, inner),
          integer_list(strides.begin() + batch, strides.begin() + batch + depth),
          static_cast<std::size_t>(batch)};
}

indexed_rows indexed_rows_of(const onnx_call& call) {
  indexed_elements selected = indexed_of(call);
  const integer_list indices = call.integers(1);
  indexed_rows result;
  if (shape(selected.space.extents).elements() == 0) return result;
  if (selects_rows(call)) result.row = std::exchange(selected.space.extents.back(), 1);
  const shape space(selected.space.extents);
  const std::array offsets{even_offsets(space, selected.space.strides[0]),
                           even_offsets(space, selected.space.strides[1])};
  walk(offsets, [&](const auto& at) {
    auto place = static_cast<std::int64_t>(at[0]);
    for (std::size_t k = 0; k < selected.extents.size(); ++k) {
      const std::int64_t extent = selected.extents[k];
      const std::int64_t index = indices[at[1] + k];
      call.require(index >= -extent && index < extent, "has an index beyond its axis");
      place += (index < 0 ? index + extent : index) * selected.strides[k];
    }
    result.places.push_back(place / result.row);
  });
  return result;
}

std::vector<std::size_t> transposed_order(const onnx_call& call) {
  const auto rank = static_cast<std::int64_t>(call.extents(0).rank());
  auto order = call.integers("perm").value_or(integer_list());
  if (order.empty()) {
    order = counted(0, rank);
    std::ranges::reverse(order);
  }
  call.require(std::ranges::is_permutation(order, counted(0, rank)),
               "has a 'perm' that is not a permutation of its axes");
  return {order.begin(), order.end()};
}

std::size_t concat_axis(const onnx_call& call) {
  const shape& first = call.extents(0);
  const std::size_t axis = call.axis(call.integer("axis", 1), first.rank());
  for (std::size_t i = 1; i < call.inputs(); ++i) {
    const shape& other = call.extents(i);
    call.require(other.rank() == first.rank() && with_extent(other, axis, first[axis]) == first,
                 "has shapes that do not fit together");
  }
  return axis;
}

shape expanded_extents(const onnx_call& call) {
  return common_extents(call, std::vector{call.extents(0), shape(call.integers(1))});
}

std::vector<std::size_t> reduced_axes(const onnx_call& call) {
  const std::size_t rank = call.extents(0).rank();
  const auto written = call.integers("axes", 1).value_or(integer_list());
  if (written.empty() && call.integer("noop_with_empty_axes", 0) != 0) return {};
  const std::vector<bool> stated = marked(call, written, rank);
  std::vector<std::size_t> axes;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (written.empty() || stated[axis]) axes.push_back(axis);
  }
  return axes;
}

shape common_extents(const onnx_call& call, std::span<const shape> all) {
  const auto extents = broadcast(all);
  if (!extents) call.refuse("has shapes that do not broadcast");
  return *extents;
}

}  // namespace graphline::nn::onnx
