#include "framework/base/file/file_trouble.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

#include "framework/base/error.hpp"
#include "framework/base/utf8.hpp"

namespace graphline {

std::string errno_text(int code) {
  if (code == EBADF) return "it is closed";
  return std::generic_category().message(code);
}

std::string shown_path(const std::string& path) {
  return path == "-" ? "standard output" : quote(path, 200);
}

void refuse_to_write(const std::string& path, std::string_view why) {
  throw input_error(fmt::format("cannot write {}: {}", shown_path(path), why));
}

}  // namespace graphline
