#include "stages/nn/cuda/tuning_cache.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/base/temporary_folder.hpp"

namespace graphline::nn {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& file, const std::string& text) {
  std::ofstream(file) << text;
}

TEST(tuning_cache, remembers_plans_for_the_next_process) {
  const temporary_folder folder;
  tuning_cache(folder.path() / "new").store("a", {"eng7_k2=1", 1'234'567});
  tuning_cache(folder.path() / "new").store("b", {"eng8", 2});
  const auto found = tuning_cache(folder.path() / "new").find("a");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->identity, "eng7_k2=1");
  EXPECT_EQ(found->time, 1'234'567);
  EXPECT_FALSE(tuning_cache(folder.path() / "new").find("c"));
}

TEST(tuning_cache, takes_an_unreadable_file_for_an_empty_one_and_replaces_it) {
  for (const std::string text :
       {"", "{", "[]",
        R"({"schema": "graphline.tuning/2", "plans": {"a": {"plan": "x", "ns": 1}}})",
        R"({"schema": "graphline.tuning/1", "plans": []})",
        R"({"schema": "graphline.tuning/1", "plans": {"a": {"plan": 2, "ns": 1}}})"}) {
    const temporary_folder folder;
    write(folder.path() / "tuning.json", text);
    tuning_cache cache(folder.path());
    EXPECT_FALSE(cache.find("a")) << text;
    cache.store("a", {"eng7", 1});
    EXPECT_TRUE(cache.find("a")) << text;
  }
}

TEST(tuning_cache, does_without_a_file_where_none_can_be_written) {
  const temporary_folder folder;
  write(folder.path() / "file", "");
  for (const fs::path& nowhere : {folder.path() / "file" / "below", fs::path()}) {
    tuning_cache cache(nowhere);
    EXPECT_NO_THROW(cache.store("a", {"eng7", 1}));
    EXPECT_FALSE(cache.find("a"));
  }
}

TEST(tuning_cache, stays_whole_when_several_write_at_once) {
  const temporary_folder folder;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = 0; i < 20; ++i) {
        tuning_cache(folder.path()).store(std::to_string(writer * 100 + i), {"eng7", i});
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  const tuning_cache cache(folder.path());
  for (int writer = 0; writer < 4; ++writer) {
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(cache.find(std::to_string(writer * 100 + i)));
  }
  const auto files = std::distance(fs::directory_iterator(folder.path()), {});
  EXPECT_EQ(files, 1) << "parts were left over";
}

}  // namespace
}  // namespace graphline::nn
