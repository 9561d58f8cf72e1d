#include "framework/run/execute/completion_watcher.hpp"

#include <fmt/format.h>

#include <sched.h>

#include <system_error>
#include <utility>

#include "framework/base/realtime.hpp"
#include "framework/base/thread_number.hpp"

namespace graphline {

completion_watcher::completion_watcher(std::size_t queues, std::size_t depth, wait_mode how,
                                       seen_function seen, std::int64_t realtime)
    : how_(how), seen_(std::move(seen)) {
  for (std::size_t i = 0; i < queues; ++i) {
    queues_.push_back(std::make_unique<queue>());
    queues_.back()->ring.resize(depth);
    if (how_ == wait_mode::block || i == 0) watchers_.push_back(std::make_unique<watcher>());
    watchers_.back()->queues.push_back(queues_.back().get());
    watcher_of_.push_back(watchers_.back().get());
  }
  try {
    for (std::size_t i = 0; i < watchers_.size(); ++i) {
      watchers_[i]->thread = std::thread([this, i, realtime] {
        name_thread(fmt::format("watcher {}", i + 1));
        const scoped_realtime scheduled(realtime);
        watch(*watchers_[i]);
      });
    }
  } catch (const std::system_error& e) {
    end();
    throw thread_start_error("strategy 'overlap' cannot start a thread that watches the device", e);
  } catch (...) {
    end();
    throw;
  }
}

completion_watcher::~completion_watcher() {
  end();
}

void completion_watcher::end() noexcept {
  ending_.store(true);
  for (auto& w : watchers_) {
    w->bell.fetch_add(1);
    w->bell.notify_one();
  }
  for (auto& w : watchers_) {
    if (w->thread.joinable()) w->thread.join();
  }
}

void completion_watcher::expect(std::size_t index, const event& e, std::uint64_t token) {
  queue& q = *queues_[index];
  const std::size_t position = q.handed_in.load(std::memory_order_relaxed);
  q.ring[position % q.ring.size()] = {&e, token};
  q.handed_in.store(position + 1, std::memory_order_release);
  watcher& w = *watcher_of_[index];
  w.bell.fetch_add(1, std::memory_order_release);
  w.bell.notify_one();
}

void completion_watcher::watch(watcher& w) {
  while (true) {
    const std::uint32_t heard = w.bell.load(std::memory_order_acquire);
    if (poll(w)) continue;
    if (ending_.load()) return;
    w.bell.wait(heard, std::memory_order_acquire);
  }
}

/// Checks the oldest entry of each queue. Returns true if any entries are pending.
bool completion_watcher::poll(watcher& w) {
  bool waiting = false;
  for (queue* q : w.queues) {
    if (q->seen == q->handed_in.load(std::memory_order_acquire)) continue;
    waiting = true;
    const event& oldest = *q->ring[q->seen % q->ring.size()].awaited;
    try {
      if (how_ == wait_mode::block) {
        oldest.wait(how_);
      } else if (!oldest.done()) {
        continue;
      }
    } catch (...) {
      report(*q, std::current_exception());
      continue;
    }
    report(*q, nullptr);
  }
  if (waiting && how_ == wait_mode::yield) ::sched_yield();
  return waiting;
}

void completion_watcher::report(queue& q, std::exception_ptr problem) {
  const std::uint64_t token = q.ring[q.seen % q.ring.size()].token;
  ++q.seen;
  seen_(token, std::move(problem));
}

}  // namespace graphline
