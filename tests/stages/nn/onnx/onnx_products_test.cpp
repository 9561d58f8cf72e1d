// Products of values that are moved and scaled before and after, and reductions, against the same
// nodes evaluated one by one in double.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

#include "tests/stages/nn/onnx/model_text.hpp"
#include "tests/stages/nn/onnx/network_carriers.hpp"

namespace graphline::test {

using namespace nn;
namespace {

using testing::ElementsAre;
using testing::Pointwise;
using testing::StartsWith;

using extents = std::vector<std::int64_t>;

std::int64_t product(const extents& of) {
  return std::accumulate(of.begin(), of.end(), std::int64_t{1}, std::multiplies<>());
}

/// A value of the model under construction and its expected numbers.
struct value_so_far {
  std::string name;
  extents shape;
  std::vector<double> data;

  double& at(const extents& position) {
    std::int64_t index = 0;
    for (std::size_t i = 0; i < shape.size(); ++i) index = index * shape[i] + position[i];
    return data[static_cast<std::size_t>(index)];
  }
};

/// Calls `one` with every position in extents.
template <class One>
void for_positions(const extents& shape, const One& one) {
  extents position(shape.size(), 0);
  for (std::int64_t left = product(shape); left > 0; --left) {
    one(position);
    for (std::size_t i = shape.size(); i-- > 0 && ++position[i] == shape[i];) position[i] = 0;
  }
}

/// Writes nodes and evaluates them.
class model_under_way {
 public:
  explicit model_under_way(unsigned seed) : random_(seed) {}

  std::int64_t below(std::int64_t limit) {
    return std::uniform_int_distribution<std::int64_t>(0, limit - 1)(random_);
  }

  value_so_far transposed(value_so_far x, const extents& order) {
    value_so_far result{text_.node("Transpose", {x.name}, {integers("perm", order)}), {}, x.data};
    for (const std::int64_t axis : order) {
      result.shape.push_back(x.shape[static_cast<std::size_t>(axis)]);
    }
    for_positions(result.shape, [&](const extents& position) {
      extents from(position.size());
      for (std::size_t i = 0; i < order.size(); ++i) {
        from[static_cast<std::size_t>(order[i])] = position[i];
      }
      result.at(position) = x.at(from);
    });
    return result;
  }
  value_so_far reshaped(const value_so_far& x, const extents& shape) {
    return {text_.node("Reshape", {x.name, text_.constant(shape)}), shape, x.data};
  }
  value_so_far scaled(value_so_far x) {
    const float by = 0.25F * static_cast<float>(1 + below(8));
    const bool divides = below(2) == 0;
    x.name = text_.node(divides ? "Div" : "Mul", {x.name, text_.constant({}, {by})});
    for (double& each : x.data) each = divides ? each / by : each * by;
    return x;
  }
  /// Slices a dimension with a step.
  value_so_far sliced(value_so_far x, std::int64_t axis, std::int64_t first, std::int64_t step) {
    const auto at = static_cast<std::size_t>(axis);
    const std::int64_t end = x.shape[at];
    value_so_far result{text_.node("Slice", {x.name, text_.constant({first}), text_.constant({end}),
                                             text_.constant({axis}), text_.constant({step})}),
                        x.shape,
                        {}};
    result.shape[at] = (end - first + step - 1) / step;
    result.data.resize(static_cast<std::size_t>(product(result.shape)));
    for_positions(result.shape, [&](extents position) {
      double& to = result.at(position);
      position[at] = first + step * position[at];
      to = x.at(position);
    });
    return result;
  }
  value_so_far multiplied(value_so_far a, value_so_far b) {
    value_so_far result{text_.node("MatMul", {a.name, b.name}), a.shape, {}};
    result.shape.back() = b.shape.back();
    result.data.resize(static_cast<std::size_t>(product(result.shape)));
    for_positions(result.shape, [&](const extents& position) {
      const std::size_t row = position.size() - 2;
      extents left = position;
      extents right = position;
      for (std::int64_t k = 0; k < a.shape.back(); ++k) {
        left[row + 1] = right[row] = k;
        result.at(position) += a.at(left) * b.at(right);
      }
    });
    return result;
  }

  /// Moves a value at random; `cut` allows fewer elements.
  value_so_far moved(value_so_far x, int steps, bool cut) {
    for (int i = 0; i < steps; ++i) {
      const std::int64_t what = below(cut ? 4 : 3);
      if (what == 0) x = transposed(x, any_order(x.shape.size()));
      if (what == 1) x = reshaped(x, any_shape(x.shape));
      if (what == 2) x = scaled(x);
      if (what != 3) continue;
      const std::int64_t axis = below(std::ssize(x.shape));
      const std::int64_t extent = x.shape[static_cast<std::size_t>(axis)];
      if (extent > 1) x = sliced(x, axis, below(extent - 1), 1 + below(3));
    }
    return x;
  }

