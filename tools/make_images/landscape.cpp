#include "tools/make_images/landscape.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <random>

#include "framework/base/random.hpp"

namespace graphline {
namespace {

struct colour {
  float r = 0;
  float g = 0;
  float b = 0;
};

/// `a` at weight 0, `b` at weight 1.
colour mix(const colour& a, const colour& b, float weight) {
  return {std::lerp(a.r, b.r, weight), std::lerp(a.g, b.g, weight), std::lerp(a.b, b.b, weight)};
}

/// A full colour of the wheel; `turn` in [0, 1) goes once around it.
colour hue(float turn) {
  const auto part = [&](float shift) {
    return 0.5F + 0.45F * std::cos(2 * std::numbers::pi_v<float> * (turn - shift));
  };
  return {part(0.0F), part(1 / 3.0F), part(2 / 3.0F)};
}

/// Numbers in [low, high) from an engine whose sequence is part of the C++ standard. Its first
/// numbers are alike for neighbouring seeds, so these are mixed.
class dice {
 public:
  explicit dice(std::uint32_t seed) : bits_(static_cast<std::uint32_t>(mix_seed(1, seed))) {}
  float operator()(float low, float high) {
    return low + (high - low) * static_cast<float>(bits_() >> 8) * 0x1p-24F;
  }

 private:
  std::mt19937 bits_;
};

/// A range of hills: everything below a sum of two waves. Lengths are parts of the picture's
/// height.
struct hills {
  float base;
  std::array<float, 2> heights;
  std::array<float, 2> wave_numbers;
  std::array<float, 2> phases;

  bool cover(float x, float y) const {
    float line = base;
    for (std::size_t i = 0; i < 2; ++i) {
      line -= heights[i] * std::sin(wave_numbers[i] * x + phases[i]);
    }
    return y > line;
  }
};

struct ball {
  float x;
  float y;
  float radius;
  colour paint;

  /// Light falls from the upper left; the rim lies in shade.
  colour shade(float dx, float dy) const {
    const float depth = std::sqrt(std::max(0.0F, 1 - dx * dx - dy * dy));
    const float light = std::clamp(0.35F + 0.5F * (depth - 0.6F * dx - 0.6F * dy), 0.1F, 1.0F);
    return mix({0, 0, 0}, mix(paint, {1, 1, 1}, light * light * 0.4F), light);
  }
};

class landscape {
 public:
  explicit landscape(dice& roll) {
    const float turn = roll(0, 1);
    zenith_ = mix(hue(turn), {0.1F, 0.2F, 0.5F}, 0.5F);
    horizon_ = mix(hue(turn + 0.3F), {1, 0.9F, 0.8F}, 0.6F);
    ground_ = mix(hue(turn + 0.5F), {0.1F, 0.35F, 0.15F}, 0.6F);
    sun_x_ = roll(0.2F, 1.1F);
    sun_y_ = roll(0.1F, 0.4F);
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      ranges_[i] = {0.55F + 0.15F * static_cast<float>(i),
                    {roll(0.03F, 0.08F), roll(0.01F, 0.03F)},
                    {roll(3, 7), roll(9, 20)},
                    {roll(0, 6), roll(0, 6)}};
    }
    const int balls = 3 + static_cast<int>(roll(0, 4));
    for (int i = 0; i < balls; ++i) {
      balls_.push_back({roll(0.05F, 1.3F), roll(0.3F, 0.9F), roll(0.03F, 0.11F), hue(roll(0, 1))});
    }
  }

  /// The colour at a point; 0 to 1 from top to bottom, the same unit from left to right.
  colour at(float x, float y) const {
    colour seen = sky(x, y);
    float nearness = 0;
    for (const hills& range : ranges_) {
      nearness += 1.0F / static_cast<float>(ranges_.size());
      if (range.cover(x, y)) seen = mix(horizon_, mix(ground_, {0, 0, 0}, 0.4F * y), nearness);
    }
    for (const ball& b : balls_) {
      const float dx = (x - b.x) / b.radius;
      const float dy = (y - b.y) / b.radius;
      if (dx * dx + dy * dy < 1) seen = b.shade(dx, dy);
    }
    return seen;
  }

 private:
  colour sky(float x, float y) const {
    const colour air = mix(zenith_, horizon_, std::clamp(y / 0.6F, 0.0F, 1.0F));
    const float distance = std::hypot(x - sun_x_, y - sun_y_);
    const float glow = distance < 0.06F ? 1.0F : 0.5F * std::exp(-6 * (distance - 0.06F));
    return mix(air, {1, 0.97F, 0.85F}, glow);
  }

  colour zenith_;
  colour horizon_;
  colour ground_;
  float sun_x_;
  float sun_y_;
  std::array<hills, 3> ranges_;
  std::vector<ball> balls_;
};

std::uint8_t to_byte(float value) {
  return static_cast<std::uint8_t>(std::lround(255 * std::clamp(value, 0.0F, 1.0F)));
}

}  // namespace

picture draw_landscape(std::uint32_t number, int width, int height) {
  dice roll(number);
  const landscape scene(roll);
  picture result{width, height, {}};
  result.pixels.reserve(3 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  for (int row = 0; row < height; ++row) {
    for (int column = 0; column < width; ++column) {
      const float unit = static_cast<float>(height);
      const colour c = scene.at(static_cast<float>(column) / unit, static_cast<float>(row) / unit);
      const float grain = roll(-0.03F, 0.03F);
      for (const float channel : {c.r, c.g, c.b}) result.pixels.push_back(to_byte(channel + grain));
    }
  }
  return result;
}

}  // namespace graphline
