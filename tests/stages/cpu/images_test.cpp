#include <gmock/gmock.h>

#include <array>
#include <filesystem>
#include <utility>
#include <vector>

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
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Property;
using testing::Throws;

const std::string folder = reference_path("images");

std::string parameters(const std::string& from, const std::string& more) {
  return "{folder: '" + from + "', " + more + "}";
}

auto fails_with(const std::string& words, const std::string& more) {
  return Throws<run_error>(Property(&run_error::what, AllOf(HasSubstr(words), HasSubstr(more))));
}

/// Expects this message for a file with a sound header.
void expect_failure(const std::string& name, const std::string& contents, const std::string& words,
                    const std::string& more = "") {
  const temporary_folder files;
  files.write(name, contents);
  stage_trial trial(images_kind(), parameters(files.path(), "batch: 1"));
  ASSERT_THAT(trial.complaints(), IsEmpty());
  EXPECT_THAT([&] { trial.run(); }, fails_with(name + ": " + words, more));
}

/// Expects that a file with this content is refused before the run.
void expect_refusal(const std::string& name, const std::string& contents, const std::string& words,
                    const std::string& more = "") {
  const temporary_folder files;
  files.write(name, contents);
  const stage_trial trial(images_kind(), parameters(files.path(), "batch: 1"));
  EXPECT_THAT(trial.complaints(),
              ElementsAre(AllOf(HasSubstr(name + ": " + words), HasSubstr(more))));
  EXPECT_EQ(trial.problems().all()[0].place.column, 10U);
}

TEST(images, agree_with_pillow) {
  stage_trial trial(images_kind(), parameters(folder, "batch: 5"));
  ASSERT_THAT(trial.complaints(), IsEmpty());
  EXPECT_THAT(trial.prepared().outputs, ElementsAre(tensor_type{{5, 101, 140, 3}, dtype::uint8},
                                                    tensor_type{{5, 2}, dtype::int64}));
  trial.run();
  EXPECT_THAT(trial.output<std::int64_t>(1),
              ElementsAre(47, 61, 20, 18, 40, 40, 101, 131, 53, 140));
  // The first is smaller and padded with zeros.
  const auto expected = reference<std::uint8_t>("image");
  const auto all = trial.output<std::uint8_t>(0);
  for (std::size_t y = 0; y < 101; ++y) {
    for (std::size_t i = 0; i < std::size_t{140} * 3; ++i) {
      const bool inside = y < 47 && i < std::size_t{61} * 3;
      ASSERT_EQ(all[y * 140 * 3 + i], inside ? expected[y * 61 * 3 + i] : 0) << y << ", " << i;
    }
  }
}

TEST(images, are_decoded_at_a_fraction_as_by_pillow) {
  stage_trial trial(images_kind(), parameters(folder, "batch: 5, reduce: 4"));
  ASSERT_THAT(trial.complaints(), IsEmpty());
  EXPECT_EQ(trial.prepared().outputs[0].shape, (shape{5, 26, 35, 3}));
  EXPECT_EQ(trial.run().output<std::uint8_t>(0), reference<std::uint8_t>("image_quarters"));
  EXPECT_THAT(trial.output<std::int64_t>(1), ElementsAre(12, 16, 5, 5, 10, 10, 26, 33, 14, 35));
  EXPECT_THAT(stage_trial(images_kind(), parameters(folder, "batch: 5, reduce: 3")).complaints(),
              ElementsAre("'reduce' must be 1, 2, 4 or 8, found 3"));
}

TEST(images, go_on_with_the_next_files_and_begin_again_after_the_last) {
  stage_trial trial(images_kind(), parameters(folder, "batch: 3"));
  EXPECT_THAT(trial.run(1).output<std::int64_t>(1), ElementsAre(101, 131, 53, 140, 47, 61));
}

TEST(images, are_shared_evenly_by_the_frames_of_a_batch) {
  const stage_trial trial(images_kind(), parameters(folder, "batch: 6"));
  const auto stage = trial.prepared().make_cpu({});
  std::vector<std::vector<std::byte>> written;
  std::vector<tensor_view> outputs;
  for (const tensor_type& type : trial.prepared().outputs) {
    outputs.push_back({written.emplace_back(type.bytes()).data(), type});
  }
  const auto sizes = [&] {
    const auto* from = outputs[1].as<std::int64_t>();
    return std::vector<std::int64_t>(from, from + 12);
  };
  // Two pictures for each frame: the batch from frame 1 on begins with the third picture.
  stage->run({0, {}, outputs, 1});
  const auto of_one = sizes();
  stage->run({1, {}, outputs, 3});
  const auto of_three = sizes();
  EXPECT_EQ(std::vector(of_three.begin(), of_three.begin() + 2),
            std::vector(of_one.begin() + 4, of_one.begin() + 6));
  for (const std::int64_t frames : {4, 8}) {
    EXPECT_THROW(stage->run({0, {}, outputs, frames}), run_error);
  }
}

