#include "framework/base/crash_report.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "framework/base/signal_line.hpp"
#include "framework/base/stage_activity.hpp"

namespace graphline {
namespace {

struct crash_signal {
  int number;
  std::string_view meaning;
  bool by_memory = false;  ///< an invalid memory access may be the cause
};
constexpr std::array crash_signals = {
    crash_signal{SIGSEGV, "SIGSEGV, access to memory that is not its own", true},
    crash_signal{SIGBUS, "SIGBUS, access to memory that is not there", true},
    crash_signal{SIGFPE, "SIGFPE, such as an integer divided by 0"},
    crash_signal{SIGILL, "SIGILL, an instruction that this processor does not have"},
    crash_signal{SIGABRT, "SIGABRT, abort() or a failed assertion", true},
};

std::array<struct sigaction, crash_signals.size()> earlier_actions;
std::array<std::atomic<char*>, 64> temporary_paths;
std::atomic<bool> crashed{false};
std::atomic<const char*> remedy_on_crash{nullptr};

void tell_crash(const crash_signal& signal) noexcept {
  signal_line line;
  line.add("\nerror: ");
  const stage_point at = thread_activity::own().at();
  if (at.stage == nullptr) {
    line.add("the program crashed in a thread that works on no stage");
  } else {
    line.add(*at.stage);
    line.add(at.frame < 0 ? " crashed while getting ready" : " crashed at frame ");
    if (at.frame >= 0) line.add(at.frame);
  }
  line.add(": ");
  line.add(signal.meaning);
  if (const char* remedy = remedy_on_crash; remedy != nullptr && signal.by_memory) {
    line.add("; ");
    line.add(remedy);
  }
  line.add("\n");
  line.print();
}

void on_crash(int signal, siginfo_t* info, void* /*context*/) {
  const auto of = std::ranges::find(crash_signals, signal, &crash_signal::number);
  // Only the first crash is reported, because another thread or this handler itself may crash too.
  if (!crashed.exchange(true)) {
    tell_crash(*of);
    remove_unfinished_files();
  }
  ::sigaction(signal, &earlier_actions[static_cast<std::size_t>(of - crash_signals.begin())],
              nullptr);
  // On return, a faulting instruction faults again, but a signal from kill() does not recur.
  if (info->si_code <= 0) ::raise(signal);
}

}  // namespace

void report_crashes() noexcept {
  static_cast<void>(thread_activity::own());  // creates the calling thread's alternate stack
  struct sigaction action {};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (std::size_t i = 0; i < crash_signals.size(); ++i) {
    ::sigaction(crash_signals[i].number, &action, &earlier_actions[i]);
  }
}

void remove_unfinished_files() noexcept {
  for (auto& path : temporary_paths) {
    if (const char* name = path.load(std::memory_order_acquire)) ::unlink(name);
  }
}

void suggest_on_crash(const char* remedy) noexcept {
  remedy_on_crash = remedy;
}

removed_on_crash::removed_on_crash(const std::string& path) {
  char* const copy = ::strdup(path.c_str());
  if (copy == nullptr) return;
  for (std::size_t i = 0; i < temporary_paths.size(); ++i) {
    char* nothing = nullptr;
    if (!temporary_paths[i].compare_exchange_strong(nothing, copy)) continue;
    index_ = i;
    return;
  }
  std::free(copy);
}

removed_on_crash::removed_on_crash(removed_on_crash&& other) noexcept
    : index_(std::exchange(other.index_, none)) {}

removed_on_crash& removed_on_crash::operator=(removed_on_crash&& other) noexcept {
  if (this == &other) return *this;
  release();
  index_ = std::exchange(other.index_, none);
  return *this;
}

void removed_on_crash::release() noexcept {
  if (index_ == none) return;
  std::free(temporary_paths[std::exchange(index_, none)].exchange(nullptr));
}

}  // namespace graphline
