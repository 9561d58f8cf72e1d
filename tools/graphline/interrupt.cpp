#include "tools/graphline/interrupt.hpp"

#include <fmt/format.h>
#include <semaphore.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "framework/base/crash_report.hpp"
#include "framework/base/error.hpp"
#include "framework/base/signal_line.hpp"
#include "framework/base/stage_activity.hpp"
#include "framework/base/thread_number.hpp"
#include "tools/graphline/terminal.hpp"

namespace graphline {
namespace {

constexpr int long_stage_seconds = 5;

stop_request raised_by_signal;
std::atomic<bool> signalled{false};
std::atomic<nanoseconds> first_signal{0};  // when it came
std::atomic<bool> measured{false};

// Shared by the signal handler and the thread of `run_watch`.
std::atomic<bool> run_is_watched{false};
std::atomic<bool> second_came{false};
std::atomic<bool> run_is_over{false};
sem_t wake_watch;

void print_line(std::string_view text) {
  // If the terminal is gone, the message is lost.
  static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
}

/// Ends the program with the signal, so that the shell sees why it ended.
void end_by(int signal) {
  remove_unfinished_files();
  ::signal(signal, SIG_DFL);
  ::raise(signal);  // delivered when the handler returns
}

void handle(int signal) {
  constexpr nanoseconds one_key_press = 100'000'000;
  if (signalled.exchange(true)) {
    // For a lost terminal, the kernel and the shell may each send a signal. `timeout` signals the
    // process and its group.
    if (signal == SIGHUP || now() - first_signal < one_key_press) return;
    if (!run_is_watched.exchange(false)) {
      print_line("\ngraphline: ended at once; only what was already written is kept\n");
      return end_by(signal);
    }
    second_came = true;
    ::sem_post(&wake_watch);
    return;
  }
  first_signal = now();
  raised_by_signal.raise();
  const bool reports = measured;
  signal_line what;
  what.add(reports ? "\ngraphline: reporting what was measured; "
                   : "\ngraphline: stopping after the frames in flight; ");
  what.add(signal == SIGINT ? "Ctrl-C again" : "a second SIGINT or SIGTERM");
  what.add(reports ? " ends without a report\n" : " ends at once\n");
  what.print();
  if (reports) return;
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

/// Returns true if a signal is ignored, as `nohup` ignores SIGHUP.
bool is_ignored(int signal) {
  struct sigaction now {};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

/// Sleeps for `long_stage_seconds` or until `wake_watch` is posted.
void sleep_until_woken() {
  timespec until{};
  ::clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += long_stage_seconds;
  while (::sem_clockwait(&wake_watch, CLOCK_MONOTONIC, &until) != 0 && errno == EINTR) {
  }
}

void watch(bool quiet, const std::function<void()>& finish) {
  name_thread("run watch");
  std::vector<stage_point> before;
  std::set<const stage_label*> named;
  for (;;) {
    sleep_until_woken();
    if (second_came) return finish();
    if (run_is_over) return;
    if (quiet) continue;
    std::vector<stage_point> seen;
    thread_activity::each([&](stage_point at) { seen.push_back(at); });
    for (const stage_point& at : seen) {
      if (std::ranges::find(before, at) == before.end() || !named.insert(at.stage).second) continue;
      const auto frame = at.frame < 0 ? "" : fmt::format(" at frame {}", at.frame);
      print_over_progress(fmt::format("graphline: {} has not returned for {} s{}\n",
                                      to_string(*at.stage), long_stage_seconds, frame));
    }
    before = std::move(seen);
  }
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

run_watch::run_watch(bool quiet, std::function<void()> finish) {
  ::sem_init(&wake_watch, 0, 0);
  second_came = false;
  run_is_over = false;
  run_is_watched = true;
  try {
    thread_ = std::thread([quiet, finish = std::move(finish)] { watch(quiet, finish); });
  } catch (const std::system_error& e) {
    run_is_watched = false;
    throw thread_start_error("the thread that watches the run could not be started", e);
  }
}

run_watch::~run_watch() {
  run_is_over = true;
  ::sem_post(&wake_watch);
  thread_.join();
  run_is_watched = false;
}

}  // namespace graphline
