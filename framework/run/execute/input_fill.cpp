#include "framework/run/execute/input_fill.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <type_traits>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/normal_generator.hpp"
#include "framework/base/random.hpp"

namespace graphline {
namespace {

template <class T>
T converted(double value, double scale, double offset) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(std::clamp(std::floor(offset + scale * value), 0.0, 255.0));
  } else {
    return static_cast<T>(value);
  }
}

template <class T>
void fill_typed(const tensor_view& tensor, fill how, std::uint64_t seed) {
  T* const data = tensor.as<T>();
  const auto count = tensor.type.shape.elements();
  switch (how) {
    case fill::zeros:
    case fill::ones:
      std::fill_n(data, count, how == fill::ones ? T{1} : T{0});
      return;
    case fill::uniform: {
      std::mt19937_64 generator(seed);
      for (std::int64_t i = 0; i < count; ++i) {
        data[i] = converted<T>(uniform_unit(generator), 256.0, 0.0);
      }
      return;
    }
    case fill::normal: {
      normal_generator generator;
      generator.seed(seed);
      std::vector<double> values(static_cast<std::size_t>(count));
      generator.fill(values);
      std::transform(values.begin(), values.end(), data,
                     [](double value) { return converted<T>(value, 32.0, 128.0); });
      return;
    }
  }
}

}  // namespace

void fill_input(const tensor_view& tensor, fill how, std::uint64_t seed) {
  switch (tensor.type.element) {
    case dtype::float32:
      return fill_typed<float>(tensor, how, seed);
    case dtype::float64:
      return fill_typed<double>(tensor, how, seed);
    case dtype::int64:
      return fill_typed<std::int64_t>(tensor, how, seed);
    case dtype::int32:
      return fill_typed<std::int32_t>(tensor, how, seed);
    case dtype::uint8:
      return fill_typed<std::uint8_t>(tensor, how, seed);
    case dtype::float16:
    case dtype::bfloat16:
      break;
  }
  throw input_error("an input of " + std::string(to_string(tensor.type.element)) +
                    " cannot be filled; declare it float32");
}

}  // namespace graphline
