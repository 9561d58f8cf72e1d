#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/text_file.hpp"
#include "stages/cpu/file_folder.hpp"
#include "stages/kinds.hpp"

namespace graphline {
namespace {

/// Reads a little-endian number; the host is little-endian, too.
template <class T>
T number_at(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Limit far above the number of chunks in real files.
constexpr int most_chunks = 1000;

/// A WAV file opened for reading. Format: Microsoft and IBM, "Multimedia Programming Interface and
/// Data Specifications 1.0", 1991; for WAVE_FORMAT_EXTENSIBLE, mmreg.h.
class wav_file {
 public:
  /// Reads the chunks up to the samples.
  /// @throws input_error with the file and the remedy if the file is unreadable or truncated, has
  /// other samples than PCM of 8 or 16 bits or float of 32, or not `rate` of them per second
  wav_file(std::string path, std::int64_t rate)
      : path_(std::move(path)), file_(open_binary_file(path_, "WAV file")) {
    const auto start = read<12>();
    if (name_at(&start[0]) != "RIFF" || name_at(&start[8]) != "WAVE") fail("is not in WAV format");
    std::uint64_t at = start.size();
    for (int chunks = 0; chunks < most_chunks; ++chunks) {
      file_.stream.seekg(static_cast<std::streamoff>(at));
      const auto chunk = read<8>();
      const std::uint64_t size = number_at<std::uint32_t>(&chunk[4]);
      at += chunk.size();
      if (name_at(&chunk[0]) == "fmt ") {
        describe(size, rate);
      } else if (name_at(&chunk[0]) == "data") {
        if (channels_ == 0) fail("has its samples before their format");
        if (size > file_.size - at) {
          fail(fmt::format("is truncated: its samples take {} bytes, and {} follow their header",
                           size, file_.size - at));
        }
        length_ = size / (channels_ * bytes_);
        return;
      }
      at += size + size % 2;
    }
    fail(fmt::format("has no samples in its first {} chunks", most_chunks));
  }

  /// Writes the mean of the channels: as many samples as there are and fit, then zeros.
  /// @return the number of samples before the zeros
  std::size_t read_samples(std::span<float> to) {
    const std::size_t count = std::min(to.size(), length_);
    std::vector<char> bytes(count * channels_ * bytes_);
    file_.stream.read(bytes.data(), std::ssize(bytes));
    if (!file_.stream) fail("cannot be read");
    const char* from = bytes.data();
    for (float& mean : to.first(count)) {
      float sum = 0;
      for (std::size_t c = 0; c < channels_; ++c, from += bytes_) sum += sample_at(from);
      mean = sum / static_cast<float>(channels_);
    }
    std::ranges::fill(to.subspan(count), 0.0F);
    return count;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw input_error(fmt::format("WAV file '{}' {}", path_, message));
  }

  template <std::size_t Count>
  std::array<char, Count> read() {
    std::array<char, Count> bytes{};
    file_.stream.read(bytes.data(), Count);
    if (!file_.stream) fail("is truncated in its header");
    return bytes;
  }

  static std::string_view name_at(const char* from) { return {from, 4}; }

  /// Reads the chunk 'fmt '.
  void describe(std::uint64_t size, std::int64_t rate) {
    const auto format = read<16>();
    auto encoding = number_at<std::uint16_t>(&format[0]);
    const auto found = number_at<std::uint32_t>(&format[4]);
    const auto bits = number_at<std::uint16_t>(&format[14]);
    if (encoding == 0xFFFE && size >= 40) {  // WAVE_FORMAT_EXTENSIBLE: a GUID begins with it
      encoding = number_at<std::uint16_t>(&read<24>()[8]);
    }
    channels_ = number_at<std::uint16_t>(&format[2]);
    bytes_ = bits / 8U;
    const bool pcm = encoding == 1 && (bits == 8 || bits == 16);
    if ((!pcm && !(encoding == 3 && bits == 32)) || channels_ == 0) {
      fail(
          fmt::format("holds {} channels of encoding {} with {} bits; save it as PCM of 8 or 16 "
                      "bits or float of 32 bits",
                      channels_, encoding, bits));
    }
    if (found != rate) {
      fail(fmt::format("has {} samples per second; resample it, or make 'rate' {}", found, found));
    }
  }

  float sample_at(const char* from) const {
    if (bytes_ == 1) return (static_cast<float>(number_at<std::uint8_t>(from)) - 128) / 128;
    if (bytes_ == 2) return static_cast<float>(number_at<std::int16_t>(from)) / 32768;
    return number_at<float>(from);
  }

  std::string path_;
  binary_file file_;
  std::size_t channels_ = 0;
  std::size_t bytes_ = 0;   ///< of a sample of one channel
  std::size_t length_ = 0;  ///< samples of each channel
};

class audio final : public cpu_stage {
 public:
  audio(std::vector<std::string> files, const stage_config& config)
      : files_(std::move(files)),
        rate_(config.arguments.integer("rate")),
        samples_(static_cast<std::size_t>(config.arguments.integer("samples"))) {}

  void run(const cpu_call& call) override {
    auto* out = call.outputs[0].as<float>();
    auto* lengths = call.outputs[1].as<std::int64_t>();
    const auto count = static_cast<std::size_t>(call.outputs[1].type.shape[0]);
    const std::size_t first = first_file(call, count);
    for (std::size_t i = 0; i < count; ++i, out += samples_) {
      wav_file file(files_[(first + i) % files_.size()], rate_);
      lengths[i] = static_cast<std::int64_t>(file.read_samples({out, samples_}));
    }
  }

 private:
  std::vector<std::string> files_;
  std::int64_t rate_;
  std::size_t samples_;
};

/// FLOPs are unknown, because they depend on the files.
prepared_stage prepare_audio(const arguments& given, std::span<const tensor_type>,
                             diagnostics& out) {
  const auto files = files_of_folder(
      given, {".wav"},
      [rate = given.integer("rate")](const std::string& path) { wav_file(path, rate); }, out);
  const std::int64_t samples = given.integer("samples");
  const std::int64_t batch = given.has("batch") ? given.integer("batch") : 1;
  return prepared_moves(
      {},
      {{given.has("batch") ? shape{batch, samples} : shape{samples}, dtype::float32},
       {{batch}, dtype::int64}},
      [files](const stage_config& config) { return std::make_unique<audio>(files, config); });
}

}  // namespace

stage_kind audio_kind() {
  stage_kind kind;
  kind.name = "cpu.audio";
  kind.headline = "Read WAV files";
  kind.on = side::cpu;
  kind.outputs = {
      {"samples",
       "float32 [samples] or [batch, samples]: the mean of a file's channels, in [-1, 1) for "
       "PCM, truncated or padded with zeros",
       true},
      {"lengths", "int64 [1] or [batch]: number of samples before the padding", true}};
  kind.parameters = {
      folder_parameter(".wav files (PCM of 8 or 16 bits, or float of 32)"),
      {.name = "rate",
       .help = "Samples per second of all files. Files are not resampled.",
       .required = true,
       .unit = "Hz",
       .minimum = 1,
       .maximum = 4294967295},
      {.name = "samples",
       .help = "Samples that the stage writes for each file.",
       .required = true,
       .minimum = 1,
       .maximum = 2147483647},
      batch_parameter(),
  };
  kind.open = [](const arguments& given, diagnostics&) {
    return open_batch(given, {"samples", "lengths"}, prepare_audio);
  };
  return kind;
}

}  // namespace graphline
