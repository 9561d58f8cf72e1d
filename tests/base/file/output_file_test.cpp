#include "framework/base/file/output_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/file/file_trouble.hpp"
#include "tests/base/temporary_folder.hpp"

namespace graphline {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class output_file_test : public ::testing::Test {
 protected:
  std::string at(const std::string& name) const { return folder_ / name; }

  static std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }

  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }

  const temporary_folder temporary_;
  const fs::path& folder_ = temporary_.path();
};

/// Message of the exception that the constructor throws.
std::string refusal(const std::string& path) {
  try {
    output_file file(path);
  } catch (const input_error& e) {
    return e.what();
  }
  return "opened";
}

TEST_F(output_file_test, appears_only_when_committed) {
  {
    output_file file(at("result.json"));
    EXPECT_FALSE(fs::exists(at("result.json")));
    file.commit("{\n}\n");
  }
  EXPECT_EQ(read(at("result.json")), "{\n}\n");
  EXPECT_EQ(files(), 1u);
}

TEST_F(output_file_test, holds_a_long_text_whole) {
  output_file file(at("a.json"));
  std::string whole = "{\n";
  // Some of the pieces are handed on together, the longest by itself.
  for (const std::size_t bytes : {100'000, 200'000, 3, 900'000, 70'000}) {
    whole += std::string(bytes, static_cast<char>('a' + bytes % 26));
  }
  file.commit([&](text_sink& to) {
    to.append(whole.substr(0, 2));
    for (std::size_t at = 2; at < whole.size(); at += 99'999) to.append(whole.substr(at, 99'999));
  });
  EXPECT_TRUE(read(at("a.json")) == whole);
}

TEST_F(output_file_test, leaves_an_old_result_alone_until_it_is_committed) {
  write(at("result.json"), "old");
  { const output_file file(at("result.json")); }
  EXPECT_EQ(read(at("result.json")), "old");
  EXPECT_EQ(files(), 1u);
  output_file file(at("result.json"));
  file.commit("{\nnew");
  EXPECT_EQ(read(at("result.json")), "{\nnew");
}

