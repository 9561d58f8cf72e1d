#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "stages/onnx/onnx_functions.hpp"

namespace graphline::onnx {
namespace {

using integer_list = std::vector<std::int64_t>;

/// An offset of no element: with those of as many other axes as there may be it stays below 0.
constexpr std::int64_t outside = std::numeric_limits<std::int64_t>::min() / 128;

/// The elements of `from` at the listed positions along some axes, and at all along the others;
/// `padding` for those that are outside.
onnx_tensor selected(const onnx_call& call, const onnx_tensor& from,
                     const std::map<std::size_t, integer_list>& lists,
                     const onnx_tensor* padding = nullptr) {
  const auto strides = strides_of(from.extents);
  auto extents = from.extents.extents();
  for (const auto& [axis, list] : lists) extents[axis] = std::ssize(list);
  onnx_tensor result = call.make(from.element, shape(extents));
  if (padding != nullptr) fill_with(result, *padding);
  axis_offsets offsets = even_offsets(result.extents, strides);
  for (const auto& [axis, list] : lists) {
    std::ranges::transform(list, offsets[axis].begin(), [stride = strides[axis]](auto position) {
      return position == outside ? outside : position * stride;
    });
  }
  fill(result, from, std::move(offsets));
  return result;
}

integer_list counted(std::int64_t first, std::int64_t count) {
  integer_list list(static_cast<std::size_t>(count));
  std::iota(list.begin(), list.end(), first);
  return list;
}

onnx_tensor identity(const onnx_call& call) {
  return call.reshaped(call.input(0), call.input(0).extents);
}

onnx_tensor gather(const onnx_call& call) {
  const onnx_tensor& from = call.input(0);
  const std::size_t axis = call.axis(call.integer("axis", 0), from.extents.rank());
  const std::int64_t along = from.extents[axis];
  integer_list indices = call.integers(1);
  for (std::int64_t& index : indices) {
    call.require(index >= -along && index < along, "has an index beyond its axis");
    if (index < 0) index += along;
  }
  onnx_tensor result = selected(call, from, {{axis, std::move(indices)}});
  auto extents = from.extents.extents();
  const auto& inserted = call.input(1).extents.extents();
  const auto at = extents.erase(extents.begin() + static_cast<std::ptrdiff_t>(axis));
  extents.insert(at, inserted.begin(), inserted.end());
  call.charge(shape(extents));
  result.extents = shape(std::move(extents));
  return result;
}

/// The positions from `start` to before `end` in a dimension, as Python has it.
integer_list sliced(std::int64_t along, std::int64_t start, std::int64_t end, std::int64_t step) {
  const std::int64_t low = step < 0 ? -1 : 0;
  const std::int64_t high = step < 0 ? along - 1 : along;
  const auto bound = [&](std::int64_t written) {
    return std::clamp(written < 0 ? written + along : written, low, high);
  };
  end = bound(end);
  step = std::clamp(step, -along - 1, along + 1);
  integer_list list;
  for (std::int64_t i = bound(start); step < 0 ? i > end : i < end; i += step) list.push_back(i);
  return list;
}

/// Bounds are attributes before operator set 10, inputs since.
onnx_tensor slice(const onnx_call& call) {
  const onnx_tensor& from = call.input(0);
  const auto starts = call.integers("starts", 1).value_or(integer_list());
  const auto ends = call.integers("ends", 2).value_or(integer_list());
  const auto axes = call.integers("axes", 3).value_or(counted(0, std::ssize(starts)));
  const auto steps = call.integers("steps", 4).value_or(integer_list(starts.size(), 1));
  call.require(
      ends.size() == starts.size() && axes.size() == starts.size() && steps.size() == starts.size(),
      "has not as many starts, ends, axes and steps");
  std::map<std::size_t, integer_list> lists;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    call.require(steps[i] != 0, "has a step of 0");
    const std::size_t axis = call.axis(axes[i], from.extents.rank());
    call.require(!lists.contains(axis), "has an axis twice");
    lists[axis] = sliced(from.extents[axis], starts[i], ends[i], steps[i]);
  }
  return selected(call, from, lists);
}

onnx_tensor concat(const onnx_call& call) {
  const onnx_tensor& first = call.input(0);
  const std::size_t axis = call.axis(call.integer("axis", 0), first.extents.rank());
  auto extents = first.extents.extents();
  extents[axis] = 0;
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    auto others = call.input(i).extents.extents();
    call.require(others.size() == extents.size() && call.input(i).element == first.element,
                 "has inputs of different types");
    extents[axis] += std::exchange(others[axis], extents[axis]);
    others[axis] = extents[axis];
    call.require(others == extents, "has shapes that do not fit together");
  }
  onnx_tensor result = call.make(first.element, shape(extents));
  const auto strides = strides_of(result.extents);
  std::int64_t start = 0;
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    const onnx_tensor& from = call.input(i);
    axis_offsets offsets = even_offsets(from.extents, strides);
    for (std::int64_t& offset : offsets[axis]) offset += start * strides[axis];
    start += from.extents[axis];
    offset_walk in_result(std::move(offsets));
    std::visit(
        [&]<class Value>(const std::vector<Value>& values) {
          auto& to = std::get<std::vector<Value>>(result.values);
          for (const Value value : values) to[in_result.next()] = value;
        },
        from.values);
  }
  return result;
}

