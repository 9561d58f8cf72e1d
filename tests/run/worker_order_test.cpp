#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "framework/run/execute/session.hpp"
#include "tests/run/test_kinds.hpp"

namespace graphline {
namespace {

using namespace testing_kinds;

/// Frame, then the stage's place in the order of the plan.
using place_in_run = std::pair<std::int64_t, std::size_t>;

/// Holds each CPU stage of a run until the test lets it go.
class gate {
 public:
  /// In a worker.
  void hold(const place_in_run& at) {
    std::unique_lock lock(mutex_);
    held_.insert(at);
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_ || let_go_.contains(at); });
    held_.erase(at);
    changed_.notify_all();
  }

  void begin() {
    const std::lock_guard lock(mutex_);
    begun_ = true;
    changed_.notify_all();
  }

  /// From when all frames that can be in flight have begun.
  void wait_for_begin() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return begun_; });
  }

  void let_go(const place_in_run& at) {
    std::unique_lock lock(mutex_);
    let_go_.insert(at);
    changed_.notify_all();
    changed_.wait(lock, [&] { return !held_.contains(at); });
  }

  /// What is held, once it is so many.
  std::set<place_in_run> held(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(60), [&] { return held_.size() >= count; });
    return held_;
  }

  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<place_in_run> held_;
  std::set<place_in_run> let_go_;
  bool begun_ = false;
  bool open_ = false;
};

/// CPU stages in the order of the plan; the first comes before all others.
struct random_stages {
  std::vector<std::vector<std::size_t>> earlier;  ///< of each stage: what it reads
  std::int64_t frames = 5;
  std::int64_t in_flight = 1;
  std::size_t workers = 1;

  explicit random_stages(std::mt19937& generator)
      : earlier(2 + generator() % 7),
        in_flight(1 + static_cast<std::int64_t>(generator() % 4)),
        workers(1 + generator() % 4) {
    for (std::size_t s = 1; s < earlier.size(); ++s) {
      std::set<std::size_t> reads;
      for (std::size_t k = 1 + generator() % 3; k > 0; --k) reads.insert(generator() % s);
      earlier[s].assign(reads.begin(), reads.end());
    }
  }

  pipeline_spec spec() const {
    std::vector<stage_spec> stages;
    for (std::size_t s = 0; s < earlier.size(); ++s) {
      std::vector<std::string> reads;
      for (const std::size_t e : earlier[s]) reads.push_back(std::to_string(e));
      stages.push_back(make_stage(std::to_string(s), "cpu_mix", reads));
    }
    auto made = pipeline_of(stages, frames, 0);
    way{strategy::overlap, in_flight}.set(made.run);
    made.run.workers = static_cast<std::int64_t>(workers);
    return made;
  }
};

/// What should run: as many as there are workers, of those that are ready the oldest frame first
/// and then in the order of the plan.
class expected_order {
 public:
  explicit expected_order(const random_stages& of) : of_(of) { take(); }

  const std::set<place_in_run>& running() const { return running_; }

  void return_from(const place_in_run& at) {
    running_.erase(at);
    done_.insert(at);
    take();
  }

 private:
  bool has_ended(std::int64_t frame) const {
    for (std::size_t s = 0; s < of_.earlier.size(); ++s) {
      if (!done_.contains({frame, s})) return false;
    }
    return true;
  }

  bool is_ready(const place_in_run& at) const {
    const auto [frame, stage] = at;
    if (frame >= of_.in_flight && !has_ended(frame - of_.in_flight)) return false;
    if (frame > 0 && !done_.contains({frame - 1, stage})) return false;
    for (const std::size_t e : of_.earlier[stage]) {
      if (!done_.contains({frame, e})) return false;
    }
    return !done_.contains(at) && !running_.contains(at);
  }

  void take() {
    for (std::int64_t frame = 0; frame < of_.frames; ++frame) {
      for (std::size_t s = 0; s < of_.earlier.size(); ++s) {
        if (running_.size() == of_.workers) return;
        if (is_ready({frame, s})) running_.insert({frame, s});
      }
    }
  }

  const random_stages& of_;
  std::set<place_in_run> running_;
  std::set<place_in_run> done_;
};

TEST(workers_of_overlap, take_the_oldest_frame_first_and_then_the_order_of_the_plan) {
  std::mt19937 generator(3);
  for (int round = 0; round < 40; ++round) {
    const random_stages stages(generator);
    gate g;
    host_session s(stages.spec(), [&g](const std::string& stage, std::int64_t frame) {
      g.hold({frame, static_cast<std::size_t>(std::stoul(stage))});
    });
    run_record record;
    std::thread run([&] { record = s.run({.on_progress = [&g](const auto&) { g.begin(); }}); });
    g.wait_for_begin();
    expected_order expected(stages);
    while (!expected.running().empty()) {
      ASSERT_LE(expected.running().size(), stages.workers);
      const auto held = g.held(expected.running().size());
      EXPECT_EQ(held, expected.running()) << "round " << round << ", " << stages.workers
                                          << " workers, " << stages.in_flight << " in flight";
      if (held != expected.running()) break;
      auto next = held.begin();
      std::advance(next, static_cast<std::ptrdiff_t>(generator() % held.size()));
      expected.return_from(*next);
      g.let_go(*next);
    }
    g.open();
    run.join();
    EXPECT_FALSE(record.failure);
    EXPECT_EQ(record.run.workers, static_cast<std::int64_t>(stages.workers));
    EXPECT_EQ(record.cpu_cores, static_cast<int>(stages.workers));
  }
}

// With one worker no stage of a newer frame ever comes before one of an older.
TEST(workers_of_overlap, are_as_many_as_the_setting_says_and_one_goes_frame_by_frame) {
  std::mt19937 generator(9);
  for (int round = 0; round < 20; ++round) {
    random_stages stages(generator);
    stages.workers = 1;
    stages.frames = 30;
    host_session s(stages.spec());
    const run_record record = whole_run(s);
    EXPECT_EQ(record.threads.size(), 2U);  // the other is the one that begins the frames
    nanoseconds last = 0;
    for (std::size_t f = 0; f < record.frames.size(); ++f) {
      for (const auto& stage : record.stages) {
        EXPECT_GE(stage.cpu[f].begin, last) << stage.name << ", frame " << f;
        last = stage.cpu[f].end;
      }
    }
  }
}

}  // namespace
}  // namespace graphline
