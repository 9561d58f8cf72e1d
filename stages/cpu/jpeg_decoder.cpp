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
/// is C, which an exception must not pass through; so errors jump to the setjmp of the step that
/// called libjpeg, over frames of libjpeg alone.
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
class decompressor {
 public:
  decompressor() {
    info_.err = jpeg_std_error(&trap_.manager);
    trap_.manager.error_exit = leave;
    trap_.manager.emit_message = take_message;
  }
  ~decompressor() { jpeg_destroy_decompress(&info_); }
  decompressor(const decompressor&) = delete;
  decompressor& operator=(const decompressor&) = delete;

  // Each step returns false after an error of libjpeg, described by `message`. Between setjmp and
  // the last call of a step there is no object with a destructor, so that nothing is jumped over.

  bool read_header(std::span<const std::uint8_t> data) {
    if (setjmp(trap_.way_out) != 0) return false;
    jpeg_create_decompress(&info_);
    progress_.progress_monitor = bound_scans;
    info_.progress = &progress_;
    jpeg_mem_src(&info_, data.data(), static_cast<unsigned long>(data.size()));
    jpeg_read_header(&info_, TRUE);
    return true;
  }

  /// Starts at `scale_denominator`-th the size; `info` then tells the size of the output. A picture
  /// in several scans is held whole: not where that takes more than `most_bytes`.
  bool start(unsigned scale_denominator, std::size_t most_bytes) {
    if (setjmp(trap_.way_out) != 0) return false;
    info_.mem->max_memory_to_use = static_cast<long>(most_bytes);
    info_.out_color_space = JCS_RGB;
    info_.scale_num = 1;
    info_.scale_denom = scale_denominator;
    jpeg_start_decompress(&info_);
    return true;
  }

  /// Reads every row into `pixels`, rows packed.
  bool read_rows(std::uint8_t* pixels) {
    if (setjmp(trap_.way_out) != 0) return false;
    const std::size_t row_bytes = std::size_t{info_.output_width} * 3;
    while (info_.output_scanline < info_.output_height) {
      JSAMPROW row = pixels + info_.output_scanline * row_bytes;
      jpeg_read_scanlines(&info_, &row, 1);
    }
    jpeg_finish_decompress(&info_);
    return true;
  }

  const jpeg_decompress_struct& info() const noexcept { return info_; }
  const char* message() const noexcept { return trap_.message; }
  bool too_large() const noexcept { return trap_.manager.msg_code == JERR_NO_BACKING_STORE; }

 private:
  jpeg_decompress_struct info_{};
  jpeg_progress_mgr progress_{};
  error_trap trap_{};
};

}  // namespace

void decode_jpeg(std::span<const std::uint8_t> data, const std::string& file,
                 std::size_t least_height, std::size_t least_width, rgb_image& image) {
  decompressor jpeg;
  const auto require = [&](bool worked) {
    if (!worked) throw run_error(fmt::format("cannot decode {}: {}", file, jpeg.message()));
  };

  require(jpeg.read_header(data));
  const jpeg_decompress_struct& info = jpeg.info();
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
  const auto most_bytes =
      std::max(least_memory, 4 * sizeof(float) * 3 * least_height * least_width);
  const bool started = jpeg.start(times >= 8 ? 8 : times >= 4 ? 4 : times >= 2 ? 2 : 1, most_bytes);
  if (!started && jpeg.too_large()) {
    throw run_error(fmt::format(
        "cannot decode {}: its {} x {} pixels in several scans would take more than {} MiB of "
        "memory; make it smaller or save it in one scan (not progressive)",
        file, info.image_width, info.image_height, most_bytes >> 20));
  }
  require(started);
  image.width = info.output_width;
  image.height = info.output_height;
  image.pixels.resize(image.width * image.height * 3);
  require(jpeg.read_rows(image.pixels.data()));
}

}  // namespace graphline
