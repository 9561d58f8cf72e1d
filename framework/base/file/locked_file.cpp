#include "framework/base/file/locked_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "framework/base/utf8.hpp"
#include "framework/base/file/file_trouble.hpp"

namespace graphline {

namespace {

/// Two descriptors or names of one file?
bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

void lock(int descriptor, const std::string& name, const std::string& path) {
  struct stat opened {};
  struct stat named {};
  // Whoever holds the lock is writing. The name may have gone between opening and locking: the
  // other run put what was opened elsewhere.
  const bool locked = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
  if (!locked || ::fstat(descriptor, &opened) != 0 || ::stat(name.c_str(), &named) != 0 ||
      !same_file(opened, named)) {
    refuse_to_write(path, "it is being written already, by another run or for another option");
  }
  if (!S_ISREG(opened.st_mode)) {
    refuse_to_write(path, fmt::format("{} is in the way", quote(name, 200)));
  }
}

}  // namespace

int open_locked(const std::string& name, int flags, const std::string& path) {
  const int descriptor = ::open(name.c_str(), flags | O_CLOEXEC, 0666);
  if (descriptor < 0) refuse_to_write(path, why_not_opened(name, errno));
  try {
    lock(descriptor, name, path);
  } catch (...) {
    ::close(descriptor);
    throw;
  }
  return descriptor;
}

}  // namespace graphline
