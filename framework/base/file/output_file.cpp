#include "framework/base/file/output_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <random>
#include <stdexcept>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/file/file_trouble.hpp"
#include "framework/base/file/locked_file.hpp"
#include "framework/base/text_file.hpp"

namespace graphline {
namespace {

constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::string_view mark = ".graphline-";
constexpr std::size_t random_letters = 6;

/// Returns ".NAME.graphline-".
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

/// Removes a temporary file. Returns false and keeps the file if a run still holds its lock.
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

/// Removes the temporary files of `target` except `own`. Returns false if another run locks one.
bool remove_left_overs(const std::string& target, const std::string& own) {
  struct closer {
    void operator()(DIR* opened) const noexcept { ::closedir(opened); }
  };
  // Uses opendir, because std::filesystem terminates the program if listing runs out of memory.
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

/// Returns true for the name of a temporary file. Results must not have such names.
bool is_part_name(std::string_view file_name) {
  const auto at = file_name.rfind(mark);
  return file_name.starts_with('.') && at != file_name.npos && at > 0 &&
         is_random_name(file_name.substr(at + mark.size()));
}

/// An open and locked temporary file. Its owner closes it and renames or removes it.
struct part_file {
  std::string name;
  int descriptor = -1;
};

/// Creates the temporary file of `target` and removes the temporary files of killed runs. Messages
/// use `path`, the name that the user gave. Throws `input_error` if the file cannot be created, or
/// if another run or option is writing the target.
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

}  // namespace

output_file::output_file(std::string path) : path_(std::move(path)), target_(path_) {
  if (path_.empty()) throw input_error("an output file needs a name; '-' is standard output");
  standard_output_ = path_ == "-" || path_ == "/dev/stdout";
  try {
    struct stat found {};
    const bool exists = !standard_output_ && ::stat(path_.c_str(), &found) == 0;
    if (path_.back() == '/' || (exists && S_ISDIR(found.st_mode))) {
      refuse_to_write(path_, "it is a folder; name a file in it");
    }
    if (standard_output_ || (exists && !S_ISREG(found.st_mode))) {
      open_in_place();
      return;
    }
    open_beside();
  } catch (...) {
    discard();
    throw;
  }
}

output_file::~output_file() {
  discard();
}

output_file::output_file(output_file&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      part_(std::exchange(other.part_, {})),
      part_on_crash_(std::move(other.part_on_crash_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      standard_output_(other.standard_output_) {}

void output_file::open_in_place() {
  descriptor_ = standard_output_ ? ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                                 : ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor_ < 0) refuse_to_write(path_, errno_text(errno));
  const int flags = ::fcntl(descriptor_, F_GETFL);
  if ((flags & O_ACCMODE) == O_RDONLY) refuse_to_write(path_, errno_text(EBADF));
}

void output_file::open_beside() {
  target_ = resolve_links(path_);
  struct stat old {};
  const bool replaces = ::stat(target_.c_str(), &old) == 0;
  if (replaces && ::access(target_.c_str(), W_OK) != 0) refuse_to_write(path_, errno_text(errno));

  if (is_part_name(std::filesystem::path(target_).filename().string())) {
    refuse_to_write(path_, "names of this form are for temporary files; choose another name");
  }
  auto part = make_part(target_, path_);
  descriptor_ = part.descriptor;
  part_ = std::move(part.name);
  part_on_crash_ = removed_on_crash(part_);
  if (replaces) ::fchmod(descriptor_, old.st_mode & 07777);
}

void output_file::commit(std::string_view text) {
  commit([text](text_sink& to) { to.append(text); });
}

void output_file::commit(const std::function<void(text_sink&)>& write) {
  if (descriptor_ < 0) throw std::logic_error("an output file is committed once");
  text_sink sink([this](std::string_view piece) { put(piece); });
  write(sink);
  sink.flush();
  if (!part_.empty()) {
    // Some file systems report a failed write only at fsync. Call it while the old result exists.
    if (::fsync(descriptor_) != 0) fail(errno);
    if (::rename(part_.c_str(), target_.c_str()) != 0) fail(errno);
    part_.clear();
    part_on_crash_ = {};
  }
  if (::close(std::exchange(descriptor_, -1)) != 0) fail(errno);
}

void output_file::put(std::string_view piece) {
  if (const int code = write_fully(descriptor_, piece)) fail(code);
}

void output_file::fail(int code) const {
  if (code == EPIPE && standard_output_) throw output_closed();
  throw run_error(fmt::format("writing {} failed: {}", shown_path(path_), errno_text(code)));
}

void output_file::discard() noexcept {
  if (!part_.empty()) ::unlink(part_.c_str());
  if (descriptor_ >= 0) ::close(descriptor_);
  part_.clear();
  part_on_crash_ = {};
  descriptor_ = -1;
}

}  // namespace graphline
