#include "framework/base/file/locked_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "framework/base/file/file_trouble.hpp"
#include "framework/base/text_file.hpp"
#include "framework/base/utf8.hpp"

namespace graphline {

namespace {

bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// Returns why a file could not be opened for writing, and the remedy.
std::string why_not_opened(const std::string& path, int code) {
  const auto folder = folder_of(path);
  std::error_code ignored;
  if (code == ENOENT && !std::filesystem::exists(folder, ignored)) {
    return fmt::format("the folder {} does not exist; make it first", quote(folder, 200));
  }
  if (code == ENOTDIR) return fmt::format("{} is not a folder", quote(folder, 200));
  if (code == EACCES) return "permission denied; name a file in a folder of yours";
  return errno_text(code);
}

[[noreturn]] void refuse_what_is_there(const std::string& name, const std::string& path) {
  refuse_to_write(
      path, fmt::format("{} is in the way and is no regular file; move it away", quote(name, 200)));
}

void lock(int descriptor, const std::string& name, const std::string& path) {
  struct stat opened {};
  struct stat named {};
  if (::fstat(descriptor, &opened) == 0 && !S_ISREG(opened.st_mode))
    refuse_what_is_there(name, path);
  // Another run locks the file while it writes, and may have renamed it since `open`.
  const bool locked = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
  if (!locked || ::stat(name.c_str(), &named) != 0 || !same_file(opened, named)) {
    refuse_to_write(path, "it is being written already, by another run or for another option");
  }
}

}  // namespace

std::string resolve_links(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr int most_links = 40;  // Linux's limit
  std::error_code none;
  fs::path end(path);
  for (int links = 0; links < most_links && fs::is_symlink(end, none); ++links) {
    end = end.parent_path() / fs::read_symlink(end, none);
  }
  return end.string();
}

int open_locked(const std::string& name, int flags, const std::string& path) {
  // With O_NONBLOCK, opening a pipe without a reader fails with ENXIO instead of blocking.
  const int descriptor = ::open(name.c_str(), flags | O_CLOEXEC | O_NONBLOCK, 0666);
  if (descriptor < 0 && (errno == ENXIO || errno == ELOOP)) refuse_what_is_there(name, path);
  if (descriptor < 0) refuse_to_write(path, why_not_opened(name, errno));
  try {
    lock(descriptor, name, path);
  } catch (...) {
    ::close(descriptor);
    throw;
  }
  return descriptor;
}

int write_fully(int descriptor, std::string_view text) noexcept {
  while (!text.empty()) {
    const auto written = ::write(descriptor, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd ready{descriptor, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace graphline
