#include "stages/nn/onnx/onnx_tensor.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <type_traits>

#include "stages/nn/onnx/protobuf_fields.hpp"
#include "stages/nn/weights/float_conversion.hpp"

namespace graphline::nn {
namespace {

template <class Stored, auto widen>
onnx_values read_raw(std::string_view bytes) {
  std::vector<std::remove_cvref_t<decltype(widen(Stored{}))>> values(bytes.size() / sizeof(Stored));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + i * sizeof stored, sizeof stored);
    values[i] = widen(stored);
  }
  return values;
}

template <class Stored>
std::int64_t wrap(std::int64_t value) noexcept {
  return static_cast<std::int64_t>(static_cast<Stored>(value));
}

struct onnx_type_entry {
  onnx_type type;
  const char* name;
  std::size_t bytes = 0;
  std::uint32_t typed_field = 0;  ///< number of the field in TensorProto
  onnx_values (*read)(std::string_view) = nullptr;
  std::optional<dtype> tensor = {};
  std::int64_t (*wrap)(std::int64_t) noexcept = nullptr;  ///< integers only
};

template <class Stored>
onnx_type_entry integers(onnx_type type, const char* name, std::uint32_t typed_field,
                         dtype tensor) {
  return {type,   name,        sizeof(Stored), typed_field, read_raw<Stored, wrap<Stored>>,
          tensor, wrap<Stored>};
}

const onnx_type_entry onnx_types[] = {
    {onnx_type::undefined, "undefined"},
    {onnx_type::float32, "float32", 4, 4, read_raw<float, std::identity{}>, dtype::float32},
    integers<std::uint8_t>(onnx_type::uint8, "uint8", 5, dtype::uint8),
    integers<std::int8_t>(onnx_type::int8, "int8", 5, dtype::int32),
    integers<std::uint16_t>(onnx_type::uint16, "uint16", 5, dtype::int32),
    integers<std::int16_t>(onnx_type::int16, "int16", 5, dtype::int32),
    integers<std::int32_t>(onnx_type::int32, "int32", 5, dtype::int32),
    integers<std::int64_t>(onnx_type::int64, "int64", 7, dtype::int64),
    {onnx_type::string, "string"},
    {onnx_type::boolean, "bool", 1, 5, read_raw<std::uint8_t, wrap<bool>>, dtype::uint8,
     wrap<bool>},
    {onnx_type::float16, "float16", 2, 5, read_raw<std::uint16_t, float_from_half>, dtype::float16},
    {onnx_type::float64, "float64", 8, 10, read_raw<double, std::identity{}>, dtype::float64},
    integers<std::uint32_t>(onnx_type::uint32, "uint32", 11, dtype::int64),
    integers<std::uint64_t>(onnx_type::uint64, "uint64", 11, dtype::int64),
    {onnx_type::bfloat16, "bfloat16", 2, 5, read_raw<std::uint16_t, float_from_bfloat16>,
     dtype::bfloat16}};

const onnx_type_entry& entry_of(onnx_type element) noexcept {
  return *std::ranges::find(onnx_types, element, &onnx_type_entry::type);
}

}  // namespace

std::string_view to_string(onnx_type element) noexcept {
  return entry_of(element).name;
}

onnx_type onnx_type_of(std::int64_t number) noexcept {
  const auto known = std::ranges::find_if(onnx_types, [&](const onnx_type_entry& entry) {
    return static_cast<std::int64_t>(entry.type) == number;
  });
  return known == std::end(onnx_types) ? onnx_type::undefined : known->type;
}

std::size_t size_of(onnx_type element) noexcept {
  return entry_of(element).bytes;
}

std::optional<dtype> read_as(onnx_type element) noexcept {
  return entry_of(element).tensor;
}

bool is_whole(onnx_type element) noexcept {
  return entry_of(element).wrap != nullptr;
}

whole_range range_of(onnx_type element) noexcept {
  if (element == onnx_type::boolean) return {0, 1};
  const std::int64_t count = std::int64_t{1} << 8 * std::min<std::size_t>(size_of(element), 4);
  const bool has_sign = wrapped(element, -1) < 0;
  return has_sign ? whole_range{-count / 2, count / 2 - 1} : whole_range{0, count - 1};
}

std::int64_t wrapped(onnx_type element, std::int64_t value) noexcept {
  const auto wrap = entry_of(element).wrap;
  return wrap == nullptr ? value : wrap(value);
}

bool onnx_tensor::known() const noexcept {
  const auto count = std::visit([](const auto& list) { return std::ssize(list); }, values);
  return size_of(element) > 0 && count == extents.checked_elements();
}

std::vector<float> floats_of(const onnx_tensor& tensor) {
  return std::visit(
      [](const auto& values) {
        std::vector<float> floats(values.size());
        std::ranges::transform(values, floats.begin(),
                               [](auto value) { return static_cast<float>(value); });
        return floats;
      },
      tensor.values);
}

onnx_values onnx_values_of(onnx_type element, std::string_view bytes) {
  return entry_of(element).read(bytes);
}

onnx_values typed_onnx_values(onnx_type element, std::string_view tensor) {
  const auto read = [&](auto values) {
    read_fields(tensor, field<decltype(values)&>{entry_of(element).typed_field, values});
    return values;
  };
  if (element == onnx_type::float32) return read(std::vector<float>());
  if (element == onnx_type::float64) return read(std::vector<double>());
  auto integers = read(std::vector<std::int64_t>());
  if (element == onnx_type::float16 || element == onnx_type::bfloat16) {
    std::vector<std::uint16_t> bits;
    for (const std::int64_t each : integers) bits.push_back(static_cast<std::uint16_t>(each));
    return onnx_values_of(element, {reinterpret_cast<const char*>(bits.data()), 2 * bits.size()});
  }
  for (std::int64_t& value : integers) value = wrapped(element, value);
  return integers;
}

}  // namespace graphline::nn
