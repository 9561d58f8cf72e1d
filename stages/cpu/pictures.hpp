#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "framework/stage/stage.hpp"

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

/// Returns the picture at `index`. `sizes`, if given, holds its size, which is clamped to [H, W].
picture_view picture_at(const const_tensor_view& pictures, const const_tensor_view* sizes,
                        std::size_t index);

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

/// Bilinear resize with pixel centers at i + 0.5 and clamped edges. Computes in integers with
/// 11-bit weights, bit for bit as OpenCV's resize with INTER_LINEAR
/// (modules/imgproc/src/resize.cpp).
class linear_resize {
 public:
  /// Writes rows of `width` pixels, `row_bytes` apart. `from` must not be empty.
  void operator()(const picture_view& from, std::size_t height, std::size_t width,
                  std::uint8_t* out, std::size_t row_bytes);

 private:
  /// The two source rows or columns that are mixed into an output row or column.
  struct tap {
    std::size_t first;
    std::size_t second;
    std::int32_t first_weight;  ///< in units of 1/2048, like `second_weight`
    std::int32_t second_weight;
  };

  /// A row of the input, resized to the width of the output. Values are multiplied by 2048.
  struct mixed_row {
    std::size_t of = 0;
    std::vector<std::int32_t> values;
  };

  static void place(std::vector<tap>& taps, std::size_t from, std::size_t to);
  void mix(const picture_view& from, std::size_t y, mixed_row& into) const;

  std::vector<tap> rows_;
  std::vector<tap> columns_;
  mixed_row upper_;
  mixed_row lower_;
};

}  // namespace graphline
