// Order in which data reach the disk. Overrides functions of the C library for the whole program:
// they record the call and execute it.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "framework/base/file/output_file.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/report/store/trial_store_testing.hpp"

namespace {

namespace fs = std::filesystem;

std::vector<std::string> calls;

/// "sync NAME with SIZE": what survives a crash from then on.
void note_sync(int descriptor) {
  const auto path = fs::read_symlink("/proc/self/fd/" + std::to_string(descriptor));
  calls.push_back("sync " + path.filename().string() + " with " +
                  std::to_string(fs::file_size(path)));
}

}  // namespace

extern "C" int fsync(int descriptor) {
  note_sync(descriptor);
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

extern "C" int fdatasync(int descriptor) {
  note_sync(descriptor);
  return static_cast<int>(::syscall(SYS_fdatasync, descriptor));
}

extern "C" int rename(const char* from, const char* to) noexcept {
  calls.push_back("rename " + fs::path(from).filename().string() + " to " +
                  fs::path(to).filename().string());
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

namespace graphline {
namespace {

using samples::sample_plan;
using samples::trial;
using samples::trial_store_test;
using testing::ElementsAre;
using testing::MatchesRegex;

std::string sync_of(const std::string& name, std::size_t size) {
  return "sync " + name + " with " + std::to_string(size);
}

TEST(write_order, of_a_result_is_the_whole_text_then_the_disk_then_the_name) {
  const temporary_folder folder;
  const auto path = (folder.path() / "result.json").string();
  for (const std::string text : {"{\nold, and longer\n}\n", "{\n}\n"}) {
    calls.clear();
    output_file file(path);
    EXPECT_THAT(calls, ElementsAre());
    file.commit(text);
    const std::string part = R"(\.result\.json\.graphline-[a-z0-9]{6})";
    EXPECT_THAT(calls,
                ElementsAre(MatchesRegex("sync " + part + " with " + std::to_string(text.size())),
                            MatchesRegex("rename " + part + " to result.json")));
  }
}

TEST_F(trial_store_test, is_on_the_disk_when_it_begins_and_when_it_ends) {
  calls.clear();
  trial_store store(path_, sample_plan(), store_opening::fresh);
  EXPECT_THAT(calls, ElementsAre(sync_of("x.trials", fs::file_size(path_))));
  store.add(trial(0));
  store.end();
  EXPECT_EQ(calls.back(), sync_of("x.trials", fs::file_size(path_)));
}

}  // namespace
}  // namespace graphline
