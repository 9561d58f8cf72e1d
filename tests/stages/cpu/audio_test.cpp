#include <gmock/gmock.h>
#include <sndfile.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "framework/base/error.hpp"
#include "stages/kinds.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/stages/cpu/stage_trial.hpp"

namespace graphline {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Property;
using testing::Throws;

/// Encodes 16-bit samples of mono at 8000 Hz in one of libsndfile's formats.
void write_audio(const std::string& path, const std::vector<short>& samples, int format,
                 int rate = 8000) {
  SF_INFO info{};
  info.samplerate = rate;
  info.channels = 1;
  info.format = format;
  SNDFILE* file = sf_open(path.c_str(), SFM_WRITE, &info);
  ASSERT_NE(file, nullptr) << sf_strerror(nullptr);
  sf_write_short(file, samples.data(), std::ssize(samples));
  sf_close(file);
}

std::string parameters_of(const std::string& folder, const std::string& more) {
  return "{folder: '" + folder + "', " + more + "}";
}

std::vector<std::string> complaints_of(const temporary_folder& files) {
  return stage_trial(audio_kind(), parameters_of(files.path(), "rate: 8000, samples: 2"))
      .complaints();
}

TEST(audio, is_what_python_wrote_in_order_of_names) {
  const std::string folder = reference_path("audio");
  stage_trial all(audio_kind(), parameters_of(folder, "rate: 16000, samples: 60, batch: 4"));
  ASSERT_THAT(all.complaints(), IsEmpty());
  EXPECT_THAT(all.prepared().outputs,
              ElementsAre(tensor_type{{4, 60}, dtype::float32}, tensor_type{{4}, dtype::int64}));
  const auto expected = reference<float>("audio");
  EXPECT_EQ(all.run().output<float>(0), expected);
  EXPECT_THAT(all.output<std::int64_t>(1), ElementsAre(60, 60, 50, 60));

  stage_trial one(audio_kind(), parameters_of(folder, "rate: 16000, samples: 60"));
  EXPECT_EQ(one.prepared().outputs[0].shape, (shape{60}));
  EXPECT_EQ(one.run(6).output<float>(0),
            std::vector<float>(expected.begin() + 120, expected.begin() + 180));
  EXPECT_THAT(one.output<std::int64_t>(1), ElementsAre(50));
}

TEST(audio, may_be_compressed_and_longer_than_what_is_read_at_once) {
  const temporary_folder files;
  std::vector<short> samples(10'000);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<short>(7919 * i);
  write_audio(files / "a.FLAC", samples, SF_FORMAT_FLAC | SF_FORMAT_PCM_16);
  stage_trial trial(audio_kind(), parameters_of(files.path(), "rate: 8000, samples: 12000"));
  ASSERT_THAT(trial.complaints(), IsEmpty());
  std::vector<float> expected(12'000);
  std::ranges::transform(samples, expected.begin(), [](short one) { return one / 32768.0F; });
  EXPECT_EQ(trial.run().output<float>(0), expected);
  EXPECT_THAT(trial.output<std::int64_t>(1), ElementsAre(10'000));
}

TEST(audio, without_samples_is_silence) {
  const temporary_folder files;
  write_audio(files / "a.wav", {}, SF_FORMAT_WAV | SF_FORMAT_PCM_16);
  stage_trial trial(audio_kind(), parameters_of(files.path(), "rate: 8000, samples: 2"));
  EXPECT_THAT(trial.run().output<float>(0), ElementsAre(0, 0));
  EXPECT_THAT(trial.output<std::int64_t>(1), ElementsAre(0));
}

TEST(audio, that_is_truncated_is_read_as_far_as_it_goes) {
  const temporary_folder files;
  write_audio(files / "a.wav", {1, 2, 3, 4}, SF_FORMAT_WAV | SF_FORMAT_PCM_16);
  std::filesystem::resize_file(files / "a.wav", std::filesystem::file_size(files / "a.wav") - 4);
  stage_trial trial(audio_kind(), parameters_of(files.path(), "rate: 8000, samples: 4"));
  EXPECT_THAT(trial.run().output<float>(0), ElementsAre(1 / 32768.0F, 2 / 32768.0F, 0, 0));
  EXPECT_THAT(trial.output<std::int64_t>(1), ElementsAre(2));
}

TEST(audio, of_another_rate_or_format_is_refused_by_name) {
  const temporary_folder files;
  write_audio(files / "a.wav", {1, 2}, SF_FORMAT_WAV | SF_FORMAT_PCM_16, 44100);
  EXPECT_THAT(complaints_of(files),
              ElementsAre(AllOf(HasSubstr("a.wav' has 44100 samples per second"),
                                HasSubstr("resample it, or make 'rate' 44100"))));
  files.write("a.wav", "GIF89a, not audio at all");
  EXPECT_THAT(complaints_of(files), ElementsAre(HasSubstr("a.wav' cannot be read: ")));
  files.write("a.wav", "");
  EXPECT_THAT(complaints_of(files), ElementsAre(HasSubstr("a.wav' cannot be read: ")));
}

TEST(audio, that_changed_ends_the_run) {
  const temporary_folder files;
  write_audio(files / "a.wav", {1, 2}, SF_FORMAT_WAV | SF_FORMAT_PCM_16);
  stage_trial trial(audio_kind(), parameters_of(files.path(), "rate: 8000, samples: 2"));
  files.write("a.wav", "no longer audio");
  EXPECT_THAT([&] { trial.run(); },
              Throws<error>(Property(&error::what, HasSubstr("a.wav' cannot be read: "))));
}

}  // namespace
}  // namespace graphline
