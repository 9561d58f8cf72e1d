#include "framework/run/execute/tensor_data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <random>
#include <string_view>
#include <type_traits>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/file/npy_file.hpp"
#include "framework/base/random.hpp"
#include "framework/base/utf8.hpp"
#include "framework/plan/placement.hpp"

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

void read_input(const tensor_view& tensor, const std::string& path) {
  npy_file file(path);
  if (file.type() != tensor.type) {
    throw input_error(fmt::format("NumPy file '{}' holds {}; the plan expects {}", path,
                                  to_string(file.type()), to_string(tensor.type)));
  }
  file.read({static_cast<std::byte*>(tensor.data), tensor.type.bytes()});
}

namespace {

/// See `output_record::checksum`. Hashes 8 bytes at a time for speed. The XOR with the upper bits
/// keeps later words from canceling earlier ones.
std::string checksum(std::span<const std::byte> bytes) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
    hash = (hash ^ word) * 0x100000001b3ULL;
    hash ^= hash >> 32;
  }
  return fmt::format("{:016x}", hash);
}

template <class T>
T at(std::span<const std::byte> bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

/// All exponent bits of infinity and NaN are set. Without an early exit, the loop vectorizes.
template <class Bits>
bool all_finite(std::span<const std::byte> bytes, Bits exponent) {
  bool found = false;
  for (std::size_t i = 0; i < bytes.size() / sizeof(Bits); ++i) {
    found |= (at<Bits>(bytes, i) & exponent) == exponent;
  }
  return !found;
}

bool finite(dtype type, std::span<const std::byte> bytes) {
  if (type == dtype::float32) return all_finite<std::uint32_t>(bytes, 0x7f800000U);
  if (type == dtype::float64) return all_finite<std::uint64_t>(bytes, 0x7ff0000000000000U);
  if (type == dtype::float16) return all_finite<std::uint16_t>(bytes, 0x7c00U);
  if (type == dtype::bfloat16) return all_finite<std::uint16_t>(bytes, 0x7f80U);
  return true;
}

/// IEEE 754 binary16: sign, 5 bits of exponent (bias 15), 10 bits of fraction.
double from_half(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const int fraction = bits & 0x3ff;
  double size = 0;
  if (exponent == 0x1f) {
    size = fraction == 0 ? HUGE_VAL : std::nan("");
  } else if (exponent == 0) {
    size = std::ldexp(fraction, -24);
  } else {
    size = std::ldexp(fraction | 0x400, exponent - 25);
  }
  return std::copysign(size, (bits & 0x8000) != 0 ? -1.0 : 1.0);
}

double element(dtype type, std::span<const std::byte> bytes, std::size_t index) {
  switch (type) {
    case dtype::float32:
      return at<float>(bytes, index);
    case dtype::float64:
      return at<double>(bytes, index);
    case dtype::float16:
      return from_half(at<std::uint16_t>(bytes, index));
    case dtype::bfloat16:  // the upper half of a float32
      return std::bit_cast<float>(std::uint32_t{at<std::uint16_t>(bytes, index)} << 16);
    case dtype::int64:
      return static_cast<double>(at<std::int64_t>(bytes, index));
    case dtype::int32:
      return at<std::int32_t>(bytes, index);
    case dtype::uint8:
      return at<std::uint8_t>(bytes, index);
  }
  return std::nan("");
}

}  // namespace

namespace {

constexpr std::byte guard_pattern{0xA5};

std::array<std::span<std::byte>, 2> guards_of(const tensor_view& tensor) noexcept {
  auto* const begin = tensor.as<std::byte>();
  return {std::span(begin - guard_bytes, guard_bytes),
          std::span(begin + tensor.type.bytes(), guard_bytes)};
}

}  // namespace

void fill_guards(std::span<const tensor_view> outputs) noexcept {
  for (const tensor_view& output : outputs) {
    for (const auto guard : guards_of(output)) std::ranges::fill(guard, guard_pattern);
  }
}

