#include "stages/cpu/pictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace graphline {

picture_view picture_at(const const_tensor_view& pictures, const const_tensor_view* sizes,
                        std::size_t index) {
  const shape& s = pictures.type.shape;
  const auto extent = [&](std::size_t axis) { return static_cast<std::size_t>(s[axis]); };
  picture_view picture{nullptr, extent(1), extent(2), extent(3), extent(2) * extent(3)};
  picture.pixels = pictures.as<const std::uint8_t>() + index * extent(1) * picture.row_bytes;
  if (sizes == nullptr) return picture;
  const std::int64_t* size = sizes->as<const std::int64_t>() + 2 * index;
  picture.height = static_cast<std::size_t>(std::clamp<std::int64_t>(size[0], 0, s[1]));
  picture.width = static_cast<std::size_t>(std::clamp<std::int64_t>(size[1], 0, s[2]));
  return picture;
}

port sizes_port() {
  return {"sizes", "int64 [B, 2]: height and width of each; without them all H and W"};
}

parameter size_parameter(std::string help) {
  return {.name = "size",
          .type = parameter_type::integers,
          .help = std::move(help),
          .required = true,
          .unit = "px",
          .minimum = 1,
          .maximum = 65535};
}

bool check_pictures(const char* kind, const arguments& given, std::span<const tensor_type> inputs,
                    diagnostics& out) {
  const tensor_type& pictures = inputs[0];
  if (pictures.element == dtype::uint8 && pictures.shape.rank() == 4 &&
      (inputs.size() < 2 || inputs[1] == tensor_type{{pictures.shape[0], 2}, dtype::int64})) {
    return true;
  }
  out.error(given.where(),
            fmt::format("{} reads pictures uint8 [B, H, W, C] and optionally their sizes "
                        "int64 [B, 2]; found {}{}",
                        kind, to_string(pictures),
                        inputs.size() < 2 ? "" : " and " + to_string(inputs[1])));
  return false;
}

bool check_count(const arguments& given, const char* name, std::size_t found, std::size_t count,
                 const char* meaning, diagnostics& out) {
  if (found == count) return true;
  out.error(given.where(name),
            fmt::format("'{}' must hold {} numbers ({}), found {}", name, count, meaning, found));
  return false;
}

void linear_resize::place(std::vector<tap>& taps, std::size_t from, std::size_t to) {
  taps.resize(to);
  // Rounds at the same points as OpenCV, to float32 and to the nearest weight.
  const double scale = 1 / (static_cast<double>(to) / static_cast<double>(from));
  const auto whole = [&](float at) {
    return static_cast<std::size_t>(std::clamp(at, 0.0F, static_cast<float>(from - 1)));
  };
  for (std::size_t i = 0; i < to; ++i) {
    const auto at = static_cast<float>((static_cast<double>(i) + 0.5) * scale - 0.5);
    const float first = std::floor(at);
    const float fraction = at - first;
    taps[i] = {whole(first), whole(first + 1),
               static_cast<std::int32_t>(std::lrint((1 - fraction) * 2048)),
               static_cast<std::int32_t>(std::lrint(fraction * 2048))};
  }
}

void linear_resize::mix(const picture_view& from, std::size_t y, mixed_row& into) const {
  into.of = y;
  into.values.resize(columns_.size() * from.channels);
  const std::uint8_t* row = from.pixels + y * from.row_bytes;
  std::int32_t* to = into.values.data();
  for (const tap& t : columns_) {
    const std::uint8_t* first = row + t.first * from.channels;
    const std::uint8_t* second = row + t.second * from.channels;
    for (std::size_t c = 0; c < from.channels; ++c) {
      *to++ = first[c] * t.first_weight + second[c] * t.second_weight;
    }
  }
}

void linear_resize::operator()(const picture_view& from, std::size_t height, std::size_t width,
                               std::uint8_t* out, std::size_t row_bytes) {
  place(rows_, from.height, height);
  place(columns_, from.width, width);
  upper_.of = lower_.of = from.height;  // no row yet
  for (const tap& t : rows_) {
    if (lower_.of == t.first) std::swap(upper_, lower_);
    if (upper_.of != t.first) mix(from, t.first, upper_);
    if (lower_.of != t.second) mix(from, t.second, lower_);
    const std::int32_t* upper = upper_.values.data();
    const std::int32_t* lower = lower_.values.data();
    for (std::size_t i = 0; i < width * from.channels; ++i) {
      const std::int32_t mixed =
          ((t.first_weight * (upper[i] >> 4)) >> 16) + ((t.second_weight * (lower[i] >> 4)) >> 16);
      out[i] = static_cast<std::uint8_t>((mixed + 2) >> 2);
    }
    out += row_bytes;
  }
}

}  // namespace graphline