  extents any_order(std::size_t rank) {
    extents order(rank);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::shuffle(order, random_);
    return order;
  }

  onnx_network network(const value_so_far& x, const std::string& output) {
    return text_.network(shape(x.shape), output);
  }
  /// Adds both as rows.
  value_so_far sum_in_order(const value_so_far& a, const value_so_far& b) {
    const extents row{product(a.shape)};
    value_so_far result = reshaped(a, row);
    result.name = text_.node("Add", {result.name, reshaped(b, row).name});
    for (std::size_t i = 0; i < result.data.size(); ++i) result.data[i] += b.data[i];
    return result;
  }

 private:
  /// Merges adjacent dimensions or splits one; none becomes empty.
  extents any_shape(extents shape) {
    const std::int64_t at = below(std::ssize(shape));
    const auto place = shape.begin() + at;
    if (at > 0 && below(2) == 0) {
      *(place - 1) *= *place;
      shape.erase(place);
      return shape;
    }
    const std::int64_t parts = *place % 3 == 0 ? 3 : *place % 2 == 0 ? 2 : 1;
    *place /= parts;
    shape.insert(place + below(2), parts);
    return shape;
  }

  std::mt19937 random_;
  model_text text_;
};

/// Counts products that read or write in place, or scale.
struct taken_over {
  int products = 0;
  int read = 0;
  int written = 0;
  int scaled = 0;

