#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "framework/base/error.hpp"
#include "framework/report/store/trial_store.hpp"
#include "tests/report/store/trial_store_testing.hpp"

namespace graphline {
namespace {

namespace fs = std::filesystem;
using samples::every_mode;
using samples::sample_plan;
using samples::trial;
using samples::trial_store_test;
using ::testing::HasSubstr;

/// Runs `work` in a process that ends without cleanup; returns its exit status.
template <class Work>
int in_killed_process(Work work) {
  const auto child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(trial_store_test, never_touches_a_file_that_is_no_trial_store) {
  for (const std::string text : {"thesis", "{\"schema\":\"graphline.run/1\"}\n"}) {
    write(path_, text);
    for (const auto how : every_mode) {
      EXPECT_THAT(refusal(how), HasSubstr("is no trial store; name another file"));
      EXPECT_EQ(read(path_), text);
    }
  }
}

TEST_F(trial_store_test, refuses_places_where_no_file_can_be) {
  fs::create_directory(folder_ / "sub");
  write(folder_ / "file", "");
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  const auto before = files();
  for (const auto how : every_mode) {
    const auto at = [&](const std::string& path) { return refusal(how, sample_plan(), path); };
    EXPECT_THAT(at(folder_ / "sub"), HasSubstr("Is a directory"));
    EXPECT_NE(at(folder_ / "file/x"), "opened");
    EXPECT_THAT(at(folder_ / "pipe"), HasSubstr("is no regular file"));
    EXPECT_THAT(at("/dev/full"), HasSubstr("is no regular file"));
    EXPECT_THAT(at("-"), HasSubstr("a file of its own"));
    EXPECT_THAT(at(""), HasSubstr("a file of its own"));
  }
  EXPECT_THAT(refusal(store_opening::fresh, sample_plan(), folder_ / "missing/x"),
              HasSubstr("does not exist; make it first"));
  EXPECT_EQ(files(), before);
}

TEST_F(trial_store_test, is_written_by_one_process_at_a_time) {
  for (const auto held : {store_opening::fresh, store_opening::resume}) {
    const trial_store store(path_, sample_plan(), held);
    for (const auto how : every_mode) {
      EXPECT_EQ(in_killed_process([&] {
                  const auto text = refusal(how);
                  return text.find("is being written already, by another run") == text.npos;
                }),
                0);
    }
  }
}

TEST_F(trial_store_test, has_every_trial_that_a_killed_process_added) {
  EXPECT_EQ(in_killed_process([&] {
              auto* store = new trial_store(path_, sample_plan(), store_opening::fresh);
              for (std::size_t i = 0; i < 4; ++i) store->add(trial(i));
              return 0;
            }),
            0);
  EXPECT_EQ(resumed().size(), 4u);
}

TEST_F(trial_store_test, keeps_every_trial_it_added_while_the_disk_fills_and_goes_on_after) {
  EXPECT_EQ(in_killed_process([&] {
              ::signal(SIGXFSZ, SIG_IGN);
              trial_store store(path_, sample_plan(), store_opening::fresh);
              const auto add_fails = [&](std::size_t number) {
                try {
                  store.add(trial(number));
                  return false;
                } catch (const run_error& e) {
                  return e.what() ==
                         "writing '" + path_ +
                             "' failed: File too large; what was added before (3 trials) is kept "
                             "in it, and --resume goes on from there";
                }
              };
              for (std::size_t i = 0; i < 3; ++i) {
                if (add_fails(i)) return 1;
              }
              const auto full = fs::file_size(path_) + 100;
              for (const auto most : {rlim_t{full}, RLIM_INFINITY}) {
                const rlimit limit{most, RLIM_INFINITY};
                ::setrlimit(RLIMIT_FSIZE, &limit);
                if (add_fails(3) != (most == full)) return 2;
                if (most == full && add_fails(3) != true) return 3;
                if (fs::file_size(path_) < full - 100) return 4;
              }
              return 0;
            }),
            0);
  const auto trials = resumed();
  ASSERT_EQ(trials.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(trials[i].configuration, i % 2);
    EXPECT_EQ(trials[i].block, i / 2);
  }
}

TEST_F(trial_store_test, follows_a_link_instead_of_replacing_it) {
  make(1, true);
  const auto link = (folder_ / "link").string();
  fs::create_symlink("x.trials", link);
  trial_store(link, sample_plan(), store_opening::resume).add(trial(1));
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(resumed().size(), 2u);
}

}  // namespace
}  // namespace graphline
