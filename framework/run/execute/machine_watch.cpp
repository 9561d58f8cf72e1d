#include "framework/run/execute/machine_watch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/record/timing_protocol.hpp"

namespace graphline {
namespace {

std::string line_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

}  // namespace

bool parse_schedstat(std::string_view text, thread_time& into) {
  const char* const end = text.data() + text.size();
  const auto on_cpu = std::from_chars(text.data(), end, into.on_cpu);
  if (on_cpu.ec != std::errc() || on_cpu.ptr == end || *on_cpu.ptr != ' ') return false;
  const auto waited = std::from_chars(on_cpu.ptr + 1, end, into.waited);
  return waited.ec == std::errc() && into.on_cpu >= 0 && into.waited >= 0;
}

thread_clocks read_thread_clocks() {
  thread_clocks result;
  std::error_code none;  // a thread may end during the iteration
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", none)) {
    int number = 0;
    const std::string name = task.path().filename();
    std::from_chars(name.data(), name.data() + name.size(), number);
    thread_time clock;
    if (!parse_schedstat(line_of(task.path() / "schedstat"), clock)) continue;
    clock.thread = number == ::getpid() ? "main" : line_of(task.path() / "comm");
    result.emplace(number, std::move(clock));
  }
  return result;
}

std::vector<thread_time> between(const thread_clocks& before, const thread_clocks& after) {
  std::vector<thread_time> result;
  for (const auto& [number, later] : after) {
    thread_time spent = later;
    if (const auto earlier = before.find(number); earlier != before.end()) {
      spent.on_cpu -= earlier->second.on_cpu;
      spent.waited -= earlier->second.waited;
    }
    if (spent.on_cpu <= 0 && spent.waited <= 0) continue;
    const auto known = std::ranges::find(result, spent.thread, &thread_time::thread);
    if (known == result.end()) {
      result.push_back(std::move(spent));
    } else {
      known->on_cpu += spent.on_cpu;
      known->waited += spent.waited;
    }
  }
  return result;
}

machine_watch::machine_watch(device& d, look at_machine)
    : device_(d),
      look_(std::move(at_machine)),
      device_before_(d.state()),
      before_(look_()),
      threads_before_(read_thread_clocks()),
      heartbeat_(std::make_unique<heartbeat>()) {}

conditions_record machine_watch::end(nanoseconds epoch) {
  auto standstills = heartbeat_->end();
  for (auto& still : standstills) still.begin -= epoch;
  const auto threads = read_thread_clocks();
  auto conditions = conditions_between(before_, look_());
  conditions.threads = between(threads_before_, threads);
  conditions.standstills = std::move(standstills);
  conditions.device_before = device_before_;
  conditions.device_after = device_.state();
  return conditions;
}

conditions_record conditions_between(const machine_state& before, const machine_state& after) {
  conditions_record result;
  result.lasted = after.at - before.at;
  result.cores = after.cores;
  result.load_before = before.load;
  result.load_after = after.load;
  result.clock_before = before.clock;
  result.clock_after = after.clock;
  if (before.throttled && after.throttled) result.throttled = *after.throttled - *before.throttled;
  // If the process's affinity changed, the two sums cover different cores.
  if (!before.used || !after.used || before.cores != after.cores) return result;
  result.steal = after.used->steal - before.used->steal;
  const nanoseconds busy = after.used->busy - before.used->busy;
  // May be negative, because the system counts in ticks and the process's time is exact.
  result.others = std::max<nanoseconds>(0, busy - (after.own - before.own));
  return result;
}

namespace {

/// Removes drift from stamps linearly: none at host time `begin`, all of it at host time `end`.
class even_drift {
 public:
  even_drift(nanoseconds begin, nanoseconds end, nanoseconds drift)
      : begin_(begin),
        part_(static_cast<double>(drift) / static_cast<double>(end - begin + drift)) {}

  void take_out_of(std::vector<stamp_pair>& stamps) const {
    for (auto& s : stamps) s = {without(s.begin), without(s.end)};
  }

 private:
  nanoseconds without(nanoseconds stamp) const {
    return stamp - std::llround(static_cast<double>(stamp - begin_) * part_);
  }

  nanoseconds begin_;
  double part_;
};

}  // namespace

clock_watch::clock_watch(device& d) : device_(d) {
  before_ = check("before");
}

void clock_watch::end() {
  after_ = check("after");
}

std::optional<clock_check> clock_watch::check(const char* when) {
  try {
    return device_.check_clock();
  } catch (const run_error& e) {
    warnings_.push_back(
        fmt::format("cannot check the device's clock {} the frames; the error of its times is "
                    "unknown: {}",
                    when, e.what()));
    return std::nullopt;
  }
}

void clock_watch::settle(run_record& record, nanoseconds epoch, std::size_t device) const {
  record.warnings.insert(record.warnings.end(), warnings_.begin(), warnings_.end());
  if (!traits_of(record.run.timing).by_events) return;  // host stamps have no drift
  nanoseconds error = 0;
  for (const auto& found : {before_, after_}) {
    if (found) error = std::max(error, found->error);
  }
  if (before_ && after_) error += after_->rounding;
  const nanoseconds drift = before_ && after_ ? after_->drift : 0;
  record.clock_error = std::max(record.clock_error, error);
  if (std::abs(drift) > std::abs(record.clock_drift)) record.clock_drift = drift;
  if (!record.devices.empty()) {
    record.devices[device].clock_error = error;
    record.devices[device].clock_drift = drift;
  }
  if (!before_ || !after_) return;
  const nanoseconds lasted = after_->at - before_->at;
  if (drift == 0 || lasted <= 0 || lasted + drift <= 0) return;
  const even_drift between(before_->at - epoch, after_->at - epoch, drift);
  for (auto& stage : record.stages) {
    if (stage.device_index != device) continue;
    between.take_out_of(stage.device);
    for (auto& part : stage.parts) between.take_out_of(part.device);
  }
}

}  // namespace graphline
