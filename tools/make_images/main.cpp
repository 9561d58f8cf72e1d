// make_images FOLDER [COUNT]: draws pictures for pipelines that read a folder of JPEG files.

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "framework/base/error.hpp"
#include "tools/make_images/jpeg_file.hpp"
#include "tools/make_images/landscape.hpp"

namespace {

namespace fs = std::filesystem;
using graphline::input_error;

constexpr int width = 640;
constexpr int height = 480;
constexpr std::uint32_t usual_count = 32;
constexpr std::uint32_t most = 9999;  // four digits, so that names sort in the order of numbers

constexpr std::string_view usage =
    "usage: make_images FOLDER [COUNT]\n"
    "Draws COUNT (1 to 9999, 32 unless given) pictures of 640 x 480 pixels, the same each time,\n"
    "into FOLDER as image_0000.jpg and so on. FOLDER is made where there is none.\n";

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
    graphline::write_jpeg(graphline::draw_landscape(i, width, height),
                          folder / fmt::format("image_{:04}.jpg", i));
  }
  fmt::print("{} pictures of {} x {} pixels in {}\n", count, width, height, folder.string());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "-h" || first == "--help") {
    fmt::print("{}", usage);
    return 0;
  }
  if (argc < 2 || argc > 3 || first.empty() || first.starts_with('-')) {
    fmt::print(stderr, "{}", usage);
    return static_cast<int>(graphline::exit_status::bad_input);
  }
  try {
    draw_all(first, argc == 3 ? read_count(argv[2]) : usual_count);
    return 0;
  } catch (const graphline::error& e) {
    fmt::print(stderr, "make_images: {}\n", e.what());
    return static_cast<int>(e.status());
  } catch (const std::exception& e) {
    fmt::print(stderr, "make_images: {}\n", e.what());
    return static_cast<int>(graphline::exit_status::run_failed);
  }
}
