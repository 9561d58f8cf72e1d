#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "stages/nn/onnx/onnx_functions.hpp"

namespace graphline::nn::onnx {
namespace {

using integer_list = std::vector<std::int64_t>;

onnx_tensor of_integers(const onnx_call& call, const integer_list& values) {
  onnx_tensor result = make(call, onnx_type::int64, shape{std::ssize(values)});
  result.values = values;
  return result;
}

onnx_tensor constant(const onnx_call& call) {
  const onnx_node& node = call.node();
  onnx_tensor result;
  if (const auto* tensor = node.attribute<onnx_tensor>("value")) {
    call.require(tensor->known(), "has a value of a type that is not supported");
    return reshaped(call, *tensor, tensor->extents);
  }
  if (const auto* list = node.attribute<integer_list>("value_ints"))
    return of_integers(call, *list);
  if (const auto* list = node.attribute<std::vector<float>>("value_floats")) {
    result = make(call, onnx_type::float32, shape{std::ssize(*list)});
    result.values = *list;
  } else if (const auto* integer = node.attribute<std::int64_t>("value_int")) {
    result = make(call, onnx_type::int64, {});
    result.values = integer_list{*integer};
  } else if (const auto* real = node.attribute<float>("value_float")) {
    result = make(call, onnx_type::float32, {});
    result.values = std::vector{*real};
  } else {
    call.refuse("has no value of a type that is supported");
  }
  return result;
}

onnx_tensor constant_of_shape(const onnx_call& call) {
  const shape extents(call.integers(0));
  const auto* value = call.node().attribute<onnx_tensor>("value");
  if (value == nullptr) return make(call, onnx_type::float32, extents);
  call.require(value->known() && value->extents.checked_elements() == 1,
               "has a value that is not one number");
  onnx_tensor result = make(call, value->element, extents);
  fill_with(result, *value);
  return result;
}

onnx_tensor shape_of(const onnx_call& call) {
  const auto& extents = call.type(0).extents.extents();
  const std::int64_t rank = std::ssize(extents);
  const auto bound = [&](const char* attribute, std::int64_t otherwise) {
    const std::int64_t written = call.integer(attribute, otherwise);
    return std::clamp<std::int64_t>(written < 0 ? written + rank : written, 0, rank);
  };
  const std::int64_t start = bound("start", 0);
  const std::int64_t end = std::max(bound("end", rank), start);
  return of_integers(call, integer_list(extents.begin() + start, extents.begin() + end));
}

onnx_tensor size(const onnx_call& call) {
  const auto elements = call.type(0).extents.checked_elements();
  call.require(elements.has_value(), "has an input of an impossible shape");
  onnx_tensor result = make(call, onnx_type::int64, {});
  result.values = integer_list{*elements};
  return result;
}

double range_count(double begin, double limit, double step) {
  return std::max(0.0, std::ceil((limit - begin) / step));
}
double range_count(std::int64_t begin, std::int64_t limit, std::int64_t step) {
  if (step > 0 ? begin >= limit : begin <= limit) return 0;
  using word = std::uint64_t;  // holds the distance between any two int64
  const word distance = step > 0 ? word(limit) - word(begin) : word(begin) - word(limit);
  return static_cast<double>((distance - 1) / (step > 0 ? word(step) : word{0} - word(step)) + 1);
}

onnx_tensor range(const onnx_call& call) {
  onnx_tensor result;
  std::visit(
      [&]<class Value>(const std::vector<Value>&) {
        using wide = std::conditional_t<std::is_integral_v<Value>, std::int64_t, double>;
        const auto number = [&](std::size_t input) -> wide {
          const auto* values = std::get_if<std::vector<Value>>(&call.input(input).values);
          call.require(values != nullptr && values->size() == 1, "takes three numbers of one type");
          return values->front();
        };
        const wide begin = number(0);
        const wide limit = number(1);
        const wide step = number(2);
        call.require(step != 0, "has a step of 0");
        if constexpr (!std::is_same_v<wide, std::int64_t>) {
          call.require(!std::isnan(begin) && !std::isnan(limit) && !std::isnan(step),
                       "has a bound or step that is not a number");
        }
        const double count = range_count(begin, limit, step);
        if (!(count < static_cast<double>(call.budget())))
          call.refuse("asks for too many elements");
        result = make(call, call.input(0).element, shape{static_cast<std::int64_t>(count)});
        auto& to = std::get<std::vector<Value>>(result.values);
        for (std::size_t i = 0; i < to.size(); ++i) {
          if constexpr (std::is_same_v<wide, std::int64_t>) {
            using word = std::uint64_t;  // intermediate products may exceed int64
            to[i] = static_cast<Value>(word(begin) + static_cast<word>(i) * word(step));
          } else {
            to[i] = static_cast<Value>(begin + static_cast<wide>(i) * step);
          }
        }
      },
      call.input(0).values);
  return result;
}

/// Returns the positions of non-zero elements, one row per axis.
onnx_tensor non_zero(const onnx_call& call) {
  const onnx_tensor& from = call.input(0);
  integer_list found;
  std::visit(
      [&](const auto& values) {
        for (std::size_t i = 0; i < values.size(); ++i) {
          if (values[i] != 0) found.push_back(static_cast<std::int64_t>(i));
        }
      },
      from.values);
  const auto rank = static_cast<std::int64_t>(from.extents.rank());
  onnx_tensor result = make(call, onnx_type::int64, shape{rank, std::ssize(found)});
  const auto strides = packed_strides(from.extents);
  auto to = std::get<integer_list>(result.values).begin();
  for (std::size_t axis = 0; axis < strides.size(); ++axis) {
    for (const std::int64_t at : found) *to++ = at / strides[axis] % from.extents[axis];
  }
  return result;
}

/// Reads only type and extents of its input.
onnx_tensor eye_like(const onnx_call& call) {
  const shape& extents = call.extents(0);
  call.require(extents.rank() == 2, "takes a matrix");
  const std::int64_t written = call.integer("dtype", 0);
  onnx_tensor result =
      make(call, written != 0 ? onnx_type_of(written) : call.type(0).element, extents);
  const std::int64_t diagonal = call.integer("k", 0);
  std::visit(
      [&](auto& values) {
        for (std::int64_t row = 0; row < extents[0]; ++row) {
          if (diagonal < -row || diagonal >= extents[1] - row) continue;
          values[static_cast<std::size_t>(row * extents[1] + row + diagonal)] = 1;
        }
      },
      result.values);
  return result;
}

}  // namespace

onnx_functions onnx_generators() {
  return {
      {"Constant", gives_one(constant)}, {"ConstantOfShape", gives_one(constant_of_shape)},
      {"EyeLike", gives_one(eye_like)},  {"NonZero", gives_one(non_zero)},
      {"Range", gives_one(range)},       {"Shape", gives_one(shape_of)},
      {"Size", gives_one(size)},
  };
}

}  // namespace graphline::nn::onnx
