#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace graphline {

/// A temporary folder, removed on destruction.
class temporary_folder {
 public:
  temporary_folder() {
    std::string name = std::filesystem::temp_directory_path() / "graphline_test_XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

  /// Writes a file, creating its parent folders.
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path_ / name;
  }

  /// Creates a folder with its parents.
  std::filesystem::path make(const std::string& below) const {
    std::filesystem::create_directories(path_ / below);
    return path_ / below;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace graphline
