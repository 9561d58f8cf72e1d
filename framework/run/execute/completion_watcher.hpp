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

/// Threads that wait for device stages and report their completion, so that worker threads need not
/// wait. There is one queue per stream, because stages of a stream complete in submission order.
class completion_watcher {
 public:
  /// Receives the token submitted with the event. The exception is null unless the wait threw.
  using seen_function = std::function<void(std::uint64_t token, std::exception_ptr)>;

  /// Watches `queues` streams with at most `depth` pending stages each. One thread polls all
  /// queues; blocking waits need one thread per queue.
  /// @param realtime Priority for `scoped_realtime`, which the caller may use.
  /// @throws run_error if a thread cannot be started
  completion_watcher(std::size_t queues, std::size_t depth, wait_mode how, seen_function seen,
                     std::int64_t realtime = 0);
  ~completion_watcher();

  void expect(std::size_t queue, const event& e, std::uint64_t token);

 private:
  struct entry {
    const event* awaited = nullptr;
    std::uint64_t token = 0;
  };
  /// Ring buffer: enqueueing threads write, the watching thread reads.
  struct queue {
    std::vector<entry> ring;
    std::atomic<std::size_t> handed_in{0};
    std::size_t seen = 0;  ///< used by the watching thread only
  };
  struct watcher {
    std::vector<queue*> queues;
    std::atomic<std::uint32_t> bell{0};  ///< incremented by each submission and at the end
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
  std::vector<watcher*> watcher_of_;  ///< by queue
};

}  // namespace graphline