TEST(images, are_listed_by_name_whatever_the_case_of_the_ending) {
  const temporary_folder files;
  files.write("b.JPEG", file_contents(folder + "/b_larger.jpg"));
  files.write("a.Jpg", file_contents(folder + "/c_grey.jpg"));
  files.write("notes.txt", "not an image");
  fs::create_directory(files.path() / "c.jpg");

  stage_trial found(images_kind(), parameters(files.path(), "batch: 3"));
  ASSERT_THAT(found.complaints(), IsEmpty());
  EXPECT_THAT(found.run().output<std::int64_t>(1), ElementsAre(40, 40, 20, 18, 40, 40))
      << "a.Jpg comes first, and again after the second";
}

TEST(images, complain_about_a_folder_that_is_missing_at_its_place) {
  const stage_trial trial(images_kind(), parameters("/nonexistent/photos", "batch: 1"));
  EXPECT_THAT(trial.complaints(), ElementsAre("cannot read the folder '/nonexistent/photos': No "
                                              "such file or directory"));
  EXPECT_EQ(trial.problems().all()[0].place.column, 10U);
}

TEST(images, fail_on_a_file_that_cannot_or_should_not_be_decoded) {
  const std::string whole = file_contents(folder + "/d_quarter.jpg");
  for (const std::size_t length : {std::size_t{2}, whole.size() / 8}) {
    SCOPED_TRACE(length);
    expect_refusal("cut.jpg", whole.substr(0, length), "", "remature end");
  }
  expect_failure("cut.jpg", whole.substr(0, whole.size() / 2), "", "remature end");
  expect_refusal("notes.jpg", "no image", "Not a JPEG file");
  expect_refusal("pointer.jpg", "version https://git-lfs.github.com/spec/v1\noid sha256:1\n",
                 "it is a Git LFS pointer, not the file: run git lfs pull");
  expect_refusal("print.jpg", file_contents(reference_path("cmyk.jpg")), "it holds CMYK",
                 "convert it to RGB");

  const std::size_t frame_header = whole.find("\xFF\xC0");
  ASSERT_NE(frame_header, std::string::npos);
  std::string vast = whole;
  vast.replace(frame_header + 5, 4, "\xFF\xDC\xFF\xDC");  // height and width: 65500
  expect_refusal("vast.jpg", vast, "65500 x 65500 pixels", "268435456 allowed");

  std::string bomb = whole;
  bomb[frame_header + 1] = '\xC2';  // progressive, of 9728 x 9728 pixels
  for (const std::size_t at : {5U, 7U})
    bomb.replace(frame_header + at, 2, std::string("\x26\x00", 2));
  expect_failure("bomb.jpg", bomb, "",
                 "9728 x 9728 pixels in several scans would take more than 256 MiB");
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

TEST(images, fail_on_a_file_that_has_become_larger) {
  const temporary_folder files;
  files.write("a.jpg", file_contents(folder + "/b_larger.jpg"));
  stage_trial trial(images_kind(), parameters(files.path(), "batch: 1"));
  files.write("a.jpg", file_contents(folder + "/a_smaller.jpg"));
  EXPECT_THAT([&] { trial.run(); },
              fails_with("a.jpg: it became larger than the 18 x 20 pixels", ""));
}

/// An Exif segment with a directory of two entries, of which the second is the orientation.
std::string exif_segment(int orientation, bool little, char type = 3, char count = 1) {
  const auto number = [little](unsigned value, int size) {
    std::string text;
    for (int i = 0; i < size; ++i) {
      text += static_cast<char>(value >> 8 * (little ? i : size - 1 - i) & 0xffU);
    }
    return text;
  };
  const auto entry = [&](unsigned tag, unsigned value) {
    return number(tag, 2) + number(static_cast<unsigned>(type), 2) +
           number(static_cast<unsigned>(count), 4) + number(value, 2) + number(0, 2);
  };
  std::string text = std::string("Exif\0\0", 6) + (little ? "II" : "MM") + number(42, 2) +
                     number(8, 4) + number(2, 2) + entry(0x0100, 7) +
                     entry(0x0112, static_cast<unsigned>(orientation)) + number(0, 4);
  const auto length = static_cast<unsigned>(text.size() + 2);
  return std::string("\xff\xe1") + static_cast<char>(length >> 8) +
         static_cast<char>(length & 0xff) + text;
}

/// A file with this segment; its pixels are those of the file without.
std::string with_segment(const std::string& jpeg, const std::string& segment) {
  return jpeg.substr(0, 2) + segment + jpeg.substr(2);
}

struct picture {
  std::int64_t height;
  std::int64_t width;
  std::vector<std::uint8_t> pixels;

  std::array<std::uint8_t, 3> at(std::int64_t x, std::int64_t y) const {
    const auto i = static_cast<std::size_t>((y * width + x) * 3);
    return {pixels.at(i), pixels.at(i + 1), pixels.at(i + 2)};
  }
};

picture read_picture(const std::string& jpeg, int reduce) {
  const temporary_folder files;
  files.write("a.jpg", jpeg);
  stage_trial trial(images_kind(),
                    parameters(files.path(), "batch: 1, reduce: " + std::to_string(reduce)));
  EXPECT_THAT(trial.complaints(), IsEmpty());
  const auto& extents = trial.prepared().outputs[0].shape;
  trial.run();
  EXPECT_THAT(trial.output<std::int64_t>(1), ElementsAre(extents[1], extents[2]));
  return {extents[1], extents[2], trial.output<std::uint8_t>(0)};
}

TEST(images, are_upright_by_every_orientation_of_exif) {
  enum side { top, bottom, left, right };
  // JEITA CP-3451, 4.6.4: on which visual side row 0 and column 0 are.
  const std::pair<side, side> orientations[] = {{top, left},     {top, right},  {bottom, right},
                                                {bottom, left},  {left, top},   {right, top},
                                                {right, bottom}, {left, bottom}};
  std::string jpeg;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (jpeg.empty() || entry.path().filename() < "b") jpeg = file_contents(entry.path());
  }
  for (const int reduce : {1, 2}) {
    const picture stored = read_picture(jpeg, reduce);
    ASSERT_NE(stored.width, stored.height);
    for (int o = 1; o <= 8; ++o) {
      const auto [row_0, column_0] = orientations[o - 1];
      for (const bool little : {false, true}) {
        const picture seen = read_picture(with_segment(jpeg, exif_segment(o, little)), reduce);
        const bool turned = o > 4;
        ASSERT_EQ(seen.width, turned ? stored.height : stored.width) << o;
        ASSERT_EQ(seen.height, turned ? stored.width : stored.height) << o;
        bool equal = true;
        for (std::int64_t y = 0; y < stored.height; ++y) {
          for (std::int64_t x = 0; x < stored.width; ++x) {
            std::int64_t visual_x = 0;
            std::int64_t visual_y = 0;
            for (const auto& [side, n] : {std::pair(row_0, y), std::pair(column_0, x)}) {
              if (side == top) visual_y = n;
              if (side == bottom) visual_y = seen.height - 1 - n;
              if (side == left) visual_x = n;
              if (side == right) visual_x = seen.width - 1 - n;
            }
            equal = equal && stored.at(x, y) == seen.at(visual_x, visual_y);
          }
        }
        EXPECT_TRUE(equal) << "orientation " << o << ", little endian " << little;
      }
    }
  }
}

