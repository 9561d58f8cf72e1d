#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/report/store/trial_store.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/report/store/sample_plan.hpp"

namespace graphline::samples {

/// A folder with a place for a trial store.
class trial_store_test : public ::testing::Test {
 protected:
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
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

  temporary_folder whole_;
  std::filesystem::path folder_ = whole_.path();
  std::string path_ = folder_ / "x.trials";
};

inline constexpr auto every_mode = {store_opening::fresh, store_opening::resume,
                                    store_opening::overwrite};

}  // namespace graphline::samples
