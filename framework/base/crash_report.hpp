#pragma once

#include <cstddef>
#include <string>

namespace graphline {

/// Makes a crash (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) print one line that names the stage,
/// its kind and plug-in and the frame, and remove the files that `removed_on_crash` names. The
/// signal then does what it would have done: end the program, with a core file where these are on,
/// or have a sanitizer report it. For programs; call it once, early in `main`.
void report_crashes() noexcept;

/// Adds what to try to the lines of later crashes that a wrong access to memory may have caused: a
/// text that stays to the end of the program; null for nothing.
void suggest_on_crash(const char* remedy) noexcept;

/// Removes the files that `removed_on_crash` names, for an end without a crash that does not come
/// back either.
void remove_unfinished_files() noexcept;

/// A temporary file that must not outlive a crash, while this exists. Of more than 64 at once the
/// further ones stay.
class removed_on_crash {
 public:
  removed_on_crash() = default;
  explicit removed_on_crash(const std::string& path);
  ~removed_on_crash() { release(); }
  removed_on_crash(removed_on_crash&& other) noexcept;
  removed_on_crash& operator=(removed_on_crash&& other) noexcept;

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  void release() noexcept;

  std::size_t index_ = none;
};

}  // namespace graphline
