#pragma once

#include <signal.h>

#include <string>

namespace graphline {

// Files that are being written under a name of their own until they are whole, so that a program
// that a signal ends can take them along.

/// Notes that the file is unfinished. Threads may call this at once. What is kept for a path is
/// kept until the program ends, since a handler may be reading it.
void note_unfinished(const std::string& path);

/// Keeps Ctrl-C, SIGTERM and SIGHUP from this thread until it goes: a file is made or takes its
/// name together with its note.
class signals_held {
 public:
  signals_held() noexcept;
  ~signals_held();
  signals_held(const signals_held&) = delete;
  signals_held& operator=(const signals_held&) = delete;

 private:
  sigset_t before_;
};

/// Takes back the note of a file that is whole or gone.
void note_finished(const std::string& path) noexcept;

/// Removes every file that is noted. Only reads atomics and calls unlink(2), so that a signal
/// handler may call it, on any thread, whatever the others are doing.
void remove_unfinished() noexcept;

}  // namespace graphline