/// Parts are an attribute before operator set 13, an input since; without them they are equal, up
/// to the last one.
std::vector<onnx_tensor> split(const onnx_call& call) {
  const onnx_tensor& from = call.input(0);
  const std::size_t axis = call.axis(call.integer("axis", 0), from.extents.rank());
  const std::int64_t along = from.extents[axis];
  const auto count = static_cast<std::int64_t>(call.node().outputs.size());
  auto parts = call.integers("split", 1);
  if (!parts) {
    parts.emplace();
    const std::int64_t part = count > 0 ? (along + count - 1) / count : 0;
    for (std::int64_t left = along; std::ssize(*parts) < count; left -= parts->back()) {
      parts->push_back(std::min(part, left));
    }
  }
  call.require(std::ssize(*parts) == count, "has not as many parts as outputs");
  std::vector<onnx_tensor> results;
  std::int64_t start = 0;
  for (const std::int64_t part : *parts) {
    call.require(part >= 0 && part <= along - start, "has parts that do not add up");
    results.push_back(selected(call, from, {{axis, counted(start, part)}}));
    start += part;
  }
  call.require(start == along, "has parts that do not add up");
  return results;
}

onnx_tensor squeeze(const onnx_call& call) {
  const onnx_tensor& from = call.input(0);
  const auto axes = call.integers("axes", 1);
  std::vector<bool> drop(from.extents.rank());
  for (const std::int64_t axis : axes.value_or(integer_list())) {
    drop[call.axis(axis, drop.size())] = true;
  }
  integer_list extents;
  for (std::size_t axis = 0; axis < drop.size(); ++axis) {
    const std::int64_t extent = from.extents[axis];
    if (axes ? !drop[axis] : extent != 1) extents.push_back(extent);
  }
  return call.reshaped(from, shape(std::move(extents)));
}

onnx_tensor unsqueeze(const onnx_call& call) {
  const onnx_tensor& from = call.input(0);
  const auto axes = call.integers("axes", 1).value_or(integer_list());
  std::vector<bool> added(from.extents.rank() + axes.size());
  for (const std::int64_t axis : axes) {
    const std::size_t place = call.axis(axis, added.size());
    call.require(!added[place], "has an axis twice");
    added[place] = true;
  }
  integer_list extents;
  auto next = from.extents.extents().begin();
  for (const bool one : added) extents.push_back(one ? 1 : *next++);
  return call.reshaped(from, shape(std::move(extents)));
}

