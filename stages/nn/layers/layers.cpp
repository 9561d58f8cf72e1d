#include "stages/nn/layers/layers.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <variant>

namespace graphline::nn {
namespace {

const parameter name_parameter{
    .name = "name",
    .type = parameter_type::tree,
    .help =
        "Name of the layer: prefix of its weights, and its name for other layers and in tables.",
    .structure = "name"};

const parameter reads_parameter{
    .name = "reads",
    .type = parameter_type::tree,
    .help = "Earlier layer or network input to read; the previous layer by default.",
    .structure = "name"};

template <class Number>
std::array<Number, 2> pair_of(const std::vector<Number>& given, std::string_view name,
                              layer_problems& problems) {
  if (given.size() == 1) return {given[0], given[0]};
  if (given.size() == 2) return {given[0], given[1]};
  problems.report_at(name, "takes one number or a pair [h, w] as '{}', found {} numbers", name,
                     given.size());
  return {1, 1};
}

}  // namespace

const std::vector<layer_kind>& layer_kinds() {
  static const std::vector<layer_kind> kinds = [] {
    std::vector<layer_kind> all;
    for (const auto& family :
         {product_kinds, element_wise_kinds, pooling_kinds, resizing_kinds, tensor_kinds}) {
      std::ranges::move(family(), std::back_inserter(all));
    }
    return all;
  }();
  return kinds;
}

std::vector<parameter> parameters_of(const layer_kind& kind) {
  std::vector<parameter> all = kind.parameters;
  all.push_back(name_parameter);
  if (find_parameter(all, "reads") == nullptr) all.push_back(reads_parameter);
  return all;
}

layer_shape shape_rule(const layer_operation& operation, layer_inputs inputs,
                       layer_problems& problems) {
  return std::visit([&](const auto& of) { return infer(of, inputs, problems); }, operation);
}

parameter pair_parameter(std::string name, std::string help,
                         std::optional<std::string> default_value, double minimum) {
  return {.name = std::move(name),
          .type = parameter_type::integers,
          .help = std::move(help),
          .default_value = std::move(default_value),
          .minimum = minimum,
          .maximum = largest_size};
}

parameter size_parameter(std::string name, std::string help) {
  return {.name = std::move(name),
          .help = std::move(help),
          .required = true,
          .minimum = 1,
          .maximum = largest_size};
}

parameter kernel_parameter(std::string help) {
  parameter kernel = pair_parameter("kernel", std::move(help), {}, 1);
  kernel.required = true;
  return kernel;
}

parameter boolean_parameter(std::string name, std::string help, std::string default_value) {
  return {.name = std::move(name),
          .type = parameter_type::boolean,
          .help = std::move(help),
          .default_value = std::move(default_value)};
}

extent_pair read_pair(const arguments& values, std::string_view name, layer_problems& problems) {
  return pair_of(values.integers(name), name, problems);
}

std::array<double, 2> read_number_pair(const arguments& values, std::string_view name,
                                       layer_problems& problems) {
  return pair_of(values.numbers(name), name, problems);
}

std::int64_t count_of(std::initializer_list<std::int64_t> factors) {
  std::int64_t product = 1;
  for (const std::int64_t factor : factors) {
    if (__builtin_mul_overflow(product, factor, &product) || product > largest_count) {
      return largest_count;
    }
  }
  return product;
}

std::int64_t count_of(const shape& s) {
  return std::min(s.checked_elements().value_or(largest_count), largest_count);
}

cost element_cost(const shape& out, std::int64_t flops_per_output) {
  return {.flops = count_of({count_of(out), flops_per_output})};
}

layer_shape product_shape(shape output, const shape& weight, bool bias) {
  const std::int64_t out = count_of(output);
  const std::int64_t weight_elements = count_of(weight);
  const std::int64_t fan_in = weight_elements / weight[0];
  const std::int64_t macs = count_of({out, fan_in});
  const double bound = 1.0 / std::sqrt(static_cast<double>(fan_in));
  layer_shape result{
      .output = std::move(output),
      .weights = {{"weight", weight, {initial_value::rule::scaled, std::sqrt(3.0) * bound}}}};
  if (bias) {
    result.weights.push_back({"bias", {weight[0]}, {initial_value::rule::uniform, bound}});
  }
  result.cost = {.macs = macs, .flops = 2 * macs + (bias ? out : 0)};
  return result;
}

shape with_extent(const shape& s, std::size_t axis, std::int64_t extent) {
  std::vector<std::int64_t> extents = s.extents();
  extents[axis] = extent;
  return shape(std::move(extents));
}

shape reduced_shape(const shape& s, const std::vector<std::size_t>& axes, bool keep_dims) {
  std::vector<std::int64_t> extents;
  for (std::size_t axis = 0; axis < s.rank(); ++axis) {
    const bool reduced = std::ranges::find(axes, axis) != axes.end();
    if (!reduced || keep_dims) extents.push_back(reduced ? 1 : s[axis]);
  }
  return shape(std::move(extents));
}

void expect_images(const layer_input& input, layer_problems& problems) {
  if (input.shape.rank() == 4) return;
  problems.refuse("expects [N, C, H, W] but {} gives {}", input.giver, to_string(input.shape));
}

extent_pair window_output(const layer_input& input, const pool2d_layer& window,
                          layer_problems& problems) {
  const extent_pair after = window.padding_after.value_or(window.padding);
  extent_pair output{};
  extent_pair covered{};
  extent_pair padded{};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t size = input.shape[axis + 2];
    const std::int64_t stride = window.stride[axis];
    covered[axis] = window.dilation[axis] * (window.kernel[axis] - 1) + 1;
    padded[axis] = size + window.padding[axis] + after[axis];
    const std::int64_t room = padded[axis] - covered[axis];
    if (room >= 0) output[axis] = room / stride + 1;
    // Ceil mode adds a partly covered last window that starts in the data or in the padding before.
    const bool rest = room < 0 ? room > -stride : room % stride != 0;
    const bool starts = output[axis] * stride < size + window.padding[axis];
    if (window.ceil_mode && rest && starts) ++output[axis];
  }
  if (output[0] > 0 && output[1] > 0) return output;
  problems.refuse_at("kernel",
                     "has a kernel that covers {}x{}, larger than the padded input of {}x{} ({} "
                     "gives {})",
                     covered[0], covered[1], padded[0], padded[1], input.giver,
                     to_string(input.shape));
}

std::size_t resolve_dim(std::int64_t dim, const layer_input& input, std::string_view parameter,
                        layer_problems& problems) {
  const auto rank = static_cast<std::int64_t>(input.shape.rank());
  if (dim >= -rank && dim < rank) return static_cast<std::size_t>(dim < 0 ? dim + rank : dim);
  problems.refuse_at(parameter, "has no dimension {}: {} gives {}, whose dimensions are {} to {}",
                     dim, input.giver, to_string(input.shape), -rank, rank - 1);
}

}  // namespace graphline::nn
