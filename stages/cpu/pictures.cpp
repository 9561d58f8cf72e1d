#include "stages/cpu/pictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stages/host_stage.hpp"

namespace graphline {

picture_view picture_at(std::span<const const_tensor_view> inputs, std::size_t index) {
  const const_tensor_view& pictures = inputs[0];
  const shape& s = pictures.type.shape;
  const auto extent = [&](std::size_t axis) { return static_cast<std::size_t>(s[axis]); };
  picture_view picture{nullptr, extent(1), extent(2), extent(3), extent(2) * extent(3)};
  picture.pixels = pictures.as<const std::uint8_t>() + index * extent(1) * picture.row_bytes;
  if (inputs.size() < 2) return picture;
  const std::int64_t* size = inputs[1].as<const std::int64_t>() + 2 * index;
  picture.height = static_cast<std::size_t>(std::clamp<std::int64_t>(size[0], 0, s[1]));
  picture.width = static_cast<std::size_t>(std::clamp<std::int64_t>(size[1], 0, s[2]));
  return picture;
}

port sizes_port() {
  return {"sizes", "int64 [B, 2]: height and width of each; without them all H and W", true};
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
  const bool sound =
      pictures.element == dtype::uint8 && pictures.shape.rank() == 4 &&
      (inputs.size() < 2 || inputs[1] == tensor_type{{pictures.shape[0], 2}, dtype::int64});
  return check_inputs(
      sound, given, inputs,
      kind +
          std::string(" reads pictures uint8 [B, H, W, C] and optionally their sizes int64 [B, 2]"),
      out);
}

bool check_count(const arguments& given, const char* name, std::size_t found, std::size_t count,
                 const char* meaning, diagnostics& out) {
  if (found == count) return true;
  out.error(given.where(name), fmt::format("'{}' must hold {} number{} ({}), found {}", name, count,
                                           count == 1 ? "" : "s", meaning, found));
  return false;
}

device_stage_factory pictures_on_host(const std::string& part, const picture_stage_factory& make) {
  return [=](device& /*d*/, const stage_config& config) {
    return host_stage(
        config.name, {part, "loops over pictures"}, [=](const stage_tensors& tensors) {
          std::vector<const_tensor_view> inputs;
          for (const tensor_view& input : tensors.inputs)
            inputs.push_back({input.data, input.type});
          // Each picture has its own stage object, because these keep intermediate rows.
          std::vector<std::shared_ptr<picture_stage>> stages;
          const std::int64_t count = inputs.at(0).type.shape[0];
          for (std::int64_t i = 0; i < count; ++i) stages.push_back(make(config));
          return [inputs, stages, count, outputs = tensors.outputs] {
#pragma omp parallel for schedule(dynamic)
            for (std::int64_t i = 0; i < count; ++i) {
              const auto index = static_cast<std::size_t>(i);
              stages[index]->run_picture({.inputs = inputs, .outputs = outputs}, index);
            }
          };
        });
  };
}

void linear_resize::mix(const picture_view& from, std::int32_t y, mixed_row& into) const {
  into.of = y;
  into.values.resize(columns_.size() * from.channels);
  const std::uint8_t* row = from.pixels + static_cast<std::size_t>(y) * from.row_bytes;
  std::int32_t* to = into.values.data();
  for (const nn::linear_tap& tap : columns_) {
    const std::uint8_t* first = row + static_cast<std::size_t>(tap.first) * from.channels;
    const std::uint8_t* second = row + static_cast<std::size_t>(tap.second) * from.channels;
    for (std::size_t c = 0; c < from.channels; ++c) *to++ = mix_columns(tap, first[c], second[c]);
  }
}

void linear_resize::operator()(const picture_view& from, std::size_t height, std::size_t width,
                               std::uint8_t* out, std::size_t row_bytes) {
  const auto rows = static_cast<std::int64_t>(from.height);
  const auto columns = static_cast<std::int64_t>(from.width);
  const double row_scale = nn::linear_scale(rows, static_cast<std::int64_t>(height));
  const double column_scale = nn::linear_scale(columns, static_cast<std::int64_t>(width));
  columns_.clear();
  for (std::size_t x = 0; x < width; ++x) {
    columns_.push_back(nn::linear_tap_at(static_cast<std::int64_t>(x), columns, column_scale));
  }
  upper_.of = lower_.of = -1;  // no row yet
  for (std::size_t y = 0; y < height; ++y) {
    const nn::linear_tap tap = nn::linear_tap_at(static_cast<std::int64_t>(y), rows, row_scale);
    if (lower_.of == tap.first) std::swap(upper_, lower_);
    if (upper_.of != tap.first) mix(from, tap.first, upper_);
    if (lower_.of != tap.second) mix(from, tap.second, lower_);
    const std::int32_t* upper = upper_.values.data();
    const std::int32_t* lower = lower_.values.data();
    for (std::size_t i = 0; i < width * from.channels; ++i) {
      out[i] = mix_rows(tap, upper[i], lower[i]);
    }
    out += row_bytes;
  }
}

}  // namespace graphline
