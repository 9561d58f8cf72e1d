#include "tools/graphline/run_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "framework/base/stage_activity.hpp"
#include "framework/base/thread_number.hpp"
#include "tools/graphline/terminal.hpp"

namespace graphline {
namespace {

constexpr nanoseconds long_stage = 5'000'000'000;

std::vector<stage_point> stages_at_work() {
  std::vector<stage_point> points;
  thread_activity::each([&](stage_point at) { points.push_back(at); });
  return points;
}

}  // namespace

run_watch::run_watch(bool quiet, std::function<void()> finish)
    : quiet_(quiet), finish_(std::move(finish)) {
  try {
    thread_ = std::thread([this] { watch(); });
  } catch (const std::system_error& e) {
    throw thread_start_error("the thread that watches the run could not be started", e);
  }
}

run_watch::~run_watch() {
  over_ = true;
  interrupt_.wake();
  thread_.join();
}

void run_watch::watch() {
  name_thread("run watch");
  std::vector<stage_point> before;
  std::set<const stage_label*> named;
  while (!over_) {
    if (interrupt_.wait(long_stage)) return finish_();
    if (over_ || quiet_) continue;
    auto seen = stages_at_work();
    for (const stage_point& at : seen) {
      if (std::ranges::find(before, at) == before.end() || !named.insert(at.stage).second) continue;
      const auto frame = at.frame < 0 ? "" : fmt::format(" at frame {}", at.frame);
      print(stderr,
            fmt::format("{}graphline: {} has not returned for 5 s{}\n",
                        is_terminal(stderr) ? "\r\x1b[K" : "", to_string(*at.stage), frame));
    }
    before = std::move(seen);
  }
}

}  // namespace graphline
