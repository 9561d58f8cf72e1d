#include "stages/cpu/bilinear.hpp"

#include <algorithm>
#include <cstdint>

namespace graphline {

// (x / 255 - mean) / std as one multiplication and one addition.
bilinear_normaliser::bilinear_normaliser(std::size_t height, std::size_t width,
                                         const std::array<double, 3>& mean,
                                         const std::array<double, 3>& std)
    : rows_(height), columns_(width) {
  for (std::size_t c = 0; c < 3; ++c) {
    factor_[c] = static_cast<float>(1.0 / (255.0 * std[c]));
    offset_[c] = static_cast<float>(-mean[c] / std[c]);
  }
}

/// Pixel centres lie at i + 0.5 on both sides (that is align_corners=False); what would fall before
/// the first or behind the last centre takes the edge's value.
void bilinear_normaliser::place_taps(std::vector<tap>& taps, std::size_t input_extent) {
  const float scale = static_cast<float>(input_extent) / static_cast<float>(taps.size());
  for (std::size_t i = 0; i < taps.size(); ++i) {
    const float at = std::max(0.0F, (static_cast<float>(i) + 0.5F) * scale - 0.5F);
    const std::size_t first = std::min(static_cast<std::size_t>(at), input_extent - 1);
    taps[i] = {first, std::min(first + 1, input_extent - 1), at - static_cast<float>(first)};
  }
}

void bilinear_normaliser::operator()(const rgb_image& image, float* out) {
  place_taps(rows_, image.height);
  place_taps(columns_, image.width);

  const std::size_t plane = rows_.size() * columns_.size();
  for (std::size_t y = 0; y < rows_.size(); ++y) {
    const std::uint8_t* upper = image.pixels.data() + rows_[y].first * image.width * 3;
    const std::uint8_t* lower = image.pixels.data() + rows_[y].second * image.width * 3;
    for (std::size_t x = 0; x < columns_.size(); ++x) {
      const std::size_t left = columns_[x].first * 3;
      const std::size_t right = columns_[x].second * 3;
      const auto mix = [](float weight, float a, float b) { return a + weight * (b - a); };
      for (std::size_t c = 0; c < 3; ++c) {
        const float value =
            mix(rows_[y].weight, mix(columns_[x].weight, upper[left + c], upper[right + c]),
                mix(columns_[x].weight, lower[left + c], lower[right + c]));
        out[c * plane + y * columns_.size() + x] = value * factor_[c] + offset_[c];
      }
    }
  }
}

}  // namespace graphline
