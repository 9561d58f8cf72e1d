#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "framework/device/device.hpp"

namespace graphline {

/// Sees device stages complete and says so, from a thread of its own, so that no host thread that
/// could compute waits for the device. One queue per stream: in a stream, stages complete in the
/// order they were handed in.
class completion_watcher {
 public:
  /// What was handed in with the event, and what the wait threw, or null.
  using seen_function = std::function<void(std::uint64_t token, std::exception_ptr)>;

  /// `queues` streams with at most `depth` stages handed in and not yet seen on each. Polling waits
  /// share one thread; blocking ones need one per queue, since a thread can sleep on one event
  /// only.
  completion_watcher(std::size_t queues, std::size_t depth, wait_mode how, seen_function seen);
  ~completion_watcher();

  /// Hands in an event just recorded. Calls for one queue must not be made by two threads at once.
  void expect(std::size_t queue, const event& e, std::uint64_t token);

 private:
  struct entry {
    const event* awaited = nullptr;
    std::uint64_t token = 0;
  };
  /// A ring written by the enqueueing threads and read by the watching one.
  struct queue {
    std::vector<entry> ring;
    std::atomic<std::size_t> handed_in{0};
    std::size_t seen = 0;  ///< of the watching thread alone
  };
  /// One thread and the queues it looks after.
  struct watcher {
    std::vector<queue*> queues;
    std::atomic<std::uint32_t> bell{0};  ///< rung at each hand-in and at the end
    std::thread thread;
  };

  void end() noexcept;
  void watch(watcher& w);
  bool poll(watcher& w);
  void report(queue& q, std::exception_ptr problem);

  wait_mode how_;
  seen_function seen_;
  std::atomic<bool> ending_{false};
  std::vector<std::unique_ptr<queue>> queues_;
  std::vector<std::unique_ptr<watcher>> watchers_;
  std::vector<watcher*> watcher_of_;  ///< per queue
};

}  // namespace graphline
