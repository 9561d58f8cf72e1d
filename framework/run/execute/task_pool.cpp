#include "framework/run/execute/task_pool.hpp"

#include <fmt/format.h>
#include <oneapi/tbb/version.h>

#include <algorithm>
#include <cstddef>
#include <system_error>

#include "framework/base/realtime.hpp"
#include "framework/base/thread_number.hpp"

namespace graphline {
namespace {

constexpr auto parallelism = tbb::global_control::max_allowed_parallelism;

/// Allows at least one worker. On one core oneTBB allows none, and after each enqueued task it
/// searches endlessly for a worker, which keeps the core busy.
std::size_t with_a_worker() {
  return std::max<std::size_t>(2, tbb::global_control::active_value(parallelism));
}

/// Reserves two places if there is one, because oneTBB sends a worker even to a single reserved
/// place.
unsigned reserved(int threads, int places) {
  return static_cast<unsigned>(places == 1 ? 2 : threads);
}

}  // namespace

std::string onetbb_version() {
  return TBB_runtime_version();
}

task_pool::task_pool(int threads, int places, const cpu_set& cpus, std::int64_t realtime)
    : permitted_(parallelism, with_a_worker()),
      arena_(std::max(2, places), reserved(threads, places)),
      open_(group_.defer([] {})) {
  threads_.reserve(static_cast<std::size_t>(threads));
  for (int i = 0; i < threads; ++i) add_thread(cpus, realtime);
}

void task_pool::add_thread(const cpu_set& cpus, std::int64_t realtime) {
  try {
    threads_.emplace_back([this, cpus, realtime, number = threads_.size() + 1] {
      name_thread(fmt::format("worker {}", number));
      const scoped_cpu_affinity bound(cpus);
      const scoped_realtime scheduled(realtime);
      arena_.execute([this] { group_.wait(); });
    });
  } catch (const std::system_error& e) {
    throw thread_start_error(fmt::format("strategy 'overlap' cannot start thread {} for CPU stages",
                                         threads_.size() + 1),
                             e);
  }
}

}  // namespace graphline
