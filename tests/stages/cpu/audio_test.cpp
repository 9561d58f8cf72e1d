#include <gmock/gmock.h>

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

std::string bytes_of(std::uint64_t number, std::size_t count) {
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) bytes += static_cast<char>(number >> 8 * i & 0xff);
  return bytes;
}

std::string wav_chunk(const std::string& name, const std::string& contents) {
  return name + bytes_of(contents.size(), 4) + contents + (contents.size() % 2 != 0 ? "?" : "");
}

/// The chunk that states how samples are encoded, of mono at 8000 Hz.
std::string wav_format(unsigned encoding, unsigned bits, unsigned channels = 1) {
  return wav_chunk("fmt ", bytes_of(encoding, 2) + bytes_of(channels, 2) + bytes_of(8000, 4) +
                               bytes_of(8000 * bits / 8, 4) + bytes_of(bits / 8, 2) +
                               bytes_of(bits, 2));
}

std::string wav(const std::string& chunks) {
  return "RIFF" + bytes_of(chunks.size() + 4, 4) + "WAVE" + chunks;
}

std::string wav_parameters(const std::string& folder, const std::string& more) {
  return "{folder: '" + folder + "', " + more + "}";
}

/// A stage for a folder with only this file.
stage_trial trial_of(const temporary_folder& files, const std::string& contents) {
  files.write("a.wav", contents);
  return {audio_kind(), wav_parameters(files.path(), "rate: 8000, samples: 2")};
}

TEST(audio, is_what_python_wrote_in_order_of_names) {
  const std::string folder = reference_path("audio");
  stage_trial all(audio_kind(), wav_parameters(folder, "rate: 16000, samples: 60, batch: 4"));
  ASSERT_THAT(all.complaints(), IsEmpty());
  EXPECT_THAT(all.prepared().outputs,
              ElementsAre(tensor_type{{4, 60}, dtype::float32}, tensor_type{{4}, dtype::int64}));
  const auto expected = reference<float>("audio");
  EXPECT_EQ(all.run().output<float>(0), expected);
  EXPECT_THAT(all.output<std::int64_t>(1), ElementsAre(60, 60, 50, 60));

  stage_trial one(audio_kind(), wav_parameters(folder, "rate: 16000, samples: 60"));
  EXPECT_EQ(one.prepared().outputs[0].shape, (shape{60}));
  EXPECT_EQ(one.run(6).output<float>(0),
            std::vector<float>(expected.begin() + 120, expected.begin() + 180));
  EXPECT_THAT(one.output<std::int64_t>(1), ElementsAre(50));
}

TEST(audio, may_state_its_encoding_in_an_extension) {
  const temporary_folder files;
  const std::string extensible = wav_format(0xFFFE, 16).substr(8);
  const std::string extension = bytes_of(22, 2) + bytes_of(16, 2) + bytes_of(4, 4) +
                                std::string("\1\0\0\0\0\0\x10\0\x80\0\0\xAA\0\x38\x9B\x71", 16);
  stage_trial trial = trial_of(files, wav(wav_chunk("fmt ", extensible + extension) +
                                          wav_chunk("data", bytes_of(0x4000, 2))));
  ASSERT_THAT(trial.complaints(), IsEmpty());
  EXPECT_THAT(trial.run().output<float>(0), ElementsAre(0.5F, 0));
}

TEST(audio, without_samples_is_silence) {
  const temporary_folder files;
  stage_trial trial = trial_of(files, wav(wav_format(1, 8) + wav_chunk("data", "")));
  EXPECT_THAT(trial.run().output<float>(0), ElementsAre(0, 0));
  EXPECT_THAT(trial.output<std::int64_t>(1), ElementsAre(0));
}

TEST(audio, of_another_rate_or_encoding_is_refused_by_name) {
  const auto complaint = [](const std::string& contents) {
    const temporary_folder files;
    const auto all = trial_of(files, contents).complaints();
    return all.size() == 1 ? all[0] : "not one complaint";
  };
  const std::string data = wav_chunk("data", "12345678");
  std::string fast = wav(wav_format(1, 16) + data);
  fast.replace(24, 4, bytes_of(44100, 4));
  EXPECT_THAT(complaint(fast), AllOf(HasSubstr("a.wav' has 44100 samples per second"),
                                     HasSubstr("resample it, or make 'rate' 44100")));
  EXPECT_THAT(complaint(wav(wav_format(1, 24) + data)),
              HasSubstr("holds 1 channels of encoding 1 with 24 bits; save it as PCM"));
  EXPECT_THAT(complaint(wav(wav_format(3, 64) + data)), HasSubstr("encoding 3 with 64 bits"));
  EXPECT_THAT(complaint(wav(wav_format(0xFFFE, 16) + data)), HasSubstr("encoding 65534"));
  EXPECT_THAT(complaint(wav(wav_format(1, 16, 0) + data)), HasSubstr("holds 0 channels"));
  EXPECT_THAT(complaint(wav(data + wav_format(1, 16))), HasSubstr("samples before their format"));
  std::string chunks;
  for (int i = 0; i < 1000; ++i) chunks += wav_chunk("LIST", "");
  EXPECT_THAT(complaint(wav(chunks + wav_format(1, 16) + data)),
              HasSubstr("has no samples in its first 1000 chunks"));
  EXPECT_THAT(complaint("RIFX" + fast.substr(4)), HasSubstr("is not in WAV format"));
}

TEST(audio, that_is_truncated_is_refused) {
  const std::string whole =
      wav(wav_format(1, 16) + wav_chunk("LIST", "odd") + wav_chunk("data", "1234"));
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const temporary_folder files;
    EXPECT_THAT(trial_of(files, whole.substr(0, size)).complaints(),
                ElementsAre(HasSubstr("is truncated")))
        << size;
  }
}

TEST(audio, that_changed_ends_the_run) {
  const temporary_folder files;
  stage_trial trial = trial_of(files, wav(wav_format(1, 16) + wav_chunk("data", "1234")));
  files.write("a.wav", wav(wav_format(1, 16) + "data" + bytes_of(400, 4)));
  EXPECT_THAT([&] { trial.run(); },
              Throws<error>(Property(&error::what, HasSubstr("take 400 bytes, and 0 follow"))));
}

}  // namespace
}  // namespace graphline
