#include <fmt/format.h>
#include <sndfile.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/text_file.hpp"
#include "framework/base/utf8.hpp"
#include "stages/cpu/file_folder.hpp"
#include "stages/kinds.hpp"

namespace graphline {
namespace {

/// An audio file opened for reading.
class audio_file {
 public:
  /// @throws input_error with the file and the remedy if the file is unreadable or does not have
  /// `rate` samples per second
  audio_file(std::string path, std::int64_t rate) : path_(std::move(path)) {
    open_binary_file(path_, "audio file");  // refuses pipes and devices
    file_.reset(sf_open(path_.c_str(), SFM_READ, &info_));
    if (file_ == nullptr) fail(fmt::format("cannot be read: {}", sf_strerror(nullptr)));
    if (info_.samplerate != rate) {
      fail(fmt::format("has {} samples per second; resample it, or make 'rate' {}",
                       info_.samplerate, info_.samplerate));
    }
  }

  /// Writes the mean of the channels: as many samples as there are and fit, then zeros.
  /// @return the number of samples before the zeros
  std::size_t read_samples(std::span<float> to) {
    constexpr std::size_t most_at_once = 4096;
    const auto channels = static_cast<std::size_t>(info_.channels);
    std::vector<float> block(std::min(to.size(), most_at_once) * channels);
    std::size_t done = 0;
    while (done < to.size()) {
      const std::size_t wanted = std::min(to.size() - done, most_at_once);
      const auto found = static_cast<std::size_t>(
          sf_readf_float(file_.get(), block.data(), static_cast<sf_count_t>(wanted)));
      if (sf_error(file_.get()) != SF_ERR_NO_ERROR) {
        fail(fmt::format("cannot be read: {}", sf_strerror(file_.get())));
      }
      if (found == 0) break;
      for (std::size_t i = 0; i < found; ++i) {
        const float* sample = &block[i * channels];
        to[done++] =
            std::accumulate(sample, sample + channels, 0.0F) / static_cast<float>(channels);
      }
    }
    std::ranges::fill(to.subspan(done), 0.0F);
    return done;
  }

 private:
  struct closer {
    void operator()(SNDFILE* file) const noexcept { sf_close(file); }
  };

  [[noreturn]] void fail(const std::string& message) const {
    throw input_error(fmt::format("audio file {} {}", quote(path_), message));
  }

  std::string path_;
  SF_INFO info_{};
  std::unique_ptr<SNDFILE, closer> file_;
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
      audio_file file(files_[(first + i) % files_.size()], rate_);
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
      given, {".flac", ".mp3", ".ogg", ".wav"},
      [rate = given.integer("rate")](const std::string& path) { audio_file(path, rate); }, out);
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
  stage_kind kind = kind_named("cpu.audio", "Read audio files");
  kind.outputs = {
      {"samples",
       "float32 [samples] or [batch, samples]: the mean of a file's channels, in [-1, 1) for "
       "integer samples, truncated or padded with zeros",
       true},
      {"lengths", "int64 [1] or [batch]: number of samples before the padding", true}};
  kind.parameters = {
      folder_parameter(".flac, .mp3, .ogg and .wav files"),
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