onnx_tensor reshape(const onnx_call& call) {
  const onnx_tensor& from = call.input(0);
  auto extents = call.integers(1);
  const bool zero_is_zero = call.integer("allowzero", 0) != 0;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] != 0 || zero_is_zero) continue;
    call.require(i < from.extents.rank(), "keeps an extent that there is not");
    extents[i] = from.extents[i];
  }
  if (const auto open = std::ranges::find(extents, -1); open != extents.end()) {
    *open = 1;
    const auto others = shape(extents).checked_elements();
    call.require(others.value_or(0) > 0, "has an extent that cannot be told");
    *open = *from.extents.checked_elements() / *others;
  }
  return call.reshaped(from, shape(std::move(extents)));
}

onnx_tensor flatten(const onnx_call& call) {
  const onnx_tensor& from = call.input(0);
  const auto& extents = from.extents.extents();
  const std::int64_t rank = std::ssize(extents);
  const std::int64_t written = call.integer("axis", 1);
  const std::int64_t axis =
      written == rank ? rank : static_cast<std::int64_t>(call.axis(written, extents.size()));
  const auto product = [&](std::int64_t begin, std::int64_t end) {
    const shape part(integer_list(extents.begin() + begin, extents.begin() + end));
    return part.checked_elements().value_or(-1);
  };
  return call.reshaped(from, shape{product(0, axis), product(axis, rank)});
}

onnx_tensor transpose(const onnx_call& call) {
  const onnx_tensor& from = call.input(0);
  const std::size_t rank = from.extents.rank();
  auto order = call.integers("perm", 1).value_or(integer_list());
  if (order.empty()) {
    order = counted(0, static_cast<std::int64_t>(rank));
    std::ranges::reverse(order);
  }
  call.require(std::ranges::is_permutation(order, counted(0, static_cast<std::int64_t>(rank))),
               "has a 'perm' that is no permutation of its axes");
  const auto own_strides = strides_of(from.extents);
  integer_list extents;
  integer_list strides;
  for (const std::int64_t axis : order) {
    extents.push_back(from.extents[static_cast<std::size_t>(axis)]);
    strides.push_back(own_strides[static_cast<std::size_t>(axis)]);
  }
  onnx_tensor result = call.make(from.element, shape(std::move(extents)));
  fill(result, from, even_offsets(result.extents, strides));
  return result;
}

onnx_tensor expand(const onnx_call& call) {
  const onnx_tensor& from = call.input(0);
  const shape extents = broadcast(call, std::vector{from.extents, shape(call.integers(1))});
  onnx_tensor result = call.make(from.element, extents);
  fill(result, from, broadcast_offsets(from.extents, extents));
  return result;
}

onnx_tensor tile(const onnx_call& call) {
  const onnx_tensor& from = call.input(0);
  const auto repeats = call.integers(1);
  call.require(repeats.size() == from.extents.rank(), "has not as many repeats as axes");
  std::map<std::size_t, integer_list> lists;
  for (std::size_t axis = 0; axis < repeats.size(); ++axis) {
    const std::int64_t along = from.extents[axis];
    call.require(
        repeats[axis] >= 0 && repeats[axis] < call.budget() / std::max<std::int64_t>(along, 1),
        "takes too much for a constant");
    call.charge(shape{along * repeats[axis]});
    integer_list& list = lists[axis] = counted(0, along * repeats[axis]);
    for (std::int64_t& position : list) position %= along;
  }
  return selected(call, from, lists);
}

/// The position in a dimension that one in or beside it is filled from.
std::int64_t padded_from(std::string_view mode, std::int64_t position, std::int64_t along) {
  if (position >= 0 && position < along) return position;
  if (mode == "constant") return outside;
  if (mode == "edge") return std::clamp<std::int64_t>(position, 0, along - 1);
  const auto modulo = [](std::int64_t a, std::int64_t b) { return (a % b + b) % b; };
  if (mode == "wrap") return modulo(position, along);
  const std::int64_t period = std::max<std::int64_t>(2 * (along - 1), 1);  // "reflect"
  return std::min(modulo(position, period), period - modulo(position, period));
}

