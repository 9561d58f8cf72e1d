#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "stages/cpu/jpeg_decoder.hpp"

namespace graphline {

/// Brings images to one size and to the numbers a network expects: bilinear as
/// torch.nn.functional.interpolate(mode="bilinear", align_corners=False, antialias=False), then
/// (x / 255 - mean) / std for each channel.
class bilinear_normaliser {
 public:
  bilinear_normaliser(std::size_t height, std::size_t width, const std::array<double, 3>& mean,
                      const std::array<double, 3>& std);

  /// Writes float32 [3, height, width].
  void operator()(const rgb_image& image, float* out);

  std::size_t elements() const noexcept { return 3 * rows_.size() * columns_.size(); }

 private:
  /// Where one output row or column comes from: a mixture of two of the input's.
  struct tap {
    std::size_t first = 0;
    std::size_t second = 0;
    float weight = 0;  ///< of the second
  };
  static void place_taps(std::vector<tap>& taps, std::size_t input_extent);

  std::vector<tap> rows_;
  std::vector<tap> columns_;
  std::array<float, 3> factor_;
  std::array<float, 3> offset_;
};

}  // namespace graphline
