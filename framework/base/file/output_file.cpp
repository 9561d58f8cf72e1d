#include "framework/base/file/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/file/file_trouble.hpp"
#include "framework/base/file/locked_file.hpp"
#include "framework/base/file/part_file.hpp"

namespace graphline {

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
    // Some file systems report a failed write only now: before the old result is replaced.
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
