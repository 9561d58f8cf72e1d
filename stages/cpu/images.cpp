#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "framework/base/error.hpp"
#include "stages/cpu/jpeg_decoder.hpp"
#include "stages/kinds.hpp"

namespace graphline {
namespace {

/// Brings images to one size and to the numbers a network expects: bilinear as
/// torch.nn.functional.interpolate(mode="bilinear", align_corners=False, antialias=False), then
/// (x / 255 - mean) / std for each channel.
class bilinear_normalizer {
 public:
  bilinear_normalizer(std::size_t height, std::size_t width, const std::vector<double>& mean,
                      const std::vector<double>& std, bool blue_first)
      : rows_(height), columns_(width), blue_first_(blue_first) {
    // (x / 255 - mean) / std as one multiplication and one addition.
    for (std::size_t c = 0; c < 3; ++c) {
      factor_[c] = static_cast<float>(1.0 / (255.0 * std.at(c)));
      offset_[c] = static_cast<float>(-mean.at(c) / std[c]);
    }
  }

  /// Writes float32 [3, height, width].
  void operator()(const rgb_image& image, float* out) {
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
          const std::size_t to = blue_first_ ? 2 - c : c;
          out[to * plane + y * columns_.size() + x] = value * factor_[c] + offset_[c];
        }
      }
    }
  }

  std::size_t elements() const noexcept { return 3 * rows_.size() * columns_.size(); }

 private:
  /// Where one output row or column comes from: a mixture of two of the input's.
  struct tap {
    std::size_t first = 0;
    std::size_t second = 0;
    float weight = 0;  ///< of the second
  };

  /// Pixel centres lie at i + 0.5 on both sides (that is align_corners=False); what would fall
  /// before the first or behind the last centre takes the edge's value.
  static void place_taps(std::vector<tap>& taps, std::size_t input_extent) {
    const float scale = static_cast<float>(input_extent) / static_cast<float>(taps.size());
    for (std::size_t i = 0; i < taps.size(); ++i) {
      const float at = std::max(0.0F, (static_cast<float>(i) + 0.5F) * scale - 0.5F);
      const std::size_t first = std::min(static_cast<std::size_t>(at), input_extent - 1);
      taps[i] = {first, std::min(first + 1, input_extent - 1), at - static_cast<float>(first)};
    }
  }

  std::vector<tap> rows_;
  std::vector<tap> columns_;
  bool blue_first_;
  std::array<float, 3> factor_;
  std::array<float, 3> offset_;
};

namespace fs = std::filesystem;

bool is_jpeg_name(const fs::path& path) {
  std::string extension = path.extension().string();
  for (char& c : extension) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return extension == ".jpg" || extension == ".jpeg";
}

/// The JPEG files of a folder, sorted by name. Empty, with `problem` set, when there are none or
/// the folder cannot be read.
std::vector<std::string> list_jpegs(const std::string& folder, std::string& problem) {
  std::error_code failure;
  std::vector<std::string> files;
  fs::directory_iterator entry(folder, failure);
  for (; !failure && entry != fs::directory_iterator(); entry.increment(failure)) {
    std::error_code unknown;  // a link that leads nowhere is no regular file, and no error
    if (entry->is_regular_file(unknown) && is_jpeg_name(entry->path())) {
      files.push_back(entry->path().string());
    }
  }
  if (failure) {
    problem = fmt::format("cannot read the folder '{}': {}", folder, failure.message());
    return {};
  }
  if (files.empty()) {
    problem = fmt::format("the folder '{}' holds no .jpg or .jpeg file", folder);
  }
  std::sort(files.begin(), files.end());
  return files;
}

class images final : public cpu_stage {
 public:
  explicit images(const stage_config& config)
      : batch_(config.arguments.integer("batch")),
        height_(static_cast<std::size_t>(config.arguments.integers("size").at(0))),
        width_(static_cast<std::size_t>(config.arguments.integers("size").at(1))),
        normalize_(height_, width_, config.arguments.numbers("mean"),
                   config.arguments.numbers("std"), config.arguments.text("channels") == "bgr") {
    std::string problem;
    files_ = list_jpegs(config.arguments.text("folder"), problem);
    if (files_.empty()) throw run_error(problem);
  }

