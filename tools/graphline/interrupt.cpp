#include "tools/graphline/interrupt.hpp"

#include <fmt/format.h>
#include <semaphore.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>

#include "framework/base/crash_report.hpp"
#include "framework/base/error.hpp"
#include "framework/base/signal_line.hpp"
#include "framework/base/stage_activity.hpp"

namespace graphline {
namespace {

stop_request raised_by_signal;
std::atomic<bool> signalled{false};
std::atomic<bool> measured{false};
std::atomic<bool> second_is_awaited{false};
std::atomic<bool> second_came{false};
sem_t second_or_woken;

void print_line(std::string_view text) {
  // Nothing useful can be done if the terminal is gone.
  static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
}

/// Dies of the signal, as a program without a handler does: a shell then knows why it ended.
void end_by(int signal) {
  remove_unfinished_files();
  ::signal(signal, SIG_DFL);
  ::raise(signal);  // waits until the handler has returned
}

void handle(int signal) {
  // A lost terminal is told of more than once, by the kernel and by the shell.
  if (signalled.exchange(true)) {
    if (signal == SIGHUP) return;
    if (!second_is_awaited.exchange(false)) {
      print_line("\ngraphline: ended at once; only what was already written is kept\n");
      return end_by(signal);
    }
    second_came = true;
    ::sem_post(&second_or_woken);
    return;
  }
  raised_by_signal.raise();
  if (measured) {
    print_line("\ngraphline: reporting what was measured; Ctrl-C again ends without a report\n");
    return;
  }
  print_line("\ngraphline: stopping after the frames in flight; Ctrl-C again ends at once\n");
  thread_activity::each([](stage_point at) {
    signal_line line;
    line.add("graphline: waiting for ");
    line.add(*at.stage);
    if (at.frame >= 0) {
      line.add(", frame ");
      line.add(at.frame);
    }
    line.add("\n");
    line.print();
  });
}

void end_at_once(int) {
  print_line("\ngraphline: interrupted, ended at once\n");
  remove_unfinished_files();
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

second_interrupt::second_interrupt() {
  ::sem_init(&second_or_woken, 0, 0);
  second_came = false;
  second_is_awaited = true;
}

second_interrupt::~second_interrupt() {
  second_is_awaited = false;
}

bool second_interrupt::wait(nanoseconds at_most) {
  timespec until{};
  ::clock_gettime(CLOCK_MONOTONIC, &until);
  const nanoseconds at = until.tv_nsec + at_most;
  until.tv_sec += at / 1'000'000'000;
  until.tv_nsec = at % 1'000'000'000;
  while (::sem_clockwait(&second_or_woken, CLOCK_MONOTONIC, &until) != 0 && errno == EINTR) {
  }
  return second_came;
}

void second_interrupt::wake() noexcept {
  ::sem_post(&second_or_woken);
}

void end_by_interrupt() {
  print_line("\ngraphline: interrupted before a frame was done; nothing was measured\n");
  remove_unfinished_files();
  ::signal(SIGINT, SIG_DFL);
  ::kill(::getpid(), SIGINT);
  for (;;) ::pause();
}

void end_measuring(std::string_view what, bool with_nothing) {
  measured = true;
  if (!with_nothing) return;
  throw interrupted_error(fmt::format("interrupted before {}; nothing was measured", what));
}

}  // namespace graphline
