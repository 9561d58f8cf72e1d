#include "stages/cpu/jpeg_decoder.hpp"

#include <fmt/format.h>

// jpeglib.h needs FILE and size_t to be declared before it.
#include <cstdio>
//
#include <jerror.h>
#include <jpeglib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csetjmp>
#include <cstddef>
#include <fstream>
#include <initializer_list>
#include <memory>
#include <system_error>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/text_file.hpp"

namespace graphline {
namespace {

using byte_span = std::span<const std::uint8_t>;

/// Reads integers of a TIFF structure; returns 0 beyond its end.
class tiff_reader {
 public:
  tiff_reader(byte_span all, bool little) : all_(all), little_(little) {}

  std::uint32_t short_at(std::size_t at) const noexcept {
    return little_ ? byte(at) | byte(at + 1) << 8 : byte(at) << 8 | byte(at + 1);
  }
  std::uint32_t long_at(std::size_t at) const noexcept {
    return little_ ? short_at(at) | short_at(at + 2) << 16 : short_at(at) << 16 | short_at(at + 2);
  }

 private:
  std::uint32_t byte(std::size_t at) const noexcept { return at < all_.size() ? all_[at] : 0; }

  byte_span all_;
  bool little_;
};

int orientation_in_tiff(byte_span tiff) noexcept {
  constexpr std::uint32_t orientation = 0x0112;
  constexpr std::uint32_t type_short = 3;
  constexpr std::size_t entry_bytes = 12;
  if (tiff.size() < 8 || tiff[0] != tiff[1] || (tiff[0] != 'I' && tiff[0] != 'M')) return 1;
  const tiff_reader read(tiff, tiff[0] == 'I');
  if (read.short_at(2) != 42) return 1;
  const std::size_t directory = read.long_at(4);
  const std::size_t entries = read.short_at(directory);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t at = directory + 2 + i * entry_bytes;
    if (at + entry_bytes > tiff.size()) return 1;
    if (read.short_at(at) != orientation) continue;
    const std::uint32_t value = read.short_at(at + 8);
    const bool sound = read.short_at(at + 2) == type_short && read.long_at(at + 4) == 1;
    return sound && value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

constexpr int app1 = JPEG_APP0 + 1;

/// Returns the Exif tag Orientation (JEITA CP-3451): 1 upright, 2 mirrored, 3 upside down, 4
/// flipped, 5 to 8 with rows as columns. Returns 1 if the tag is missing or invalid.
int exif_orientation(const jpeg_decompress_struct& info) noexcept {
  constexpr std::array<std::uint8_t, 6> exif{'E', 'x', 'i', 'f', 0, 0};
  for (auto* marker = info.marker_list; marker != nullptr; marker = marker->next) {
    const byte_span segment(marker->data, marker->data_length);
    if (marker->marker == app1 && segment.size() >= exif.size() &&
        std::equal(exif.begin(), exif.end(), segment.begin())) {
      return orientation_in_tiff(segment.subspan(exif.size()));
    }
  }
  return 1;
}

constexpr std::uint64_t most_pixels = std::uint64_t{1} << 28;

/// Memory limit of the decoder, enough for 44 million pixels in several scans.
constexpr long most_memory = 256L << 20;

/// Maximum number of scans. Encoders write about ten; each takes a pass over the whole picture.
constexpr int most_scans = 32;

/// libjpeg's error manager with a jump target. An error handler must not return, and exceptions
/// must not propagate through C. Errors therefore jump to the caller of libjpeg.
struct error_trap {
  jpeg_error_mgr manager;  // first member, because libjpeg passes a pointer to it
  std::jmp_buf way_out;
  char message[JMSG_LENGTH_MAX];
};

[[noreturn]] void leave(j_common_ptr info) {
  auto* trap = reinterpret_cast<error_trap*>(info->err);
  info->err->format_message(info, trap->message);
  std::longjmp(trap->way_out, 1);
}

/// Treats a warning as an error unless no pixels are lost. libjpeg fills damaged parts with grey,
/// which would otherwise be processed as if it were the image.
void take_message(j_common_ptr info, int level) {
  if (level >= 0) return;  // a trace message
  switch (info->err->msg_code) {
    case JWRN_ADOBE_XFORM:
    case JWRN_BOGUS_ICC:
    case JWRN_EXTRANEOUS_DATA:
    case JWRN_JFIF_MAJOR:
      return;
    default:
      leave(info);
  }
}

void bound_scans(j_common_ptr info) {
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= most_scans) return;
  auto* trap = reinterpret_cast<error_trap*>(info->err);
  std::snprintf(trap->message, sizeof trap->message, "it has more than %d scans", most_scans);
  std::longjmp(trap->way_out, 1);
}

struct decompressor {
  decompressor() {
    info.err = jpeg_std_error(&trap.manager);
    trap.manager.error_exit = leave;
    trap.manager.emit_message = take_message;
    progress.progress_monitor = bound_scans;
  }
  ~decompressor() { jpeg_destroy_decompress(&info); }
  decompressor(const decompressor&) = delete;
  decompressor& operator=(const decompressor&) = delete;

