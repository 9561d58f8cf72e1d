#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <thread>

#include "framework/base/error.hpp"
#include "framework/spec/pipeline_reader.hpp"
#include "tests/base/temporary_folder.hpp"

namespace graphline {
namespace {

class read_source_test : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    return folder_.write(name, text);
  }
  std::string path(const std::string& name) const { return folder_ / name; }

  /// The error for an unreadable file, without its path.
  static std::string refusal(const std::string& path) {
    try {
      read_source(path);
    } catch (const input_error& e) {
      const std::string said = e.what();
      EXPECT_EQ(said.rfind(path, 0), 0U) << said;
      return said.substr(path.size());
    }
    return "it was read";
  }

 private:
  temporary_folder folder_;
};

TEST_F(read_source_test, gives_name_and_text) {
  const std::string file = write("a.yaml", "\xef\xbb\xbfpipeline: p\r\n");
  const auto source = read_source(file);
  EXPECT_EQ(source->name(), file);
  EXPECT_EQ(source->text(), "pipeline: p\r\n");
}

TEST_F(read_source_test, suggests_a_file_of_nearly_that_name) {
  write("two_models.yaml", "pipeline: p");
  EXPECT_EQ(refusal(path("two_model.yaml")),
            ": error: there is no such file (did you mean 'two_models.yaml'?)");
  EXPECT_EQ(refusal(path("camera.json")), ": error: there is no such file");
  EXPECT_EQ(refusal(path("no_folder/a.yaml")), ": error: there is no such file");
}

TEST_F(read_source_test, refuses_empty_files_and_folders) {
  EXPECT_EQ(refusal(write("a.yaml", "")), ": error: the file is empty");
  EXPECT_EQ(refusal(path("")), ": error: this is a folder; a file is expected");
}

TEST_F(read_source_test, refuses_binary_files) {
  EXPECT_EQ(refusal(write("a.yaml", std::string("\x7f"
                                                "ELF\0\1",
                                                6))),
            ": error: this is a binary file, not YAML");
  EXPECT_EQ(refusal(write("a.yaml", "a: \xff")),
            ":1:4: error: the byte 0xff is not UTF-8; save the file as UTF-8\n"
            "    1 | a: ?\n"
            "      |    ^");
}

TEST_F(read_source_test, reads_16_mebibytes_and_no_more) {
  constexpr std::size_t limit = std::size_t{16} << 20;
  EXPECT_EQ(read_source(write("a.yaml", std::string(limit, '#')))->text().size(), limit);
  EXPECT_EQ(refusal(write("a.yaml", std::string(limit + 1, '#'))),
            ": error: it is larger than 16 MiB, the most that is read");
  EXPECT_THROW(read_source("/dev/zero", named_by::user), input_error);
}

TEST_F(read_source_test, waits_for_nothing_that_a_file_names) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  for (const auto& name : {path("pipe"), std::string("/dev/null"), std::string("/dev/zero")}) {
    EXPECT_EQ(refusal(name), ": error: this is not a regular file");
  }
}

TEST_F(read_source_test, reads_a_pipe_that_a_user_names) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  std::thread writer([this] { write("pipe", "pipeline: p"); });
  EXPECT_EQ(read_source(path("pipe"), named_by::user)->text(), "pipeline: p");
  writer.join();
}

TEST_F(read_source_test, names_a_lack_of_permission) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const std::string file = write("a.yaml", "pipeline: p");
  std::filesystem::permissions(file, std::filesystem::perms::none);
  EXPECT_EQ(refusal(file), ": error: no permission to read it");
}

TEST_F(read_source_test, names_what_else_the_system_says) {
  EXPECT_EQ(refusal(write("a.yaml", "x") + "/b.yaml"),
            ": error: it cannot be opened: Not a directory");
}

}  // namespace
}  // namespace graphline