  void run(const cpu_call& call) override {
    const std::size_t frame = static_cast<std::size_t>(call.frame);
    const std::size_t batch = static_cast<std::size_t>(batch_);
    float* out = call.outputs[0].as<float>();
    for (std::size_t i = 0; i < batch; ++i) {
      const std::string& file = files_[(frame * batch + i) % files_.size()];
      read(file);
      decode_jpeg(data_, file, height_, width_, image_);
      normalize_(image_, out);
      out += normalize_.elements();
    }
  }

 private:
  void read(const std::string& file) {
    errno = 0;
    std::ifstream in(file, std::ios::binary | std::ios::ate);
    const std::streamoff size = in.tellg();  // -1 when the file did not open
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

  std::int64_t batch_;
  std::size_t height_;
  std::size_t width_;
  bilinear_normalizer normalize_;
  std::vector<std::string> files_;
  std::vector<std::uint8_t> data_;  // of the file being read; used again, as is the image
  rgb_image image_;
};

/// The bytes of the files are no tensor and are not counted. Most of the work is entropy decoding
/// in whole numbers: no FLOPs are stated.
stage_shape infer_images(const arguments& given, std::span<const tensor_type>, diagnostics& out) {
  const std::size_t errors_before = out.all().size();
  const auto need_count = [&](const char* name, std::size_t found, std::size_t count,
                              const char* meaning) {
    if (found == count) return;
    out.error(given.where(name),
              fmt::format("'{}' must hold {} numbers ({}), found {}", name, count, meaning, found));
  };
  need_count("size", given.integers("size").size(), 2, "height and width");
  need_count("mean", given.numbers("mean").size(), 3, "red, green and blue");
  need_count("std", given.numbers("std").size(), 3, "red, green and blue");
  for (const double deviation : given.numbers("std")) {
    if (deviation == 0) out.error(given.where("std"), "'std' divides: it must not be 0");
  }
  std::string problem;
  if (list_jpegs(given.text("folder"), problem).empty()) {
    out.error(given.where("folder"), problem);
  }
  if (out.all().size() > errors_before) return {};

  const auto& size = given.integers("size");
  stage_shape result;
  result.outputs = {{{given.integer("batch"), 3, size[0], size[1]}, dtype::float32}};
  if (!result.outputs[0].shape.checked_elements()) {
    out.error(given.where("size"),
              fmt::format("'size' and 'batch' make a tensor too large to hold: {}",
                          to_string(result.outputs[0].shape)));
    return {};
  }
  result.cost.bytes_written = static_cast<std::int64_t>(result.outputs[0].bytes());
  result.known = known_cost::bytes;
  return result;
}

}  // namespace

stage_kind images_kind() {
  stage_kind kind;
  kind.name = "cpu.images";
  kind.headline = "Read JPEG files, bring them to one size and normalize them";
  kind.on = side::cpu;
  kind.outputs = {{"images", "float32 [batch, 3, height, width]"}};
  kind.parameters = {
      {.name = "folder",
       .type = parameter_type::path,
       .help = "Folder of .jpg and .jpeg files; they are read in the order of their names, over "
               "and over.",
       .required = true},
      {.name = "size",
       .type = parameter_type::integers,
       .help = "[height, width] that every image is brought to, bilinear; an image at least twice "
               "as large is decoded at half, a quarter or an eighth of its size first.",
       .required = true,
       .unit = "px",
       .minimum = 1,
       .maximum = 65535},
      {.name = "batch",
       .type = parameter_type::integer,
       .help = "Images in one frame.",
       .required = true,
       .minimum = 1,
       .maximum = 65536},
      {.name = "mean",
       .type = parameter_type::numbers,
       .help = "Mean of red, green and blue, of 1; the default is ImageNet's.",
       .default_value = "[0.485, 0.456, 0.406]"},
      {.name = "std",
       .type = parameter_type::numbers,
       .help = "Standard deviation of red, green and blue, of 1; the default is ImageNet's.",
       .default_value = "[0.229, 0.224, 0.225]",
       .minimum = 0},
      {.name = "channels",
       .type = parameter_type::choice,
       .help = "Their order: red, green, blue, or as models take it that were trained with OpenCV.",
       .default_value = "rgb",
       .choices = {"rgb", "bgr"}},
  };
  kind.infer = infer_images;
  kind.make_cpu = make_cpu_stage<images>;
  return kind;
}

}  // namespace graphline