  void count(const onnx_network& network) {
    for (const network_layer& layer : network.definition.layers) {
      const auto* product = std::get_if<matmul_layer>(&layer.operation);
      if (product == nullptr) continue;
      ++products;
      read += (product->a ? 1 : 0) + (product->b ? 1 : 0);
      written += product->product ? 1 : 0;
      scaled += product->scale != 1 ? 1 : 0;
    }
  }
};

class onnx_products : public carried_out {};

GRAPHLINE_CARRY_OUT(onnx_products);

TEST_P(onnx_products, compute_any_layout_of_their_matrices) {
  taken_over found;
  for (unsigned seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    model_under_way model(seed);
    const std::vector<float> data = drawn(2 * 6 * 4 * 6, seed);
    const value_so_far x{"x", {2, 6, 4, 6}, {data.begin(), data.end()}};
    const int most_steps = 1 + static_cast<int>(seed % 4);
    value_so_far a = model.moved(x, most_steps, /*cut=*/true);
    if (a.shape.size() < 2) a = model.reshaped(a, {1, product(a.shape)});
    // Another order of the same elements, so that leading extents match.
    value_so_far b = model.moved(a, most_steps, /*cut=*/false);
    extents wanted = a.shape;
    std::swap(wanted[wanted.size() - 1], wanted[wanted.size() - 2]);
    if (b.shape != wanted) b = model.reshaped(b, wanted);
    value_so_far made = model.multiplied(a, b);
    if (seed % 3 != 0) {
      const value_so_far read_elsewhere = made;
      made = model.transposed(model.scaled(made), model.any_order(made.shape.size()));
      if (seed % 3 == 1) made = model.sum_in_order(made, read_elsewhere);
    }
    const onnx_network network = model.network(x, made.name);
    ASSERT_THAT(on()(network, {data}).front(), Pointwise(testing::FloatNear(1e-3F), made.data));
    found.count(network);
  }
  EXPECT_EQ(found.products, 400);  // none is computed twice
  EXPECT_GT(found.read, 150);
  EXPECT_GT(found.written, 25);
  EXPECT_GT(found.scaled, 100);
}

class onnx_reductions : public carried_out {};

GRAPHLINE_CARRY_OUT(onnx_reductions);

TEST_P(onnx_reductions, go_over_any_dimensions) {
  using joining = double (*)(double, double);
  const std::vector<std::pair<std::string, joining>> functions{
      {"ReduceSum", [](double a, double b) { return a + b; }},
      {"ReduceMean", [](double a, double b) { return a + b; }},
      {"ReduceMax", [](double a, double b) { return std::max(a, b); }},
      {"ReduceMin", [](double a, double b) { return std::min(a, b); }},
      {"ReduceProd", [](double a, double b) { return a * b; }}};
  const extents given{2, 3, 40, 37};
  const std::vector<float> data = drawn(static_cast<std::size_t>(product(given)), 5);
  for (const extents& axes : {extents{0}, extents{1}, extents{2}, extents{3}, extents{2, 3},
                              extents{0, 1}, extents{1, 2}, extents{0, 2}, extents{0, 1, 2, 3}}) {
    for (const auto& function : functions) {
      const std::string& name = function.first;
      const joining join = function.second;
      SCOPED_TRACE(name + testing::PrintToString(axes));
      value_so_far expected{"", given, {}};
      for (const std::int64_t axis : axes) expected.shape[static_cast<std::size_t>(axis)] = 1;
      const bool of_products = name == "ReduceProd";
      const bool of_limits = name == "ReduceMax" || name == "ReduceMin";
      const double none = name == "ReduceMax" ? -2.0 : of_limits ? 2.0 : of_products ? 1.0 : 0.0;
      expected.data.resize(static_cast<std::size_t>(product(expected.shape)), none);
      std::size_t i = 0;
      for_positions(given, [&](extents position) {
        for (const std::int64_t axis : axes) position[static_cast<std::size_t>(axis)] = 0;
        double& to = expected.at(position);
        to = join(to, static_cast<double>(data[i++]));
      });
      if (name == "ReduceMean") {
        const auto many = static_cast<double>(product(given) / product(expected.shape));
        for (double& each : expected.data) each /= many;
      }
      model_text text;
      const auto network =
          text.network(shape(given), text.node(name, {"x"}, {integers("axes", axes)}));
      ASSERT_THAT(on()(network, {data}).front(),
                  Pointwise(testing::FloatNear(1e-3F), expected.data));
    }
  }
}

/// A convolution of a column equals that of the same numbers in a row.
TEST_P(onnx_reductions, convolutions_of_a_column_are_those_of_a_row) {
  const std::vector<float> x = drawn(2 * 8 * 20, 1);
  const std::vector<float> weight = drawn(6 * 4 * 5, 2);
  const auto convolved = [&](bool column) {
    const auto along = [column](std::int64_t extent, std::int64_t other) {
      return column ? std::vector{extent, other} : std::vector{other, extent};
    };
    const auto of = [&](std::vector<std::int64_t> first, std::int64_t extent) {
      std::ranges::copy(along(extent, 1), std::back_inserter(first));
      return first;
    };
    const std::vector<std::int64_t> pads =
        column ? std::vector<std::int64_t>{2, 0, 1, 0} : std::vector<std::int64_t>{0, 2, 0, 1};
    model_text text;
    const auto conv = text.node("Conv", {"x", text.constant(of({6, 4}, 5), weight)},
                                {integers("strides", along(2, 1)), integers("pads", pads),
                                 integers("dilations", along(2, 1)), integer("group", 2)});
    const auto network = text.network(shape(of({2, 8}, 20)), text.node("Relu", {conv}));
    EXPECT_EQ(network.definition.shape_of(network.definition.outputs.front()),
              shape(of({2, 6}, 8)));
    return on()(network, {x}).front();
  };
  EXPECT_THAT(convolved(true), testing::Pointwise(testing::FloatNear(1e-5F), convolved(false)));
}

/// The convolution may choose blocked channels.
TEST_P(onnx_reductions, max_pools_have_the_maximum_of_each_window_in_wide_rows) {
  constexpr std::int64_t channels = 12, height = 7, width = 301;
  std::vector<float> same(channels * channels, 0);
  for (std::size_t i = 0; i < channels; ++i) same[i * (channels + 1)] = 1;
  const std::vector<float> x = drawn(channels * height * width, 3);
  for (const std::int64_t kernel : {2, 3, 5}) {
    for (const std::int64_t stride : {1, 2, 4}) {
      const std::int64_t before = kernel / 2;
      model_text text;
      const auto conv = text.node("Conv", {"x", text.constant({channels, channels, 1, 1}, same)});
      const auto network =
          text.network({1, channels, height, width},
                       text.node("MaxPool", {conv},
                                 {integers("kernel_shape", {kernel, kernel}),
                                  integers("strides", {stride, stride}),
                                  integers("pads", {before, before, before, before})}));
      const shape& out = network.definition.shape_of(network.definition.outputs.front());
      const std::vector<float> found = on()(network, {x}).front();
      std::size_t at = 0;
      for (std::int64_t c = 0; c < channels; ++c) {
        for (std::int64_t i = 0; i < out[2] * out[3]; ++i) {
          float expected = -2;
          for (std::int64_t k = 0; k < kernel * kernel; ++k) {
            const std::int64_t row = i / out[3] * stride - before + k / kernel;
            const std::int64_t column = i % out[3] * stride - before + k % kernel;
            if (row < 0 || row >= height || column < 0 || column >= width) continue;
            const auto from = static_cast<std::size_t>((c * height + row) * width + column);
            expected = std::max(expected, x[from]);
          }
          ASSERT_EQ(found[at++], expected) << kernel << ' ' << stride << ' ' << c << ' ' << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace graphline::test