  jpeg_decompress_struct info{};
  jpeg_progress_mgr progress{};
  error_trap trap{};
};

[[noreturn]] void refuse_jpeg(const decompressor& jpeg, const std::string& file) {
  if (jpeg.trap.manager.msg_code != JERR_NO_BACKING_STORE) {
    throw run_error(fmt::format("cannot decode {}: {}", file, jpeg.trap.message));
  }
  throw run_error(fmt::format(
      "cannot decode {}: its {} x {} pixels in several scans would take more than {} MiB of "
      "memory; make it smaller or save it in one scan (not progressive)",
      file, jpeg.info.image_width, jpeg.info.image_height, most_memory >> 20));
}

/// Reads the header, with the segment that may hold the orientation, and returns the size of the
/// picture as stored.
jpeg_size read_header(jpeg_decompress_struct& info, const std::string& file, std::int64_t reduce) {
  jpeg_save_markers(&info, app1, 0xffff);
  jpeg_read_header(&info, TRUE);
  if (info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK) {
    throw run_error(fmt::format(
        "cannot decode {}: it holds CMYK, which is not read; convert it to RGB or grey", file));
  }
  if (std::uint64_t{info.image_width} * info.image_height > most_pixels) {
    throw run_error(fmt::format("cannot decode {}: {} x {} pixels are more than the {} allowed",
                                file, info.image_width, info.image_height, most_pixels));
  }
  info.out_color_space = JCS_RGB;
  info.scale_num = 1;
  info.scale_denom = static_cast<unsigned>(reduce);
  jpeg_calc_output_dimensions(&info);
  return {info.output_height, info.output_width};
}

jpeg_size upright(jpeg_size stored, int orientation) {
  if (orientation < 5) return stored;
  return {stored.width, stored.height};
}

/// Position of a stored row in the upright picture: index of its first pixel, and the step from
/// each pixel to the next.
struct upright_row {
  std::ptrdiff_t first;
  std::ptrdiff_t step;
};

upright_row upright_row_of(std::size_t y, jpeg_size stored, std::size_t pitch, int orientation) {
  const auto is_any_of = [&](std::initializer_list<int> some) {
    return std::ranges::count(some, orientation) > 0;
  };
  auto to_next_row = static_cast<std::ptrdiff_t>(pitch);
  std::ptrdiff_t to_next_column = 1;
  if (orientation >= 5) std::swap(to_next_row, to_next_column);
  auto row = static_cast<std::ptrdiff_t>(y);
  if (is_any_of({3, 4, 6, 7})) row = static_cast<std::ptrdiff_t>(stored.height) - 1 - row;
  const std::ptrdiff_t first = row * to_next_row;
  if (!is_any_of({2, 3, 7, 8})) return {first, to_next_column};
  const auto last_column = static_cast<std::ptrdiff_t>(stored.width) - 1;
  return {first + last_column * to_next_column, -to_next_column};
}

}  // namespace

jpeg_size size_of_jpeg(const std::string& file, std::int64_t reduce) {
  struct closer {
    void operator()(std::FILE* f) const noexcept { std::fclose(f); }
  };
  const std::unique_ptr<std::FILE, closer> in(std::fopen(file.c_str(), "rb"));
  if (!in) {
    throw run_error(
        fmt::format("cannot read {}: {}", file, std::generic_category().message(errno)));
  }
  {
    std::ifstream stream(file, std::ios::binary);
    if (const auto pointer = lfs_pointer_problem(stream)) {
      throw run_error(fmt::format("cannot decode {}: it {}", file, *pointer));
    }
  }
  decompressor jpeg;
  if (setjmp(jpeg.trap.way_out) != 0) refuse_jpeg(jpeg, file);
  jpeg_create_decompress(&jpeg.info);
  jpeg_stdio_src(&jpeg.info, in.get());
  const jpeg_size stored = read_header(jpeg.info, file, reduce);
  return upright(stored, exif_orientation(jpeg.info));
}

jpeg_size decode_jpeg(std::span<const std::uint8_t> data, const std::string& file,
                      std::int64_t reduce, jpeg_size most, std::uint8_t* pixels) {
  decompressor jpeg;
  jpeg_decompress_struct& info = jpeg.info;
  // The jump skips destructors, so no object with a destructor is created after this line.
  if (setjmp(jpeg.trap.way_out) != 0) refuse_jpeg(jpeg, file);
  jpeg_create_decompress(&info);
  info.progress = &jpeg.progress;
  jpeg_mem_src(&info, data.data(), static_cast<unsigned long>(data.size()));
  const jpeg_size stored = read_header(info, file, reduce);
  const int orientation = exif_orientation(info);
  const jpeg_size size = upright(stored, orientation);
  if (size.height > most.height || size.width > most.width) {
    throw run_error(fmt::format(
        "cannot decode {}: it became larger than the {} x {} pixels that it had when planned", file,
        most.width, most.height));
  }
  info.mem->max_memory_to_use = most_memory;
  jpeg_start_decompress(&info);
  auto* turned = static_cast<JSAMPROW>(
      info.mem->alloc_small(reinterpret_cast<j_common_ptr>(&info), JPOOL_IMAGE, stored.width * 3));
  while (info.output_scanline < info.output_height) {
    const std::size_t y = info.output_scanline;
    const auto [first, step] = upright_row_of(y, stored, most.width, orientation);
    JSAMPROW row = step == 1 ? pixels + first * 3 : turned;
    jpeg_read_scanlines(&info, &row, 1);
    if (step == 1) continue;
    std::uint8_t* to = pixels + first * 3;
    for (std::size_t x = 0; x < stored.width; ++x, row += 3, to += step * 3)
      std::copy_n(row, 3, to);
  }
  jpeg_finish_decompress(&info);
  return size;
}

}  // namespace graphline
