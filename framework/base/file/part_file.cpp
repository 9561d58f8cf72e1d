#include "framework/base/file/part_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <random>

#include "framework/base/file/file_trouble.hpp"
#include "framework/base/file/locked_file.hpp"
#include "framework/base/text_file.hpp"

namespace graphline {
namespace {

constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::string_view mark = ".graphline-";
constexpr std::size_t random_letters = 6;

/// ".NAME.graphline-"
std::string beginning_of(const std::string& target) {
  std::string beginning = "." + std::filesystem::path(target).filename().string();
  return beginning.append(mark);
}

std::string random_name() {
  std::random_device source;
  std::uniform_int_distribution<std::size_t> any(0, letters.size() - 1);
  std::string name(random_letters, ' ');
  for (char& c : name) c = letters[any(source)];
  return name;
}

bool is_random_name(std::string_view text) {
  return text.size() == random_letters && text.find_first_not_of(letters) == text.npos;
}

/// Removes a part whose run has ended: nobody holds its lock. False where a run does.
bool remove_left_over(const std::string& name) {
  const int descriptor = ::open(name.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (descriptor < 0) return true;
  struct stat found {};
  const bool regular = ::fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode);
  const bool locked = regular && ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  const bool held = regular && !locked && errno == EWOULDBLOCK;
  if (locked) ::unlink(name.c_str());
  ::close(descriptor);
  return !held;
}

/// Removes the parts of `target` that killed runs left, but `own`. False where a run holds one.
bool remove_left_overs(const std::string& target, const std::string& own) {
  struct closer {
    void operator()(DIR* opened) const noexcept { ::closedir(opened); }
  };
  // Not std::filesystem, which ends the program where memory runs out while it lists a folder.
  const std::string folder = folder_of(target);
  const std::unique_ptr<DIR, closer> entries(::opendir(folder.c_str()));
  const std::string beginning = beginning_of(target);
  bool free = true;
  while (const dirent* entry = entries ? ::readdir(entries.get()) : nullptr) {
    const std::string_view name(entry->d_name);
    if (!name.starts_with(beginning) || !is_random_name(name.substr(beginning.size()))) continue;
    if (std::string_view(own).ends_with(name)) continue;
    free = remove_left_over(folder + "/" + std::string(name)) && free;
  }
  return free;
}

}  // namespace

bool is_part_name(std::string_view file_name) {
  const auto at = file_name.rfind(mark);
  return file_name.starts_with('.') && at != file_name.npos && at > 0 &&
         is_random_name(file_name.substr(at + mark.size()));
}

part_file make_part(const std::string& target, const std::string& path) {
  const auto name =
      (std::filesystem::path(target).parent_path() / (beginning_of(target) + random_name()))
          .string();
  const int descriptor = open_locked(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, path);
  if (!remove_left_overs(target, name)) {
    ::unlink(name.c_str());
    ::close(descriptor);
    refuse_to_write(path, "it is being written already, by another run or for another option");
  }
  return {name, descriptor};
}

}  // namespace graphline
