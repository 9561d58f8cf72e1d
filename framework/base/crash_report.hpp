#pragma once

#include <cstddef>
#include <string>

namespace graphline {

/// Installs handlers for SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT. A handler prints one line
/// that names the stage, its kind and plug-in, and the frame. It then removes the files of
/// `removed_on_crash` and restores the earlier handler. Call it once, early in `main`.
void report_crashes() noexcept;

/// Sets a remedy to print after SIGSEGV, SIGBUS or SIGABRT. The text must stay valid until the
/// program ends; null prints no remedy.
void suggest_on_crash(const char* remedy) noexcept;

/// Removes the files of `removed_on_crash`. Call it before an exit that skips destructors.
void remove_unfinished_files() noexcept;

/// A temporary file that is removed if the program crashes during this object's lifetime. Up to 64
/// objects work at the same time; further objects do nothing.
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
