#include "tools/graphline/interrupt.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

#include "framework/base/error.hpp"

namespace graphline {
namespace {

stop_request raised_by_signal;
std::atomic<bool> signalled{false};

/// Dies of the signal, as a program without a handler does: a shell then knows why it ended.
void end_by(int signal) {
  ::signal(signal, SIG_DFL);
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

void end_at_once(int) {
  constexpr char text[] = "\ngraphline: interrupted, ended at once\n";
  static_cast<void>(!::write(STDERR_FILENO, text, sizeof text - 1));
  ::_exit(static_cast<int>(exit_status::interrupted));
}

/// As nohup sets it, who started the program wants it to go on.
bool is_ignored(int signal) {
  struct sigaction now {};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

void end_on_interrupt() {
  struct sigaction action {};
  action.sa_handler = end_at_once;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (!is_ignored(signal)) ::sigaction(signal, &action, nullptr);
  }
}

const stop_request& stop_on_interrupt() {
  struct sigaction action {};
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  if (!is_ignored(SIGHUP)) ::sigaction(SIGHUP, &action, nullptr);
  return raised_by_signal;
}

void end_before_first(std::string_view what, bool with_nothing) {
  if (!with_nothing) return;
  throw interrupted_error(fmt::format("interrupted before {}; nothing was measured", what));
}

}  // namespace graphline