/// Pads and padding are attributes before operator set 11, inputs since.
onnx_tensor pad(const onnx_call& call) {
  const onnx_tensor& from = call.input(0);
  const auto pads = call.integers("pads", 1).value_or(integer_list());
  const auto all = counted(0, static_cast<std::int64_t>(from.extents.rank()));
  const auto axes = call.has(3) ? call.integers(3) : all;
  const auto* written = call.node().attribute<std::string>("mode");
  const std::string mode = written == nullptr ? "constant" : *written;
  call.require(mode == "constant" || mode == "edge" || mode == "reflect" || mode == "wrap",
               "has a mode that is not supported");
  call.require(pads.size() == 2 * axes.size(), "has not two pads for each axis");
  for (const std::int64_t each : pads) {
    call.require(each > -call.budget() && each < call.budget(), "takes too much for a constant");
  }
  std::map<std::size_t, integer_list> lists;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = call.axis(axes[i], from.extents.rank());
    const std::int64_t along = from.extents[axis];
    const std::int64_t count = along + pads[i] + pads[axes.size() + i];
    call.charge(shape{count});
    call.require(along > 0 || count == 0 || mode == "constant", "pads with elements it has not");
    integer_list& list = lists[axis] = counted(-pads[i], count);
    for (std::int64_t& position : list) position = padded_from(mode, position, along);
  }
  onnx_tensor padding;
  if (call.has(2)) {
    padding = call.reshaped(call.input(2), {});
    call.require(padding.element == from.element, "has inputs of different types");
  } else {
    const auto* value = call.node().attribute<float>("value");
    const onnx_tensor real{.element = onnx_type::float32,
                           .values = std::vector{value == nullptr ? 0 : *value}};
    padding = cast_onnx(call, real, from.element);
  }
  return selected(call, from, lists, &padding);
}

/// The upper or lower triangle of each matrix, with zeros beside it.
onnx_tensor triangle(const onnx_call& call) {
  const onnx_tensor& from = call.input(0);
  const std::size_t rank = from.extents.rank();
  call.require(rank >= 2, "takes matrices");
  const bool upper = call.integer("upper", 1) != 0;
  call.require(!call.has(1) || call.integers(1).size() == 1, "takes one diagonal");
  const std::int64_t diagonal = call.has(1) ? call.integers(1).front() : 0;
  onnx_tensor result = call.reshaped(from, from.extents);
  std::visit(
      [&](auto& values) {
        for (std::size_t i = 0; i < values.size(); ++i) {
          const auto place = static_cast<std::int64_t>(i);
          const std::int64_t column = place % from.extents[rank - 1];
          const std::int64_t row = place / from.extents[rank - 1] % from.extents[rank - 2];
          if (upper ? column - row < diagonal : column - row > diagonal) values[i] = 0;
        }
      },
      result.values);
  return result;
}

}  // namespace

onnx_functions onnx_rearrangements() {
  return {
      {"Concat", gives_one(concat)},
      {"Expand", gives_one(expand)},
      {"Flatten", gives_one(flatten)},
      {"Gather", gives_one(gather)},
      {"Identity", gives_one(identity)},
      {"Pad", gives_one(pad)},
      {"Reshape", gives_one(reshape)},
      {"Slice", gives_one(slice)},
      {"Split", split},
      {"Squeeze", gives_one(squeeze)},
      {"Tile", gives_one(tile)},
      {"Transpose", gives_one(transpose)},
      {"Trilu", gives_one(triangle)},
      {"Unsqueeze", gives_one(unsqueeze)},
  };
}

}  // namespace graphline::onnx
