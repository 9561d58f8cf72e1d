#include "tools/graphline/interrupt.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

#include "framework/base/error.hpp"
#include "framework/base/file/unfinished_files.hpp"

namespace graphline {
namespace {

stop_request raised_by_signal;
std::atomic<bool> signalled{false};

/// Dies of the signal, as a program without a handler does: a shell then knows why it ended.
void end_by(int signal) {
  ::signal(signal, SIG_DFL);  // first, so that one more ends it even where a disk hangs
  remove_unfinished();
  ::raise(signal);  // waits until the handler has returned
}

void handle(int signal) {
  // A lost terminal is told of more than once, by the kernel and by the shell.
  if (signalled.exchange(true)) {
    if (signal == SIGHUP) return;
    end_by(signal);
    return;
  }
  constexpr char text[] =
      "\ngraphline: stopping after the frames in flight; Ctrl-C again ends at once\n";
  raised_by_signal.raise();
  // Nothing useful can be done if the terminal is gone.
  if (::write(STDERR_FILENO, text, sizeof text - 1) < 0) return;
}

}  // namespace

const stop_request& stop_on_interrupt() {
  struct sigaction action {};
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  struct sigaction before {};
  // As nohup sets it, who started the program wants it to go on without a terminal.
  if (::sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) {
    ::sigaction(SIGHUP, &action, nullptr);
  }
  return raised_by_signal;
}

void end_before_first(std::string_view what, bool with_nothing) {
  if (!with_nothing) return;
  throw interrupted_error(fmt::format("interrupted before {}; nothing was measured", what));
}

}  // namespace graphline
