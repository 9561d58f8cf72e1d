#include "framework/base/file/unfinished_files.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "framework/base/file/output_file.hpp"
#include "tests/base/temporary_folder.hpp"

namespace graphline {
namespace {

namespace fs = std::filesystem;

class unfinished_files : public ::testing::Test {
 protected:
  std::string made(const std::string& name) const { return folder_.write(name, "text"); }

  temporary_folder folder_;
};

TEST_F(unfinished_files, are_removed_and_no_others) {
  const std::string first = made("first");
  const std::string second = made("second");
  const std::string whole = made("whole");
  note_unfinished(first);
  note_unfinished(whole);
  note_unfinished(second);
  note_finished(whole);
  remove_unfinished();
  EXPECT_FALSE(fs::exists(first));
  EXPECT_FALSE(fs::exists(second));
  EXPECT_TRUE(fs::exists(whole));
  note_unfinished(whole);
  remove_unfinished();
  EXPECT_FALSE(fs::exists(whole));
}

TEST_F(unfinished_files, are_the_parts_of_results_until_they_are_committed_or_discarded) {
  const std::string path = folder_ / "r.json";
  {
    output_file file(path);
    ASSERT_TRUE(fs::exists(path + ".part"));
    remove_unfinished();
    EXPECT_FALSE(fs::exists(path + ".part"));
  }
  output_file(path).commit("{}");
  made("r.json.part");  // somebody else's by now
  remove_unfinished();
  EXPECT_TRUE(fs::exists(path));
  EXPECT_TRUE(fs::exists(path + ".part"));
}

volatile std::sig_atomic_t heard = 0;

TEST(signals_held, come_when_nothing_holds_them_any_more) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const auto before = std::signal(signal, [](int) { heard = heard + 1; });
    heard = 0;
    {
      const signals_held held;
      std::raise(signal);
      EXPECT_EQ(heard, 0);
    }
    EXPECT_EQ(heard, 1);
    std::signal(signal, before);
  }
}

}  // namespace
}  // namespace graphline
