#include "tools/make_images/jpeg_file.hpp"

#include <fmt/format.h>

// jpeglib.h needs FILE and size_t declared before it.
#include <cstdio>
//
#include <jpeglib.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string_view>
#include <system_error>

#include "framework/base/error.hpp"

namespace graphline {
namespace {

struct freed {
  void operator()(unsigned char* data) const noexcept { std::free(data); }
};

struct jpeg_bytes {
  std::unique_ptr<unsigned char, freed> data;
  unsigned long size = 0;
};

/// In memory libjpeg can only fail for want of it; its own error manager then ends the program with
/// a message, which suits a small tool.
jpeg_bytes compress(const picture& image) {
  jpeg_error_mgr errors;
  jpeg_compress_struct info{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);

  unsigned char* data = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &data, &size);
  info.image_width = static_cast<JDIMENSION>(image.width);
  info.image_height = static_cast<JDIMENSION>(image.height);
  info.input_components = 3;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 90, TRUE);

  jpeg_start_compress(&info, TRUE);
  const std::size_t row_bytes = 3 * static_cast<std::size_t>(image.width);
  while (info.next_scanline < info.image_height) {
    // libjpeg's interface lacks a const: rows are only read.
    JSAMPROW row = const_cast<JSAMPROW>(image.pixels.data() + info.next_scanline * row_bytes);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  return {std::unique_ptr<unsigned char, freed>(data), size};
}

}  // namespace

void write_jpeg(const picture& image, const std::filesystem::path& file) {
  const jpeg_bytes bytes = compress(image);
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  if (!out) {
    throw input_error(
        fmt::format("cannot create {}: {}", file.string(), std::generic_category().message(errno)));
  }
  out.write(reinterpret_cast<const char*>(bytes.data.get()),
            static_cast<std::streamsize>(bytes.size));
  out.close();
  if (!out) {
    throw run_error(
        fmt::format("cannot write {}: {}", file.string(), std::generic_category().message(errno)));
  }
}

}  // namespace graphline
