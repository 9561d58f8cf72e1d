#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "framework/base/error.hpp"
#include "stages/kinds.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/stages/cpu/many_scans.hpp"
#include "tests/stages/cpu/stage_trial.hpp"

namespace graphline {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pointwise;
using testing::Property;
using testing::SizeIs;
using testing::Throws;

const std::string folder = reference_path("images");

/// Pillow decodes with libjpeg-turbo too, so pixels agree exactly and only the rounding of the
/// interpolation in float32 is left: a few units in the last place of numbers up to 3.
constexpr float rounding = 1e-5F;

std::string parameters(const std::string& from, const std::string& more) {
  return "{folder: '" + from + "', size: [24, 32], " + more + "}";
}

auto fails_with(const std::string& words, const std::string& more) {
  return Throws<run_error>(Property(&run_error::what, AllOf(HasSubstr(words), HasSubstr(more))));
}

/// Reading a file with this content says that of it.
void expect_failure(const std::string& name, const std::string& contents, const std::string& words,
                    const std::string& more = "") {
  const temporary_folder files;
  files.write(name, contents);
  stage_trial trial(images_kind(), parameters(files.path(), "batch: 1"));
  EXPECT_THAT([&] { trial.run(); }, fails_with(name + ": " + words, more));
}

TEST(images, agree_with_pillow_and_torch_interpolate) {
  stage_trial trial(images_kind(), parameters(folder, "batch: 5"));
  ASSERT_THAT(trial.complaints(), IsEmpty());
  EXPECT_THAT(trial.shape().outputs, ElementsAre(tensor_type{{5, 3, 24, 32}, dtype::float32}));
  EXPECT_THAT(trial.run().output<float>(0),
              Pointwise(FloatNear(rounding), reference<float>("images")));
}

TEST(images, can_have_blue_first) {
  const std::vector<float> usual = reference<float>("images");
  stage_trial trial(images_kind(), parameters(folder, "batch: 1, channels: bgr"));
  const std::vector<float> bgr = trial.run().output<float>(0);
  const auto plane = [](const std::vector<float>& of, std::ptrdiff_t c) {
    return std::vector<float>(of.begin() + c * 24 * 32, of.begin() + (c + 1) * 24 * 32);
  };
  for (const std::ptrdiff_t c : {0, 1, 2}) {
    EXPECT_THAT(plane(bgr, 2 - c), Pointwise(FloatNear(rounding), plane(usual, c)));
  }
}

TEST(images, go_on_with_the_next_files_and_begin_again_after_the_last) {
  const std::vector<float> all = reference<float>("images");
  const std::size_t one = all.size() / 5;
  const auto image = [&](std::size_t index) {
    const auto start = all.begin() + static_cast<std::ptrdiff_t>(index * one);
    return std::vector<float>(start, start + static_cast<std::ptrdiff_t>(one));
  };

  stage_trial trial(images_kind(), parameters(folder, "batch: 3"));
  const std::vector<float> second = trial.run(1).output<float>(0);  // files 3, 4, 0
  std::vector<float> expected = image(3);
  for (const std::size_t index : {4U, 0U}) {
    const std::vector<float> next = image(index);
    expected.insert(expected.end(), next.begin(), next.end());
  }
  EXPECT_THAT(second, Pointwise(FloatNear(rounding), expected));
}

TEST(images, are_listed_by_name_whatever_the_case_of_the_ending) {
  const temporary_folder files;
  files.write("b.JPEG", file_contents(folder + "/b_larger.jpg"));
  files.write("a.Jpg", file_contents(folder + "/c_grey.jpg"));
  files.write("notes.txt", "not an image");
  fs::create_directory(files.path() / "c.jpg");

  stage_trial found(images_kind(), parameters(files.path(), "batch: 3"));
  ASSERT_THAT(found.complaints(), IsEmpty());
  const auto three = found.run().output<float>(0);
  const std::size_t one = three.size() / 3;
  EXPECT_TRUE(std::equal(three.begin(), three.begin() + static_cast<std::ptrdiff_t>(one),
                         three.begin() + static_cast<std::ptrdiff_t>(2 * one)))
      << "two files, so the third image is the first again";
  const auto all = reference<float>("images");
  EXPECT_NEAR(three[0], all[2 * one], rounding) << "a.Jpg, the grey one, comes first";
}

TEST(images, complain_about_a_folder_that_is_missing_at_its_place) {
  const stage_trial trial(images_kind(), parameters("/nonexistent/photos", "batch: 1"));
  EXPECT_THAT(trial.complaints(), ElementsAre("cannot read the folder '/nonexistent/photos': No "
                                              "such file or directory"));
  EXPECT_EQ(trial.problems().all()[0].place.column, 10U);
}

TEST(images, complain_about_lists_of_the_wrong_length_and_a_zero_deviation) {
  EXPECT_THAT(
      stage_trial(images_kind(), "{folder: '" + folder + "', size: 24, batch: 1}").complaints(),
      ElementsAre("'size' must hold 2 numbers (height and width), found 1"));
  EXPECT_THAT(stage_trial(images_kind(), parameters(folder, "batch: 1, mean: [0.5]")).complaints(),
              ElementsAre("'mean' must hold 3 numbers (red, green and blue), found 1"));
  EXPECT_THAT(
      stage_trial(images_kind(), parameters(folder, "batch: 1, std: [1, 0, 1]")).complaints(),
      ElementsAre("'std' divides: it must not be 0"));
  EXPECT_THAT(stage_trial(images_kind(), parameters(folder, "batch: 0")).complaints(), SizeIs(1));
}

TEST(images, fail_on_a_file_that_cannot_or_should_not_be_decoded) {
  const std::string whole = file_contents(folder + "/d_quarter.jpg");
  for (const std::size_t length : {std::size_t{2}, whole.size() / 8, whole.size() / 2}) {
    SCOPED_TRACE(length);
    expect_failure("cut.jpg", whole.substr(0, length), "", "remature end");
  }
  expect_failure("print.jpg", file_contents(reference_path("cmyk.jpg")), "it holds CMYK",
                 "convert it to RGB");

  const std::size_t frame_header = whole.find("\xFF\xC0");
  ASSERT_NE(frame_header, std::string::npos);
  std::string vast = whole;
  vast.replace(frame_header + 5, 4, "\xFF\xDC\xFF\xDC");  // height and width: 65500
  expect_failure("vast.jpg", vast, "65500 x 65500 pixels", "268435456 allowed");

  std::string bomb = whole;
  bomb[frame_header + 1] = '\xC2';  // progressive, of 16000 x 16000 pixels
  for (const std::size_t at : {5U, 7U}) bomb.replace(frame_header + at, 2, "\x3E\x80");
  expect_failure("bomb.jpg", bomb, "",
                 "16000 x 16000 pixels in several scans would take more than 256 MiB");
  expect_failure("endless.jpg", jpeg_of_many_scans(8), "it has more than 32 scans");
}

TEST(images, fail_on_a_file_that_has_gone) {
  const temporary_folder files;
  files.write("a.jpg", file_contents(folder + "/b_larger.jpg"));
  stage_trial trial(images_kind(), parameters(files.path(), "batch: 1"));
  trial.run(0);
  fs::remove(files.path() / "a.jpg");
  EXPECT_THAT([&] { trial.run(1); }, fails_with("cannot read ", "No such file or directory"));
}

TEST(images, let_stray_bytes_between_segments_pass) {
  std::string contents = file_contents(folder + "/a_smaller.jpg");
  contents.insert(2, "stray");  // behind the start-of-image marker
  const temporary_folder files;
  files.write("stray.jpg", contents);
  stage_trial trial(images_kind(), parameters(files.path(), "batch: 1"));
  EXPECT_NEAR(trial.run().output<float>(0)[0], reference<float>("images")[0], rounding);
}

}  // namespace
}  // namespace graphline
