#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "framework/base/error.hpp"
#include "stages/cpu/file_folder.hpp"
#include "stages/cpu/jpeg_decoder.hpp"
#include "stages/kinds.hpp"

namespace graphline {
namespace {

class images final : public cpu_stage {
 public:
  images(std::vector<std::string> files, std::int64_t reduce)
      : reduce_(reduce), files_(std::move(files)) {}

  void run(const cpu_call& call) override {
    const shape& written = call.outputs[0].type.shape;
    const auto batch = static_cast<std::size_t>(written[0]);
    const jpeg_size most{static_cast<std::size_t>(written[1]),
                         static_cast<std::size_t>(written[2])};
    auto* out = call.outputs[0].as<std::uint8_t>();
    auto* sizes = call.outputs[1].as<std::int64_t>();
    const std::size_t first = first_file(call, batch);
    for (std::size_t i = 0; i < batch; ++i) {
      const std::string& file = files_[(first + i) % files_.size()];
      read(file);
      const jpeg_size size = decode_jpeg(data_, file, reduce_, most, out);
      *sizes++ = static_cast<std::int64_t>(size.height);
      *sizes++ = static_cast<std::int64_t>(size.width);
      for (std::size_t y = 0; y < most.height; ++y, out += most.width * 3) {
        std::fill(out + (y < size.height ? size.width * 3 : 0), out + most.width * 3,
                  std::uint8_t{0});
      }
    }
  }

 private:
  void read(const std::string& file) {
    errno = 0;
    std::ifstream in;
    in.rdbuf()->pubsetbuf(buffer_.data(), std::ssize(buffer_));  // else each file allocates one
    in.open(file, std::ios::binary | std::ios::ate);
    const std::streamoff size = in.tellg();  // -1 if the file did not open
    if (in) {
      data_.resize(static_cast<std::size_t>(size));
      in.seekg(0);
      in.read(reinterpret_cast<char*>(data_.data()), size);
    }
    if (!in) {
      const std::string reason =
          errno == 0 ? "it became shorter meanwhile" : std::generic_category().message(errno);
      throw run_error(fmt::format("cannot read {}: {}", file, reason));
    }
  }

  std::int64_t reduce_;
  std::vector<std::string> files_;
  std::vector<std::uint8_t> data_;  // bytes of the current file
  std::array<char, 4096> buffer_;   // of its stream
};

/// The bytes of the files are not counted. FLOPs are unknown: most of the work is entropy decoding.
prepared_stage prepare_images(const arguments& given, std::span<const tensor_type>,
                              diagnostics& out) {
  const std::int64_t reduce = given.integer("reduce");
  if (reduce != 1 && reduce != 2 && reduce != 4 && reduce != 8) {
    out.error(given.where("reduce"),
              fmt::format("'reduce' must be 1, 2, 4 or 8, found {}", reduce));
    return {};
  }
  jpeg_size most;
  const auto files = files_of_folder(
      given, {".jpg", ".jpeg"},
      [&](const std::string& file) {
        const jpeg_size size = size_of_jpeg(file, reduce);
        most = {std::max(most.height, size.height), std::max(most.width, size.width)};
      },
      out);
  if (files.empty()) return {};
  const std::int64_t batch = given.integer("batch");
  const auto extent = [](std::size_t e) { return static_cast<std::int64_t>(e); };
  return prepared_moves(
      {},
      {{{batch, extent(most.height), extent(most.width), 3}, dtype::uint8},
       {{batch, 2}, dtype::int64}},
      [files, reduce](const stage_config&) { return std::make_unique<images>(files, reduce); });
}

}  // namespace

stage_kind images_kind() {
  stage_kind kind = kind_named("cpu.images", "Read and decode JPEG files");
  kind.outputs = {{"pictures",
                   "uint8 [batch, H, W, 3]: red, green, blue; H and W are the largest of the "
                   "files, smaller ones lie at the top left with zeros around them; upright, by "
                   "the orientation that a file states (Exif)",
                   true},
                  {"sizes", "int64 [batch, 2]: height and width of each", true}};
  kind.parameters = {
      folder_parameter(".jpg and .jpeg files"),
      {.name = "batch",
       .type = parameter_type::integer,
       .help = "Images in one frame.",
       .required = true,
       .minimum = 1,
       .maximum = 65536},
      {.name = "reduce",
       .help = "1, 2, 4 or 8: decodes at that fraction of the size, which takes less time.",
       .default_value = "1",
       .minimum = 1,
       .maximum = 8},
  };
  kind.prepare = prepare_images;
  return kind;
}

}  // namespace graphline
