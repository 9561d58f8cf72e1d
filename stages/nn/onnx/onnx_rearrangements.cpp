#include <algorithm>
#include <optional>
#include <utility>

#include "stages/nn/layers/layers.hpp"
#include "stages/nn/onnx/onnx_constants.hpp"
#include "stages/nn/onnx/onnx_forms.hpp"

namespace graphline::nn::onnx {
namespace {

/// Selects elements of `from`. Positions that are `outside` get `padding`, by default 0.
onnx_tensor selected(const onnx_call& call, const onnx_tensor& from, const selection& lists,
                     const onnx_tensor* padding = nullptr) {
  const auto strides = packed_strides(from.extents);
  auto extents = from.extents.extents();
  for (const auto& [axis, list] : lists) extents[axis] = std::ssize(list);
  onnx_tensor result = make(call, from.element, shape(extents));
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

onnx_tensor concat(const onnx_call& call) {
  const std::size_t axis = concat_axis(call);
  std::int64_t extent = 0;
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    call.require(call.input(i).element == call.type(0).element, "has inputs of different types");
    extent += call.extents(i)[axis];
  }
  onnx_tensor result = make(call, call.type(0).element, with_extent(call.extents(0), axis, extent));
  const auto strides = packed_strides(result.extents);
  std::int64_t start = 0;
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    const onnx_tensor& from = call.input(i);
    axis_offsets offsets = even_offsets(from.extents, strides);
    for (std::int64_t& offset : offsets[axis]) offset += start * strides[axis];
    start += from.extents[axis];
    std::visit(
        [&]<class Value>(const std::vector<Value>& values) {
          auto& to = std::get<std::vector<Value>>(result.values);
          auto value = values.begin();
          walk(std::array{std::move(offsets)}, [&](const auto& at) { to[at[0]] = *value++; });
        },
        from.values);
  }
  return result;
}

onnx_tensor gather(const onnx_call& call) {
  const gathering wanted = gathering_of(call);
  onnx_tensor result = selected(call, call.input(0), wanted.selected);
  call.charge(wanted.extents);
  result.extents = wanted.extents;
  return result;
}

onnx_tensor transpose(const onnx_call& call) {
  const onnx_tensor& from = call.input(0);
  const auto own_strides = packed_strides(from.extents);
  std::vector<std::int64_t> extents;
  std::vector<std::int64_t> strides;
  for (const std::size_t axis : transposed_order(call)) {
    extents.push_back(from.extents[axis]);
    strides.push_back(own_strides[axis]);
  }
  onnx_tensor result = make(call, from.element, shape(std::move(extents)));
  fill(result, from, even_offsets(result.extents, strides));
  return result;
}

/// Returns the padding value: an attribute before operator set 11, an input since.
onnx_tensor padding_of(const onnx_call& call) {
  if (call.has(2)) {
    call.require(call.input(2).element == call.input(0).element, "has inputs of different types");
    return reshaped(call, call.input(2), {});
  }
  const onnx_tensor value{.element = onnx_type::float32,
                          .values = std::vector{call.number("value", 0.0F)}};
  return cast_onnx(call, value, call.input(0).element);
}

/// Keeps the upper or lower triangle of each matrix and zeroes the rest.
onnx_tensor triangle(const onnx_call& call) {
  const onnx_tensor& from = call.input(0);
  const std::size_t rank = from.extents.rank();
  call.require(rank >= 2, "takes matrices");
  const bool upper = call.integer("upper", 1) != 0;
  call.require(!call.has(1) || call.integers(1).size() == 1, "takes one diagonal");
  const std::int64_t diagonal = call.has(1) ? call.integers(1).front() : 0;
  onnx_tensor result = reshaped(call, from, from.extents);
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
  onnx_functions all = {
      {"Concat", gives_one(concat)},
      {"Expand", gives_one([](const onnx_call& call) {
         return broadcast_to(call, call.input(0), expanded_extents(call));
       })},
      {"Gather", gives_one(gather)},
      {"Transpose", gives_one(transpose)},
      {"Trilu", gives_one(triangle)},
  };
  for (const auto& [name, extents_of] : reshapings()) {
    all[name] = gives_one([extents_of = extents_of](const onnx_call& call) {
      return reshaped(call, call.input(0), extents_of(call));
    });
  }
  for (const auto& [name, parts_of] : selectings()) {
    const bool pads = name == "Pad";
    all[name] = [parts_of = parts_of, pads](const onnx_call& call) {
      std::optional<onnx_tensor> padding;
      if (pads) padding = padding_of(call);
      std::vector<onnx_tensor> results;
      for (const selection& part : parts_of(call)) {
        results.push_back(selected(call, call.input(0), part, padding ? &*padding : nullptr));
      }
      return results;
    };
  }
  return all;
}

}  // namespace graphline::nn::onnx
