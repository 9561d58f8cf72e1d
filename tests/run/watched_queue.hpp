#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <limits>
#include <vector>

#include "framework/run/execute/frame_schedule.hpp"

namespace graphline::testing_load {

/// What became of frames: those that began together, when each had been due, and when they began.
struct load_outcome {
  std::vector<std::vector<nanoseconds>> due;
  std::vector<nanoseconds> begun;
  std::vector<nanoseconds> ready;
  std::size_t completed = 0;
  load_record load;
};

constexpr auto never = std::numeric_limits<nanoseconds>::max();

/// How a load is worked on, those that began together at a time: for how long, by how many began
/// before and how many are together; from when on no further ones begin; and whether those at work
/// then fail.
struct course {
  std::function<nanoseconds(std::size_t begun, std::size_t together)> work;
  nanoseconds stop = never;
  bool fails = false;
};

/// A queue that looks at every tick of the clock, and takes frames to the one place they are worked
/// on.
class watched_queue {
 public:
  /// @param give_up Longest wait; a frame that could begin later is dropped.
  watched_queue(std::size_t room, queue_policy when_full, frame_batching batching, const course& of,
                nanoseconds give_up = never)
      : room_(room), when_full_(when_full), batching_(batching), of_(of), give_up_(give_up) {}

  load_outcome run(const std::vector<nanoseconds>& arrivals) {
    coming_.assign(arrivals.begin(), arrivals.end());
    for (nanoseconds t = 0; !over(t); ++t) {
      while (end_ <= t && t < of_.stop && can_begin(t)) begin(t);
      while (due(t) > 0) arrive();
    }
    auto& left = result_.load.unfinished;
    const bool failed = of_.fails && !result_.due.empty() && end_ > of_.stop;
    if (failed) left = result_.due.back();
    left.insert(left.end(), queue_.begin(), queue_.end());
    result_.load.ended = std::max(of_.stop, end_);
    return result_;
  }

 private:
  /// What is at work when the load stops is done first.
  bool over(nanoseconds t) const {
    return of_.stop == never ? coming_.empty() && queue_.empty() : t > std::max(of_.stop, end_);
  }

  /// How many frames are due that have not been in the queue.
  std::size_t due(nanoseconds t) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(coming_, [&](nanoseconds at) { return at <= t; }));
  }

  bool can_begin(nanoseconds t) const {
    const std::size_t there = queue_.size() + due(t);
    if (there == 0) return false;
    const nanoseconds first = queue_.empty() ? coming_.front() : queue_.front();
    return there >= most() || t >= first + batching_.wait;
  }

  void begin(nanoseconds t) {
    auto& first = queue_.empty() ? coming_ : queue_;
    if (t - first.front() > give_up_) {
      result_.load.dropped.push_back(first.front());
      first.pop_front();
      return;
    }
    std::vector<nanoseconds> together;
    while (together.size() < most() && queue_.size() + due(t) > 0) {
      auto& from = queue_.empty() ? coming_ : queue_;
      together.push_back(from.front());
      from.pop_front();
    }
    result_.ready.push_back(std::max(end_, together.front()));
    end_ = t + of_.work(result_.due.size(), together.size());
    result_.due.push_back(together);
    result_.begun.push_back(t);
  }

  void arrive() {
    const nanoseconds at = coming_.front();
    coming_.pop_front();
    if (queue_.size() >= room_) {
      ++result_.load.found_full;
      if (when_full_ != queue_policy::block) {
        const bool oldest = when_full_ == queue_policy::drop_oldest;
        result_.load.dropped.push_back(oldest ? queue_.front() : at);
        if (!oldest) return;
        queue_.pop_front();
      }
    }
    queue_.push_back(at);
    const auto waiting = static_cast<std::int64_t>(queue_.size());
    result_.load.longest_queue = std::max(result_.load.longest_queue, waiting);
  }

  std::size_t most() const { return static_cast<std::size_t>(batching_.up_to); }

  std::size_t room_;
  queue_policy when_full_;
  frame_batching batching_;
  const course& of_;
  nanoseconds give_up_;
  nanoseconds end_ = 0;
  std::deque<nanoseconds> coming_;
  std::deque<nanoseconds> queue_;  ///< those that wait, under `block` beyond its room
  load_outcome result_;
};

}  // namespace graphline::testing_load
