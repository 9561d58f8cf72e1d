#include "framework/report/trial_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "framework/base/error.hpp"
#include "tests/analysis/sample_records.hpp"
#include "tests/report/random_records.hpp"

namespace graphline {
namespace {

namespace fs = std::filesystem;
using samples::expect_same;
using samples::random_trial;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

/// Two configurations of one pipeline, three trials of each.
experiment_plan sample_plan() {
  experiment_plan planned;
  planned.name = "sync_vs_event";
  planned.how.trials = 3;
  planned.files = {{"sync_vs_event.yaml", "0000000000000001"},
                   {"two_models.yaml", "0000000000000002"},
                   {"device", "host"}};
  for (const auto method : {timing_method::sync, timing_method::event}) {
    plan member;
    member.pipeline = "two_models";
    member.parameters = {{"batch", "1"}};
    member.run.timing = method;
    const auto word = std::string(to_word(method));
    planned.configurations.push_back(
        {{"timing=" + word, {{"timing", word}}, {"two_models"}}, {std::move(member)}});
  }
  planned.pairs = {{{1, 0}, {0, 0}}};
  return planned;
}

trial_record trial(std::size_t number) {
  return {number % 2, number / 2, 10, {samples::two_models(timing_method::event, 2)}};
}

class trial_store_test : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "graphline_trials_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    path_ = folder_ / "x.trials";
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }

  /// Makes the store with its first `count` trials.
  void make(std::size_t count, bool ended = false) {
    trial_store store(path_, sample_plan(), store_opening::overwrite);
    for (std::size_t i = 0; i < count; ++i) store.add(trial(i));
    if (ended) store.end();
  }

  std::vector<trial_record> resumed() {
    return trial_store(path_, sample_plan(), store_opening::resume).take_trials();
  }

  /// Changes the first occurrence of a text in the store.
  void replace(const std::string& what, const std::string& by) {
    auto text = read(path_);
    const auto at = text.find(what);
    ASSERT_NE(at, text.npos) << what;
    write(path_, text.replace(at, what.size(), by));
  }

  std::string refusal(store_opening how, const experiment_plan& planned = sample_plan(),
                      std::optional<std::string> path = std::nullopt) {
    try {
      const trial_store store(path.value_or(path_), planned, how);
    } catch (const input_error& e) {
      return e.what();
    }
    return "opened";
  }

  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }

  fs::path folder_;
  std::string path_;
};

constexpr auto every_mode = {store_opening::fresh, store_opening::resume, store_opening::overwrite};

TEST_F(trial_store_test, gives_back_every_trial_when_it_is_resumed) {
  std::vector<trial_record> made;
  {
    trial_store store(path_, sample_plan(), store_opening::fresh);
    EXPECT_TRUE(store.take_trials().empty());
    for (std::uint64_t i = 0; i < 6; ++i) {
      made.push_back(random_trial(i, 1, 4));
      made.back().configuration = i % 2;
      made.back().members[0].device = made[0].members[0].device;
      store.add(made.back());
    }
  }
  const auto back = resumed();
  ASSERT_EQ(back.size(), made.size());
  for (std::size_t i = 0; i < made.size(); ++i) expect_same(back[i], made[i]);
  EXPECT_EQ(files(), 1u);
}

