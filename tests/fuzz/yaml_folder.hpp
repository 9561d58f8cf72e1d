#pragma once

#include <filesystem>

#include "tests/fuzz/target.hpp"

namespace graphline::fuzz {

/// A folder like pipelines/, with the files that inputs name.
class yaml_folder {
 public:
  yaml_folder() {
    namespace fs = std::filesystem;
    const fs::path folder = place_.path();
    fs::create_directory(folder / "experiments");
    for (const auto& entry : fs::directory_iterator(GRAPHLINE_SOURCE_DIR "/pipelines")) {
      const auto name = entry.path().filename();
      if (name != "experiments") fs::create_symlink(entry.path(), folder / name);
    }
  }

  std::string path(const std::string& name) const { return place_.path() / name; }

 private:
  temporary_folder place_;
};

}  // namespace graphline::fuzz