TEST_F(output_file_test, keeps_the_permissions_of_what_it_replaces) {
  write(at("result.json"), "old");
  ASSERT_EQ(::chmod(at("result.json").c_str(), 0640), 0);
  output_file(at("result.json")).commit("new");
  struct stat found {};
  ASSERT_EQ(::stat(at("result.json").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0640u);
}

TEST_F(output_file_test, follows_a_link_instead_of_replacing_it) {
  fs::create_directory(at("real"));
  write(at("real/result.json"), "old");
  fs::create_symlink("real/result.json", at("link.json"));
  output_file(at("link.json")).commit("new");
  EXPECT_TRUE(fs::is_symlink(at("link.json")));
  EXPECT_EQ(read(at("real/result.json")), "new");
}

TEST_F(output_file_test, leaves_every_file_of_the_user_alone) {
  const std::string users[] = {"result.json.part",
                               ".result.json.part",
                               "result.json.graphline-a1b2c3",
                               ".result.json.graphline-notes",
                               ".other.graphline-a1b2c3",
                               ".result.json.graphline-A1B2C3"};
  for (const auto& name : users) write(at(name), name);
  ASSERT_EQ(::mkfifo(at(".result.json.graphline-pppppp").c_str(), 0600), 0);  // is not waited for
  fs::create_symlink(at(users[0]), at(".result.json.graphline-llllll"));
  output_file(at("result.json")).commit("new");
  EXPECT_EQ(read(at("result.json")), "new");
  for (const auto& name : users) EXPECT_EQ(read(at(name)), name);
  EXPECT_EQ(files(), std::size(users) + 3);
}

TEST_F(output_file_test, removes_what_killed_runs_left) {
  write(at(".result.json.graphline-a1b2c3"), std::string(10000, 'x'));
  write(at(".result.json.graphline-000000"), "");
  output_file(at("result.json")).commit("new");
  EXPECT_EQ(read(at("result.json")), "new");
  EXPECT_EQ(files(), 1u);
}

TEST_F(output_file_test, takes_no_name_of_a_temporary_file) {
  EXPECT_THAT(refusal(at(".result.json.graphline-a1b2c3")), HasSubstr("temporary files"));
  EXPECT_EQ(refusal(at("result.json.graphline-a1b2c3")), "opened");
  EXPECT_EQ(refusal(at(".graphline-a1b2c3")), "opened");
}

TEST_F(output_file_test, refuses_paths_that_can_hold_no_file) {
  write(at("file"), "");
  EXPECT_THAT(refusal(at("missing/result.json")),
              AllOf(HasSubstr("cannot write"), HasSubstr("missing/result.json"),
                    HasSubstr("does not exist; make it first")));
  EXPECT_THAT(refusal(folder_), HasSubstr("it is a folder; name a file in it"));
  EXPECT_THAT(refusal(at("new/")), HasSubstr("it is a folder; name a file in it"));
  EXPECT_THAT(refusal(at("file/result.json")), HasSubstr("is not a folder"));
  EXPECT_THAT(refusal(""), HasSubstr("name"));
  EXPECT_THAT(refusal(at(std::string(255, 'x'))), HasSubstr("File name too long"));
}

TEST_F(output_file_test, refuses_a_file_that_is_being_written) {
  output_file first(at("result.json"));
  EXPECT_THAT(refusal(at("result.json")), HasSubstr("is being written already"));
  first.commit("first");
  EXPECT_EQ(read(at("result.json")), "first");
  EXPECT_EQ(files(), 1u);
}

TEST_F(output_file_test, writes_a_device_in_place) {
  output_file file("/dev/null");
  file.commit("{\n}\n");
  EXPECT_FALSE(file.is_standard_output());
}

/// Redirects standard output during a test.
class redirected_output {
 public:
  explicit redirected_output(int to) : before_(::dup(STDOUT_FILENO)) { ::dup2(to, STDOUT_FILENO); }
  ~redirected_output() {
    ::dup2(before_, STDOUT_FILENO);
    ::close(before_);
  }
  redirected_output(const redirected_output&) = delete;
  redirected_output& operator=(const redirected_output&) = delete;

 private:
  int before_;
};

TEST_F(output_file_test, writes_to_standard_output_each_byte_once) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  {
    const redirected_output redirected(pipe[1]);
    output_file file("-");
    EXPECT_TRUE(file.is_standard_output());
    file.commit("{\n}\n");
  }
  ::close(pipe[1]);
  char text[16];
  const auto count = ::read(pipe[0], text, sizeof text);
  EXPECT_EQ(std::string(text, static_cast<std::size_t>(count)), "{\n}\n");
  ::close(pipe[0]);
}

TEST_F(output_file_test, reports_a_reader_that_went_away) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const redirected_output redirected(pipe[1]);
  output_file file("-");
  ::close(pipe[0]);
  EXPECT_THROW(file.commit("{\n}\n"), output_closed);
  ::close(pipe[1]);
  std::signal(SIGPIPE, before);
}

TEST_F(output_file_test, waits_for_a_slow_reader_that_does_not_block) {
  int pipe[2];
  ASSERT_EQ(::pipe2(pipe, O_NONBLOCK), 0);
  const std::string text(1 << 20, 'x');  // more than a pipe holds
  const auto child = ::fork();
  if (child == 0) {
    ::close(pipe[1]);
    ::fcntl(pipe[0], F_SETFL, 0);
    std::size_t total = 0;
    char buffer[4096];
    for (ssize_t got = 0; (got = ::read(pipe[0], buffer, sizeof buffer)) > 0;) {
      total += static_cast<std::size_t>(got);
    }
    ::_exit(total == (1 << 20) ? 0 : 1);
  }
  {
    const redirected_output redirected(pipe[1]);
    output_file("-").commit(text);
  }
  ::close(pipe[1]);
  ::close(pipe[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(output_file_test, can_be_moved_before_it_is_committed) {
  output_file first(at("result.json"));
  output_file second = std::move(first);
  second.commit([](text_sink& to) { to.append("text").append(" and more"); });
  EXPECT_EQ(read(at("result.json")), "text and more");
}

TEST_F(output_file_test, is_committed_once) {
  output_file file(at("result.json"));
  file.commit("text");
  EXPECT_THROW(file.commit("text"), std::logic_error);
}

}  // namespace
}  // namespace graphline
