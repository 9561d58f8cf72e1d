#include "stages/cpu/jpeg_decoder.hpp"

#include <fmt/format.h>

// jpeglib.h needs FILE and size_t declared before it.
#include <cstdio>
//
#include <jerror.h>
#include <jpeglib.h>

#include <algorithm>
#include <csetjmp>

#include "framework/base/error.hpp"

namespace graphline {
namespace {

constexpr std::uint64_t most_pixels = std::uint64_t{1} << 28;

/// What decoding a picture may take at least, beside the picture: enough for 44 million pixels in
/// several scans. More only for a tensor that is larger than that.
constexpr std::size_t least_memory = std::size_t{256} << 20;

/// Encoders write about ten. A scan goes through the whole picture, however few bytes it has.
constexpr int most_scans = 32;

/// libjpeg's error manager with the way back out of it. libjpeg must not return from an error and
/// is C, which an exception must not pass through; so errors jump to the setjmp of the function
/// that called libjpeg, over frames of libjpeg alone.
struct error_trap {
  jpeg_error_mgr manager;  // first: libjpeg hands back a pointer to it
  std::jmp_buf way_out;
  char message[JMSG_LENGTH_MAX];
};

[[noreturn]] void leave(j_common_ptr info) {
  auto* trap = reinterpret_cast<error_trap*>(info->err);
  info->err->format_message(info, trap->message);
  std::longjmp(trap->way_out, 1);
}

/// libjpeg carries on after damage and fills in grey; that would be measured as if it were the
/// image. Only warnings that cost no pixels are let pass.
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

/// Called now and then while a picture of several scans is read, and before each of its scans.
void bound_scans(j_common_ptr info) {
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= most_scans) return;
  auto* trap = reinterpret_cast<error_trap*>(info->err);
  std::snprintf(trap->message, sizeof trap->message, "it has more than %d scans", most_scans);
  std::longjmp(trap->way_out, 1);
}

/// A decompressor that is destroyed with its scope.
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

}  // namespace

void decode_jpeg(std::span<const std::uint8_t> data, const std::string& file,
                 std::size_t least_height, std::size_t least_width, rgb_image& image) {
  decompressor jpeg;
  jpeg_decompress_struct& info = jpeg.info;
  const auto most_bytes =
      std::max(least_memory, 4 * sizeof(float) * 3 * least_height * least_width);
  // Behind it no object with a destructor is alive while libjpeg works, so none is jumped over.
  if (setjmp(jpeg.trap.way_out) != 0) {
    if (jpeg.trap.manager.msg_code != JERR_NO_BACKING_STORE) {
      throw run_error(fmt::format("cannot decode {}: {}", file, jpeg.trap.message));
    }
    throw run_error(fmt::format(
        "cannot decode {}: its {} x {} pixels in several scans would take more than {} MiB of "
        "memory; make it smaller or save it in one scan (not progressive)",
        file, info.image_width, info.image_height, most_bytes >> 20));
  }

  jpeg_create_decompress(&info);
  info.progress = &jpeg.progress;
  jpeg_mem_src(&info, data.data(), static_cast<unsigned long>(data.size()));
  jpeg_read_header(&info, TRUE);
  if (info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK) {
    throw run_error(fmt::format(
        "cannot decode {}: it holds CMYK, which is not read; convert it to RGB or grey", file));
  }
  if (std::uint64_t{info.image_width} * info.image_height > most_pixels) {
    throw run_error(fmt::format("cannot decode {}: {} x {} pixels are more than the {} allowed",
                                file, info.image_width, info.image_height, most_pixels));
  }

  const std::size_t times =
      std::min(info.image_width / least_width, info.image_height / least_height);
  info.mem->max_memory_to_use = static_cast<long>(most_bytes);
  info.out_color_space = JCS_RGB;
  info.scale_num = 1;
  info.scale_denom = times >= 8 ? 8 : times >= 4 ? 4 : times >= 2 ? 2 : 1;
  jpeg_start_decompress(&info);
  image.width = info.output_width;
  image.height = info.output_height;
  image.pixels.resize(image.width * image.height * 3);
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = image.pixels.data() + info.output_scanline * image.width * 3;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
}

}  // namespace graphline