TEST_F(trial_store_test, is_one_line_for_the_experiment_and_one_for_each_trial) {
  make(2, true);
  const auto text = read(path_);
  EXPECT_TRUE(text.starts_with(R"({"schema":"graphline.trials/1","name":"sync_vs_event",)"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
  EXPECT_THAT(text, EndsWith("\n{\"ended\":\"\"}\n"));
}

TEST_F(trial_store_test, goes_on_where_it_was_left) {
  make(2);
  {
    trial_store store(path_, sample_plan(), store_opening::resume);
    EXPECT_EQ(store.take_trials().size(), 2u);
    EXPECT_TRUE(store.take_trials().empty());
    store.add(trial(2));
  }
  EXPECT_EQ(resumed().size(), 3u);
}

TEST_F(trial_store_test, cut_anywhere_in_its_last_line_has_the_trials_before_it) {
  make(2);
  const auto two = read(path_);
  make(3);
  const auto three = read(path_);
  ASSERT_EQ(three.compare(0, two.find('\n'), two, 0, two.find('\n')), 0);
  for (auto length = two.size(); length < three.size(); ++length) {
    write(path_, three.substr(0, length));
    trial_store store(path_, sample_plan(), store_opening::resume);
    ASSERT_EQ(store.take_trials().size(), 2u) << length;
    // Each addition is a write to the disk: some lengths stand for all.
    if ((length - two.size()) % 97 != 0) continue;
    store.add(trial(2));
    store.end();
    ASSERT_EQ(read(path_).substr(two.size()), three.substr(two.size()) + "{\"ended\":\"\"}\n");
  }
}

TEST_F(trial_store_test, passes_over_a_last_line_that_lost_its_middle) {
  make(2);
  const auto two = read(path_);
  write(path_, two + std::string(50, '\0') + "]}}\n");
  EXPECT_EQ(resumed().size(), 2u);
  trial_store(path_, sample_plan(), store_opening::resume).add(trial(2));
  EXPECT_EQ(resumed().size(), 3u);
}

TEST_F(trial_store_test, names_a_line_that_is_damaged_before_the_last) {
  make(3);
  replace(R"({"trial":{"configuration":1)", R"({"trial":{"configuration":[)");
  EXPECT_THAT(refusal(store_opening::resume),
              AllOf(HasSubstr("line 3 of '"), HasSubstr("is damaged"),
                    HasSubstr("cut the file before that line, or begin anew with --overwrite")));
  make(1);
  replace(R"({"trial":{"configuration":0)", R"({"trial":{"configuration":7)");
  EXPECT_THAT(refusal(store_opening::resume),
              HasSubstr("line 2 of '" + path_ +
                        "' is damaged: trial.configuration is 7, where one of the configurations "
                        "is expected"));
  make(1);
  replace(R"("members":[{"pipeline")", R"("members":[],"was":[{"pipeline")");
  EXPECT_THAT(refusal(store_opening::resume),
              HasSubstr("0 entries, where the configuration has 1"));
  make(1);
  replace(R"({"trial":)", R"({"trail":)");
  EXPECT_THAT(refusal(store_opening::resume), HasSubstr("line lacks 'trial'"));
}

TEST_F(trial_store_test, refuses_to_resume_what_is_not_there) {
  EXPECT_THAT(refusal(store_opening::resume), HasSubstr("leave --resume away to begin"));
  EXPECT_EQ(files(), 0u);
}

TEST_F(trial_store_test, has_all_trials_of_an_experiment_that_ended) {
  make(6, true);
  const auto before = read(path_);
  {
    trial_store store(path_, sample_plan(), store_opening::resume);
    EXPECT_EQ(store.take_trials().size(), 6u);
    store.end();
  }
  EXPECT_EQ(read(path_), before);
}

TEST_F(trial_store_test, takes_further_trials_of_an_experiment_that_ended) {
  make(6, true);
  auto planned = sample_plan();
  planned.how.trials = 10;
  planned.how.time_limit = 1;
  {
    trial_store store(path_, planned, store_opening::resume);
    store.add(trial(6));
    store.end("the time limit was reached");
  }
  EXPECT_EQ(resumed().size(), 7u);
  EXPECT_THAT(read(path_), EndsWith("{\"ended\":\"the time limit was reached\"}\n"));
  EXPECT_EQ(read(path_).find("ended\":\"\""), std::string::npos);
}

TEST_F(trial_store_test, keeps_an_ended_one_as_the_previous_when_it_begins_anew) {
  make(2, true);
  const auto before = read(path_);
  for (int times = 0; times < 2; ++times) {
    trial_store store(path_, sample_plan(), store_opening::fresh);
    store.end();
  }
  EXPECT_EQ(resumed().size(), 0u);
  EXPECT_NE(read(path_ + ".previous"), before);
  EXPECT_EQ(files(), 2u);
}

TEST_F(trial_store_test, does_not_begin_anew_over_one_that_has_not_ended) {
  make(5);
  const auto before = read(path_);
  EXPECT_THAT(refusal(store_opening::fresh),
              AllOf(HasSubstr("it holds 5 of 6 trials of an experiment begun on 20"),
                    HasSubstr("has not ended; go on with it by --resume, or discard it by "
                              "--overwrite")));
  EXPECT_EQ(read(path_), before);
  EXPECT_EQ(files(), 1u);
}

TEST_F(trial_store_test, begins_anew_over_anything_of_its_own_when_told_to) {
  make(5);
  EXPECT_EQ(refusal(store_opening::overwrite), "opened");
  EXPECT_EQ(resumed().size(), 0u);
  EXPECT_EQ(files(), 1u);
}

TEST_F(trial_store_test, never_touches_a_file_that_is_no_trial_store) {
  for (const std::string text : {"", "thesis", "{\"schema\":\"graphline.run/1\"}\n"}) {
    write(path_, text);
    for (const auto how : every_mode) {
      EXPECT_THAT(refusal(how), HasSubstr("is no trial store; name another file"));
      EXPECT_EQ(read(path_), text);
    }
  }
  fs::remove(path_);
  make(1, true);
  write(path_ + ".previous", "thesis");
  EXPECT_THAT(refusal(store_opening::fresh), HasSubstr("move one of them away"));
  EXPECT_EQ(read(path_ + ".previous"), "thesis");
  EXPECT_EQ(resumed().size(), 1u);
}

TEST_F(trial_store_test, refuses_places_where_no_file_can_be) {
  fs::create_directory(folder_ / "sub");
  write(folder_ / "file", "");
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  const auto before = files();
  for (const auto how : every_mode) {
    const auto at = [&](const std::string& path) { return refusal(how, sample_plan(), path); };
    EXPECT_THAT(at(folder_ / "sub"), HasSubstr("it is a folder; name a file in it"));
    EXPECT_THAT(at(folder_ / "file/x"), HasSubstr("is not a folder"));
    EXPECT_THAT(at(folder_ / "pipe"), HasSubstr("it is no regular file"));
    EXPECT_THAT(at("/dev/full"), HasSubstr("it is no regular file"));
    EXPECT_THAT(at("-"), HasSubstr("a file of its own"));
    EXPECT_THAT(at(""), HasSubstr("a file of its own"));
  }
  EXPECT_THAT(refusal(store_opening::fresh, sample_plan(), folder_ / "missing/x"),
              HasSubstr("does not exist; make it first"));
  EXPECT_EQ(files(), before);
}

TEST_F(trial_store_test, refuses_a_store_that_it_must_not_write) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  make(1);
  ASSERT_EQ(::chmod(path_.c_str(), 0400), 0);
  EXPECT_THAT(refusal(store_opening::resume), HasSubstr("Permission denied"));
}

TEST_F(trial_store_test, says_which_version_a_store_is_of_and_which_it_reads) {
  make(1, true);
  replace("graphline.trials/1", "graphline.trials/2");
  for (const auto how : {store_opening::fresh, store_opening::resume}) {
    EXPECT_THAT(refusal(how), AllOf(HasSubstr("holds trials as 'graphline.trials/2', this program "
                                              "reads graphline.trials/1"),
                                    HasSubstr("begin anew with --overwrite")));
  }
  EXPECT_EQ(refusal(store_opening::overwrite), "opened");
}

TEST_F(trial_store_test, is_damaged_without_its_first_line) {
  make(1, true);
  write(path_, read(path_).substr(0, 40));
  for (const auto how : {store_opening::fresh, store_opening::resume}) {
    EXPECT_THAT(refusal(how), HasSubstr("the first line of '" + path_ + "' is damaged"));
  }
}

/// What resuming the sample store says when the experiment is not what it was.
class changed_experiment_test : public trial_store_test {
 protected:
  template <class Change>
  std::string said(Change change) {
    make(1);
    const auto before = read(path_);
    auto planned = sample_plan();
    change(planned);
    const auto text = refusal(store_opening::resume, planned);
    EXPECT_EQ(read(path_), before);
    const auto prefix = "cannot go on with '" + path_ + "': ";
    return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
  }
};

TEST_F(changed_experiment_test, names_the_files_that_have_changed) {
  EXPECT_EQ(said([](auto& planned) { planned.files[1].second = "3"; }),
            "'two_models.yaml' has changed since these trials were made; restore it, or begin anew "
            "with --overwrite");
  EXPECT_EQ(said([](auto& planned) {
              planned.files[0].second = "4";
              planned.files[1].second = "3";
            }),
            "'sync_vs_event.yaml' and 'two_models.yaml' have changed since these trials were made; "
            "restore them, or begin anew with --overwrite");
}

TEST_F(changed_experiment_test, knows_a_file_by_its_text) {
  EXPECT_EQ(said([](auto& planned) { planned.files[0].first = "../here/sync_vs_event.yaml"; }),
            "opened");
  EXPECT_EQ(said([](auto& planned) {
              planned.files[0] = {"other.yaml", "9"};
            }),
            "these trials were made without 'other.yaml'; name another file for new ones, or begin "
            "anew with --overwrite");
  EXPECT_THAT(said([](auto& planned) { planned.files[0].second = planned.files[1].second; }),
              HasSubstr("'sync_vs_event.yaml' has changed"));
}

TEST_F(changed_experiment_test, names_the_setting_that_is_another) {
  const std::string remedy = " now; set it as it was, or begin anew with --overwrite";
  const std::string when = " when these trials were made and is ";
  EXPECT_EQ(said([](auto& planned) { planned.files[2].second = "cuda"; }),
            "the 'device' was host" + when + "cuda" + remedy);
  EXPECT_EQ(
      said([](auto& planned) { planned.configurations[1].members[0].parameters[0].second = "8"; }),
      "in configuration 'timing=event', 'batch' was 1" + when + "8" + remedy);
  EXPECT_EQ(said([](auto& planned) { planned.configurations[0].members[0].parameters.clear(); }),
            "in configuration 'timing=sync', 'batch' was 1" + when + "not there" + remedy);
  EXPECT_EQ(
      said([](auto& planned) { planned.configurations[0].members[0].run.wait = wait_mode::spin; }),
      "in configuration 'timing=sync', 'wait' was block" + when + "spin" + remedy);
  EXPECT_EQ(said([](auto& planned) { planned.configurations[0].members[0].run.deadline = 5; }),
            "in configuration 'timing=sync', 'deadline_ns' was null" + when + "5" + remedy);
  EXPECT_EQ(said([](auto& planned) { planned.how.seed = 2; }),
            "'seed' was 1" + when + "2" + remedy);
  EXPECT_EQ(said([](auto& planned) { planned.how.fresh_processes = true; }),
            "'processes' was one" + when + "fresh" + remedy);
}

TEST_F(changed_experiment_test, is_another_with_other_configurations) {
  EXPECT_THAT(
      said([](auto& planned) { planned.configurations.pop_back(); }),
      HasSubstr("the experiment had 2 configurations when these trials were made and has 1"));
  EXPECT_THAT(said([](auto& planned) { planned.configurations[1].what.name = "renamed"; }),
              HasSubstr("'configuration' was timing=event when these trials were made and is "
                        "renamed now"));
  EXPECT_THAT(said([](auto& planned) {
                auto& configuration = planned.configurations[1];
                configuration.members.push_back(configuration.members[0]);
                configuration.what.members.push_back("twin");
              }),
              HasSubstr("configuration 'timing=event' had 1 pipelines"));
}

TEST_F(changed_experiment_test, is_another_with_another_name) {
  EXPECT_EQ(said([](auto& planned) { planned.name = "sync \"and\"\nevent"; }),
            "these are trials of the experiment 'sync_vs_event', not of 'sync \"and\"?event'; name "
            "another file, or begin anew with --overwrite");
}

TEST_F(changed_experiment_test, may_be_judged_otherwise) {
  EXPECT_EQ(said([](auto& planned) {
              planned.how.trials = 99;
              planned.how.narrow_to = 0.01;
              planned.how.margin = 0.02;
              planned.how.tail = 0.99;
              planned.how.repeat_affected = true;
              planned.description = "told in other words";
            }),
            "opened");
}

TEST_F(changed_experiment_test, is_another_to_another_version_of_the_program) {
  make(1);
  replace(R"("graphline":")", R"("graphline":"9.)");
  EXPECT_THAT(refusal(store_opening::resume), HasSubstr("'graphline' was 9."));
}

TEST_F(trial_store_test, holds_names_of_any_script) {
  auto planned = sample_plan();
  planned.name = planned.configurations[0].what.name = "\"quoted\"\n名前 \\ ü";
  planned.files[0].first = "наш \"файл\".yaml";
  trial_store(path_, planned, store_opening::fresh).add(trial(0));
  EXPECT_EQ(trial_store(path_, planned, store_opening::resume).take_trials().size(), 1u);
}

/// Runs `work` in a process that ends without tidying up; returns its exit status.
template <class Work>
int in_killed_process(Work work) {
  const auto child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
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

TEST_F(trial_store_test, keeps_what_it_has_when_the_disk_is_full) {
  make(3);
  const auto before = read(path_);
  // A limit on the size of files stands for the disk; it holds for the whole process.
  EXPECT_EQ(in_killed_process([&] {
              ::signal(SIGXFSZ, SIG_IGN);
              trial_store store(path_, sample_plan(), store_opening::resume);
              const rlimit limit{before.size() + 100, before.size() + 100};
              ::setrlimit(RLIMIT_FSIZE, &limit);
              try {
                store.add(trial(3));
              } catch (const run_error& e) {
                const std::string text = e.what();
                const bool says = text.find("writing '" + path_ +
                                            "' failed: File too large; the 3 "
                                            "trials before are kept in it, and --resume goes on "
                                            "from there") != text.npos;
                return says ? 0 : 2;
              }
              return 1;
            }),
            0);
  EXPECT_EQ(read(path_), before);
  EXPECT_EQ(resumed().size(), 3u);
}

TEST_F(trial_store_test, leaves_what_was_there_when_a_new_one_cannot_be_begun) {
  make(3, true);
  const auto before = read(path_);
  for (const auto how : {store_opening::fresh, store_opening::overwrite}) {
    EXPECT_EQ(in_killed_process([&] {
                ::signal(SIGXFSZ, SIG_IGN);
                const rlimit limit{100, 100};
                ::setrlimit(RLIMIT_FSIZE, &limit);
                return refusal(how).find("File too large") == std::string::npos;
              }),
              0);
    EXPECT_EQ(read(path_), before);
    EXPECT_EQ(files(), 1u);
  }
}

TEST_F(trial_store_test, does_not_mix_trials_of_two_devices) {
  make(1);
  auto elsewhere = trial(1);
  elsewhere.members[0].device.name = "Another CPU";
  try {
    trial_store(path_, sample_plan(), store_opening::resume).add(elsewhere);
    FAIL() << "was added";
  } catch (const run_error& e) {
    EXPECT_THAT(e.what(), AllOf(HasSubstr("on Another CPU (host)"),
                                HasSubstr("ran on Example CPU at 2.1 GHz (host)")));
  }
  EXPECT_EQ(resumed().size(), 1u);
}

TEST_F(trial_store_test, follows_a_link_instead_of_replacing_it) {
  make(1, true);
  const auto link = (folder_ / "link").string();
  fs::create_symlink("x.trials", link);
  EXPECT_EQ(refusal(store_opening::fresh, sample_plan(), link), "opened");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_TRUE(fs::exists(path_ + ".previous"));
}

}  // namespace
}  // namespace graphline