TEST(images, are_as_stored_where_exif_makes_no_sense) {
  std::string whole = exif_segment(6, true);
  std::vector<std::string> segments = {exif_segment(0, true), exif_segment(9, false),
                                       exif_segment(6, true, 4), exif_segment(6, true, 3, 2)};
  std::string far = whole;
  far[14] = '\x7f';  // the directory lies far behind the end
  segments.push_back(far);
  // Truncated at every byte, with the right length.
  for (std::size_t size = 4; size < 42; ++size) {
    std::string cut = whole.substr(0, size);
    cut[2] = 0;
    cut[3] = static_cast<char>(size - 2);
    segments.push_back(cut);
  }
  const std::string jpeg = file_contents(fs::directory_iterator(folder)->path());
  const picture stored = read_picture(jpeg, 8);
  for (const auto& segment : segments) {
    EXPECT_EQ(read_picture(with_segment(jpeg, segment), 8).pixels, stored.pixels);
  }
}

TEST(images, let_stray_bytes_between_segments_pass) {
  std::string contents = file_contents(folder + "/a_smaller.jpg");
  contents.insert(2, "stray");  // behind the start-of-image marker
  const temporary_folder files;
  files.write("stray.jpg", contents);
  stage_trial trial(images_kind(), parameters(files.path(), "batch: 1"));
  EXPECT_EQ(trial.run().output<std::uint8_t>(0), reference<std::uint8_t>("image"));
}

}  // namespace
}  // namespace graphline