void check_guards(std::span<const tensor_view> outputs, const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto guards = guards_of(outputs[i]);
    for (std::size_t g = 0; g < guards.size(); ++g) {
      const auto kept = std::ranges::count(guards[g], guard_pattern);
      const auto written = static_cast<std::ptrdiff_t>(guard_bytes) - kept;
      if (written == 0) continue;
      throw run_error(fmt::format("it wrote {} byte{} {} its output '{}', {} of {} bytes", written,
                                  written == 1 ? "" : "s",
                                  g == 0 ? "before the beginning of" : "after the end of", names[i],
                                  to_string(outputs[i].type), outputs[i].type.bytes()));
    }
  }
}

output_record describe_output(const std::string& tensor, const tensor_type& type,
                              std::span<const std::byte> bytes) {
  output_record result{tensor, type, checksum(bytes), finite(type.element, bytes)};
  const std::size_t elements = bytes.size() / size_of(type.element);
  const std::size_t kept = std::min(elements, most_output_values);
  for (std::size_t i = 0; i < kept; ++i) {
    result.values.push_back(element(type.element, bytes, i * elements / kept));
  }
  return result;
}

void require_shape(const npy_file& file, const std::string& tensor, const shape& extents) {
  if (file.type().shape == extents) return;
  throw input_error(fmt::format("reference '{}' has the shape {}; output '{}' has {}", file.path(),
                                to_string(file.type().shape), tensor, to_string(extents)));
}

std::string reference_file(const std::string& folder, const std::string& tensor) {
  std::vector<std::string> tried;
  for (const std::vector<std::string>& parts :
       {std::vector<std::string>{"output", tensor}, {tensor}}) {
    const auto path = std::filesystem::path(folder) / tensor_file_names().next(parts);
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) return path.string();
    tried.push_back(quote(path.string(), 200));
  }
  throw input_error(fmt::format("output {} has no reference: neither {} exists", quote(tensor, 200),
                                fmt::join(tried, " nor ")));
}

void compare_with_reference(output_record& of, const tensor_type& type,
                            std::span<const std::byte> bytes, const std::string& path) {
  npy_file file(path);
  require_shape(file, of.tensor, type.shape);
  std::vector<std::byte> reference(file.type().bytes());
  file.read(reference);
  double error = 0;
  double largest = 0;
  for (std::size_t i = 0; i < bytes.size() / size_of(type.element); ++i) {
    const double ours = element(type.element, bytes, i);
    const double theirs = element(file.type().element, reference, i);
    if (std::isfinite(theirs)) largest = std::max(largest, std::abs(theirs));
    if (ours == theirs || (std::isnan(ours) && std::isnan(theirs))) continue;
    const double difference = std::abs(ours - theirs);
    error = std::isfinite(difference) ? std::max(error, difference) : most_error;
  }
  of.error = error;
  of.relative_error = largest > 0 && error < most_error ? error / largest : error;
}

std::string tensor_file_names::next(const std::vector<std::string>& parts) {
  // File names are limited to 255 bytes, including the suffix of temporary files.
  constexpr std::size_t most = 230;
  constexpr std::size_t hash_digits = 17;  // including the dot
  std::string name = fmt::format("{}", fmt::join(parts, "."));
  std::string cut = name;
  std::ranges::replace_if(
      cut, [](char c) { return c == '/' || c == '\0'; }, '_');
  if (cut == name && name.size() <= most && taken_.insert(name).second) return name + ".npy";
  std::uint64_t hash = 0;
  for (const auto& part : parts) hash = mix_seed(hash, seed_from(part));
  std::size_t end = 0;
  while (end < cut.size() && end + utf8_at(cut, end).bytes <= most - hash_digits) {
    end += utf8_at(cut, end).bytes;
  }
  cut = fmt::format("{}.{:016x}", std::string_view(cut).substr(0, end), hash);
  taken_.insert(cut);
  return cut + ".npy";
}

}  // namespace graphline
