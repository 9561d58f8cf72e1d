#include "framework/base/file/file_trouble.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "framework/base/error.hpp"
#include "framework/base/text_file.hpp"
#include "framework/base/utf8.hpp"

namespace graphline {

namespace fs = std::filesystem;

std::string errno_text(int code) {
  if (code == EBADF) return "it is closed";
  return std::generic_category().message(code);
}

std::string shown_path(const std::string& path) {
  return path == "-" ? "standard output" : quote(path, 200);
}

std::string why_not_opened(const std::string& path, int code) {
  const auto folder = folder_of(path);
  std::error_code ignored;
  if (code == ENOENT && !fs::exists(folder, ignored)) {
    return fmt::format("the folder {} does not exist; make it first", quote(folder, 200));
  }
  if (code == ENOTDIR) return fmt::format("{} is not a folder", quote(folder, 200));
  if (code == EACCES) return "permission denied; name a file in a folder of yours";
  return errno_text(code);
}

void refuse_to_write(const std::string& path, std::string_view why) {
  throw input_error(fmt::format("cannot write {}: {}", shown_path(path), why));
}

}  // namespace graphline
