#include "tools/graphline/interrupt.hpp"

#include <csignal>
#include <cstring>

#include <unistd.h>

namespace graphline {
namespace {

stop_request raised_by_signal;

void handle(int) {
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
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  return raised_by_signal;
}

}  // namespace graphline
