#include "framework/run/execute/heartbeat.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string_view>
#include <system_error>

#include "framework/base/machine_state.hpp"
#include "framework/base/thread_number.hpp"
#include "framework/run/execute/machine_watch.hpp"

namespace graphline {
namespace {

/// Maximum number of standstills kept. Space is reserved up front to avoid allocation.
constexpr std::size_t most_kept = 256;

/// Reads the calling thread's run-queue waiting time without allocating.
class own_waiting_time {
 public:
  own_waiting_time() : file_(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}
  ~own_waiting_time() {
    if (file_ >= 0) ::close(file_);
  }
  own_waiting_time(const own_waiting_time&) = delete;
  own_waiting_time& operator=(const own_waiting_time&) = delete;

  std::optional<nanoseconds> read() const {
    std::array<char, 128> text;
    const auto size = file_ < 0 ? -1 : ::pread(file_, text.data(), text.size(), 0);
    thread_time time;
    if (size <= 0 || !parse_schedstat({text.data(), static_cast<std::size_t>(size)}, time)) {
      return std::nullopt;
    }
    return time.waited;
  }

 private:
  int file_;
};

beat beat_now(const own_waiting_time& waiting) {
  timespec t;
  ::clock_gettime(CLOCK_BOOTTIME, &t);
  return {now(), nanoseconds{t.tv_sec} * 1'000'000'000 + t.tv_nsec, processor_time(),
          waiting.read()};
}

}  // namespace

std::optional<standstill_record> standstill_between(const beat& before, const beat& after) {
  const nanoseconds passed = after.at - before.at;
  const nanoseconds suspended = after.with_suspend - before.with_suspend - passed;
  if (suspended > heartbeat_late) {
    return standstill_record{.begin = before.at, .length = suspended, .suspended = true};
  }
  const bool known = before.waited && after.waited;
  const nanoseconds waited = known ? *after.waited - *before.waited : 0;
  const nanoseconds still = passed - heartbeat_period - waited;
  // A thread that ran throughout would have used more than half of the time.
  const bool others_ran = after.used - before.used > passed / 2;
  if (still < (known ? heartbeat_late : heartbeat_late_unknown) || others_ran) return std::nullopt;
  return standstill_record{.begin = after.at - waited - still, .length = still, .suspended = false};
}

heartbeat::heartbeat() {
  found_.reserve(most_kept);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& why) {
    throw thread_start_error(
        "cannot start the heartbeat thread, which detects standstills of the process", why);
  }
}

heartbeat::~heartbeat() {
  if (thread_.joinable()) end();
}

std::vector<standstill_record> heartbeat::end() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stopping_.notify_one();
  thread_.join();
  return std::move(found_);
}

void heartbeat::run() {
  name_thread("heartbeat");
  const own_waiting_time waiting;
  beat before = beat_now(waiting);
  std::unique_lock lock(mutex_);
  while (!stop_) {
    stopping_.wait_for(lock, std::chrono::nanoseconds(heartbeat_period));
    const beat after = beat_now(waiting);
    const auto still = standstill_between(before, after);
    if (still && found_.size() < most_kept) found_.push_back(*still);
    before = after;
  }
}

}  // namespace graphline
