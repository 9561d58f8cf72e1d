#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "stages/nn/onnx/onnx_constants.hpp"

namespace graphline::nn::onnx {
namespace {

using integer_list = std::vector<std::int64_t>;

/// Returns a list of numbers or, with `single`, its only number.
onnx_tensor given(const onnx_call& call, onnx_values values, bool single = false) {
  onnx_tensor result{.values = std::move(values)};
  const bool whole = std::holds_alternative<integer_list>(result.values);
  result.element = whole ? onnx_type::int64 : onnx_type::float32;
  const auto count = std::visit([](const auto& list) { return std::ssize(list); }, result.values);
  if (!single) result.extents = {count};
  call.charge(result.extents);
  return result;
}

onnx_tensor constant(const onnx_call& call) {
  const onnx_node& node = call.node();
  using real_list = std::vector<float>;
  if (const auto* tensor = node.attribute<onnx_tensor>("value")) {
    call.require(tensor->known(), "has a value of a type that is not supported");
    return reshaped(call, *tensor, tensor->extents);
  }
  if (const auto* list = node.attribute<integer_list>("value_ints")) return given(call, *list);
  if (const auto* list = node.attribute<real_list>("value_floats")) return given(call, *list);
  if (const auto* one = node.attribute<std::int64_t>("value_int")) {
    return given(call, integer_list{*one}, true);
  }
  if (const auto* one = node.attribute<float>("value_float")) {
    return given(call, real_list{*one}, true);
  }
  call.refuse("has no value of a type that is supported");
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
  return given(call, integer_list(extents.begin() + start, extents.begin() + end));
}

onnx_tensor size(const onnx_call& call) {
  const auto elements = call.type(0).extents.checked_elements();
  call.require(elements.has_value(), "has an input of an impossible shape");
  return given(call, integer_list{*elements}, true);
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

/// Returns begin, begin + step, ... before `limit`. Computes floating-point numbers in double.
template <class Number>
onnx_tensor range_of(const onnx_call& call, onnx_type computed) {
  const auto number = [&](std::size_t input) -> Number {
    const onnx_tensor& one = call.input(input);
    call.require(
        one.values.index() == call.input(0).values.index() && one.extents.checked_elements() == 1,
        "takes three numbers of one type");
    return std::get<std::vector<Number>>(cast_onnx(call, one, computed).values).front();
  };
  const Number begin = number(0);
  const Number limit = number(1);
  const Number step = number(2);
  call.require(step != 0, "has a step of 0");
  for (const Number each : {begin, limit, step}) {
    call.require(!std::isnan(static_cast<double>(each)),
                 "has a bound or step that is not a number");
  }
  const double count = range_count(begin, limit, step);
  if (!(count < static_cast<double>(call.budget()))) call.refuse("asks for too many elements");
  onnx_tensor result = make(call, computed, shape{static_cast<std::int64_t>(count)});
  auto& to = std::get<std::vector<Number>>(result.values);
  using word = std::conditional_t<std::is_integral_v<Number>, std::uint64_t, double>;  // wraps
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i] = static_cast<Number>(word(begin) + static_cast<word>(i) * word(step));
  }
  return cast_onnx(call, result, call.input(0).element);
}

onnx_tensor range(const onnx_call& call) {
  return is_whole(call.input(0).element) ? range_of<std::int64_t>(call, onnx_type::int64)
                                         : range_of<double>(call, onnx_type::float64);
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
