// make_images FOLDER [COUNT]: draws pictures for pipelines that read a folder of JPEG files.

#include <fmt/format.h>

// Before jpeglib.h, which needs FILE and size_t.
#include <cstdio>
//
#include <jpeglib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <random>
#include <string_view>
#include <system_error>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/random.hpp"

namespace graphline {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t width = 640;
constexpr std::size_t height = 480;
constexpr std::uint32_t usual_count = 32;
constexpr std::uint32_t most = 9999;  // names with four digits sort in the order of their numbers

constexpr std::string_view usage =
    "usage: make_images FOLDER [COUNT]\n"
    "Draws COUNT (1 to 9999, 32 unless given) pictures of 640 x 480 pixels, the same each time,\n"
    "into FOLDER as image_0000.jpg and so on. FOLDER is made where there is none.\n";

using color = std::array<double, 3>;

/// Random numbers of an image. The C++ standard fixes the sequence of the engine.
class dice {
 public:
  explicit dice(std::uint32_t picture) : bits_(mix_seed(1, picture)) {}
  double operator()(double low, double high) { return low + (high - low) * uniform_unit(bits_); }
  color paint() { return {(*this)(0, 1), (*this)(0, 1), (*this)(0, 1)}; }

 private:
  std::mt19937_64 bits_;
};

/// Returns `a` for weight 0 and `b` for weight 1.
color mix(const color& a, const color& b, double weight) {
  return {std::lerp(a[0], b[0], weight), std::lerp(a[1], b[1], weight),
          std::lerp(a[2], b[2], weight)};
}

/// A sky, hills and balls, for smooth areas and edges. Lengths are relative to the image's height.
class landscape {
 public:
  explicit landscape(dice& roll) : zenith_(roll.paint()), horizon_(roll.paint()) {
    for (const double base : {0.55, 0.7, 0.85}) {
      ranges_.push_back({base, roll(0.03, 0.08), roll(3, 7), roll(0, 6), roll.paint()});
    }
    const int balls = 3 + static_cast<int>(roll(0, 4));
    for (int i = 0; i < balls; ++i) {
      balls_.push_back({roll(0.05, 1.3), roll(0.3, 0.9), roll(0.03, 0.11), roll.paint()});
    }
  }

  color at(double x, double y) const {
    color seen = mix(zenith_, horizon_, y);
    for (const hills& range : ranges_) {
      const double line = range.base - range.height * std::sin(range.waves * x + range.phase);
      if (y > line) seen = range.paint;
    }
    for (const ball& b : balls_) {
      const double dx = (x - b.x) / b.radius;
      const double dy = (y - b.y) / b.radius;
      // Light comes from the upper left.
      if (dx * dx + dy * dy < 1) seen = mix({0, 0, 0}, b.paint, 0.6 - 0.25 * (dx + dy));
    }
    return seen;
  }

 private:
  struct hills {
    double base, height, waves, phase;
    color paint;
  };
  struct ball {
    double x, y, radius;
    color paint;
  };

  color zenith_;
  color horizon_;
  std::vector<hills> ranges_;
  std::vector<ball> balls_;
};

/// Returns the rows from top to bottom, with R, G and B for each pixel. Film grain makes the image
/// compress and decode like a photograph.
std::vector<JSAMPLE> draw(std::uint32_t number) {
  dice roll(number);
  const landscape scene(roll);
  std::vector<JSAMPLE> pixels;
  pixels.reserve(3 * width * height);
  constexpr double unit = height;
  for (std::size_t row = 0; row < height; ++row) {
    for (std::size_t column = 0; column < width; ++column) {
      const double grain = roll(-0.03, 0.03);
      for (const double part :
           scene.at(static_cast<double>(column) / unit, static_cast<double>(row) / unit)) {
        pixels.push_back(static_cast<JSAMPLE>(255 * std::clamp(part + grain, 0.0, 1.0)));
      }
    }
  }
  return pixels;
}

/// If an error occurs, libjpeg's default error manager ends the program with a message.
void write_jpeg(std::vector<JSAMPLE> pixels, const fs::path& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wb"),
                                                             std::fclose);
  if (!file) {
    throw input_error(
        fmt::format("cannot create {}: {}", path.string(), std::generic_category().message(errno)));
  }
  jpeg_error_mgr errors;
  jpeg_compress_struct info{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  jpeg_stdio_dest(&info, file.get());
  info.image_width = width;
  info.image_height = height;
  info.input_components = 3;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 90, TRUE);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    JSAMPROW row = pixels.data() + info.next_scanline * 3 * width;
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
}

std::uint32_t read_count(std::string_view text) {
  std::uint32_t count = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, status] = std::from_chars(text.data(), end, count);
  if (status != std::errc() || stopped != end || count < 1 || count > most) {
    throw input_error(
        fmt::format("COUNT must be a whole number from 1 to {}, found '{}'", most, text));
  }
  return count;
}

void prepare(const fs::path& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (!failure && !fs::is_directory(folder, failure) && !failure) {
    failure = std::make_error_code(std::errc::not_a_directory);
  }
  if (failure) {
    throw input_error(
        fmt::format("cannot use the folder '{}': {}", folder.string(), failure.message()));
  }
}

void draw_all(const fs::path& folder, std::uint32_t count) {
  prepare(folder);
  for (std::uint32_t i = 0; i < count; ++i) {
    write_jpeg(draw(i), folder / fmt::format("image_{:04}.jpg", i));
  }
  fmt::print("{} pictures of {} x {} pixels in {}\n", count, width, height, folder.string());
}

}  // namespace
}  // namespace graphline

int main(int argc, char** argv) {
  using namespace graphline;
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "-h" || first == "--help") {
    fmt::print("{}", usage);
    return 0;
  }
  if (argc < 2 || argc > 3 || first.empty() || first.starts_with('-')) {
    fmt::print(stderr, "{}", usage);
    return static_cast<int>(exit_status::bad_input);
  }
  try {
    draw_all(first, argc == 3 ? read_count(argv[2]) : usual_count);
    return 0;
  } catch (const input_error& e) {
    fmt::print(stderr, "make_images: {}\n", e.what());
    return static_cast<int>(e.status());
  } catch (const std::exception& e) {
    fmt::print(stderr, "make_images: {}\n", e.what());
    return static_cast<int>(exit_status::run_failed);
  }
}
