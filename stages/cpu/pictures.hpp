#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "framework/stage/stage.hpp"

namespace graphline {

// Pictures go from stage to stage as uint8 [B, H, W, C]. Where they differ in size, each lies at
// the top left of its part, zeros around it, and int64 [B, 2] has the height and width of each.

/// A picture in memory: rows from the top, each pixel's channels together.
struct picture_view {
  const std::uint8_t* pixels = nullptr;
  std::size_t height = 0;
  std::size_t width = 0;
  std::size_t channels = 0;
  std::size_t row_bytes = 0;  ///< from one row to the next
};

/// One picture of a tensor; without sizes as large as its part, as are those that claim to be
/// larger.
picture_view picture_at(const const_tensor_view& pictures, const const_tensor_view* sizes,
                        std::size_t index);

/// Whether a kind's inputs are pictures and, if at all, their sizes; reports it if not.
bool check_pictures(const char* kind, const arguments& given, std::span<const tensor_type> inputs,
                    diagnostics& out);

/// Whether a parameter holds so many numbers; reports it if not. `meaning`: "height and width".
bool check_count(const arguments& given, const char* name, std::size_t found, std::size_t count,
                 const char* meaning, diagnostics& out);

/// Brings pictures to a size, bilinear: pixel centers lie at i + 0.5 on both sides, and what would
/// fall outside takes the edge's value. In whole numbers with weights of 11 bits, bit for bit as
/// OpenCV's resize with INTER_LINEAR (modules/imgproc/src/resize.cpp).
class linear_resize {
 public:
  /// `from` has pixels. Writes rows of `width` pixels, `row_bytes` apart.
  void operator()(const picture_view& from, std::size_t height, std::size_t width,
                  std::uint8_t* out, std::size_t row_bytes);

 private:
  /// Where a row or column comes from: a mixture of two.
  struct tap {
    std::size_t first;
    std::size_t second;
    std::int32_t first_weight;  ///< of 2048, as the other
    std::int32_t second_weight;
  };

  /// A row of the input at the width of the output, times 2048.
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
