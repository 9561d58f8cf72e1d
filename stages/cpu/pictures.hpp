#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stages/kinds.hpp"
#include "stages/nn/operations/linear_tap.hpp"

namespace graphline {

// Pictures are tensors uint8 [B, H, W, C]. If the pictures differ in size, each is at the top left
// of its [H, W], padded with zeros, and a tensor int64 [B, 2] contains their heights and widths.

/// A picture in memory: rows from top to bottom, channels interleaved.
struct picture_view {
  const std::uint8_t* pixels = nullptr;
  std::size_t height = 0;
  std::size_t width = 0;
  std::size_t channels = 0;
  std::size_t row_bytes = 0;  ///< distance from one row to the next
};

/// Returns the picture at `index` of the first input. The second input, if any, holds its size,
/// which is clamped to [H, W].
picture_view picture_at(std::span<const const_tensor_view> inputs, std::size_t index);

/// Returns the optional input port for the sizes of the pictures.
port sizes_port();

/// Returns the required parameter `size`: height and width of the output pictures.
parameter size_parameter(std::string help);

/// Reports an error unless the inputs are pictures and, optionally, their sizes.
bool check_pictures(const char* kind, const arguments& given, std::span<const tensor_type> inputs,
                    diagnostics& out);

/// Reports a parameter with a wrong number of values. `meaning`: "height and width".
/// @return true if `found` equals `count`
bool check_count(const arguments& given, const char* name, std::size_t found, std::size_t count,
                 const char* meaning, diagnostics& out);

/// A stage that computes pictures one by one. An object computes one at a time.
class picture_stage : public cpu_stage {
 public:
  void run(const cpu_call& call) final {
    const auto count = static_cast<std::size_t>(call.inputs[0].type.shape[0]);
    for (std::size_t i = 0; i < count; ++i) run_picture(call, i);
  }

  virtual void run_picture(const cpu_call& call, std::size_t index) = 0;
};

using picture_stage_factory = std::function<std::unique_ptr<picture_stage>(const stage_config&)>;

/// Returns the factory for `host` devices, whose compute threads share the pictures. `part` is the
/// name of the stage's only part.
device_stage_factory pictures_on_host(const std::string& part, const picture_stage_factory& make);

/// Completes a kind of pictures as a device stage, with the loops of its CPU stage on `host`.
template <class Stage>
stage_kind pictures_on_device(stage_kind kind, const device_stage_factory& make_cuda) {
  const auto make = [](const stage_config& config) { return std::make_unique<Stage>(config); };
  device_stage_factory make_host = pictures_on_host(kind.name, make);
  return on_devices(std::move(kind), std::move(make_host), make_cuda);
}

/// Per-channel numbers for which x * factor + offset equals (x / 255 - mean) / std; only the first
/// ones for gray.
struct normalization {
  bool blue_first = false;  ///< reverses the channels of the result
  bool gray = false;        ///< the result has one channel, luma
  std::array<float, 3> factor{};
  std::array<float, 3> offset{};
};

/// Reads the arguments of `cpu.normalize` and `normalize`.
normalization normalization_of(const arguments& given);

/// Bilinear resize with pixel centers at i + 0.5 and clamped edges. Computes in integers with
/// 11-bit weights, bit for bit as OpenCV's resize with INTER_LINEAR
/// (modules/imgproc/src/resize.cpp).
class linear_resize {
 public:
  /// Writes rows of `width` pixels, `row_bytes` apart. `from` must not be empty.
  void operator()(const picture_view& from, std::size_t height, std::size_t width,
                  std::uint8_t* out, std::size_t row_bytes);

 private:
  /// A row of the input, resized to the width of the output. Values are multiplied by 2048.
  struct mixed_row {
    std::int32_t of = 0;
    std::vector<std::int32_t> values;
  };

  void mix(const picture_view& from, std::int32_t y, mixed_row& into) const;

  std::vector<nn::linear_tap> columns_;
  mixed_row upper_;
  mixed_row lower_;
};

}  // namespace graphline
