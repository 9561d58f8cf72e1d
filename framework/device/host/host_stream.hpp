#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "framework/device/device.hpp"
#include "framework/device/host/host_device.hpp"
#include "framework/device/host/lane.hpp"

namespace graphline {

struct host_engine;

/// An event of the `host` device. The worker accesses timed events only, until their recordings are
/// complete and the graphs that stamp them are destroyed.
///
/// Waits refer to the latest recording; a stamp in a graph is not a recording. The time stamp is
/// that of the latest recording or stamp, whichever completed last.
class host_event final : public timed_event {
 public:
  host_event(host_engine& engine, std::string name, bool keeps_time)
      : engine_(engine), name_(std::move(name)), keeps_time_(keeps_time) {}

  /// Waits until the worker no longer needs the event.
  ~host_event() override;

  bool done() const override;
  void wait(wait_mode how) const override;

  /// These throw `run_error` if the event is untimed or incomplete, or if no stream recorded and no
  /// launched graph stamped it.
  nanoseconds since(const timed_event& earlier) const override;
  host_point on_host_clock() const override;
  std::optional<nanoseconds> busy_since(const timed_event& earlier) const override;

  const host_engine& engine() const noexcept { return engine_; }
  const std::string& name() const noexcept { return name_; }
  bool keeps_time() const noexcept { return keeps_time_; }

  recorded_point latest() const noexcept { return latest_.load(std::memory_order_acquire); }

  /// Stores the latest recording. Call it before the worker can see the recording.
  void recorded(recorded_point r) noexcept {
    if (keeps_time_) unstamped_.fetch_add(1, std::memory_order_relaxed);
    latest_.store(r, std::memory_order_release);
  }
  void recorded_in_capture(std::uint64_t number) noexcept {
    latest_.store(recorded_point::in_capture(number), std::memory_order_release);
  }

  /// Returns the number of the capture of the latest recording; 0 if it was not in a capture.
  std::uint64_t capture_number() const noexcept {
    const recorded_point r = latest();
    return r.is_in_capture() ? r.number() : 0;
  }

  /// Called when the worker completes a recording of a timed event. Only the latest recording sets
  /// the time stamp. `busy` is the total time spent on the stream's operations.
  void stamp(recorded_point r, nanoseconds busy) noexcept {
    if (latest() == r) keep(busy);
    unstamped_.fetch_sub(1, std::memory_order_release);
  }

  void stamp_in_graph(nanoseconds busy) noexcept {
    keep(busy);
    stamped_in_graph_.store(true, std::memory_order_relaxed);
  }

 private:
  void keep(nanoseconds busy) noexcept {
    stamp_.store(now(), std::memory_order_relaxed);
    busy_.store(busy, std::memory_order_relaxed);
  }
  void refuse_untimed() const;

  host_engine& engine_;
  const std::string name_;
  const bool keeps_time_;
  std::atomic<recorded_point> latest_{};
  std::atomic<nanoseconds> stamp_{0};
  std::atomic<nanoseconds> busy_{0};
  std::atomic<bool> stamped_in_graph_{false};
  std::atomic<std::uint32_t> unstamped_{0};  // recordings that are not complete
};

/// A stream of the `host` device: a lane, or a branch of a capture while it is captured.
class host_stream final : public host_queue {
 public:
  host_stream(host_engine& engine, std::string name, priority level);

  ~host_stream() override;

  const std::string& name() const noexcept override { return name_; }
  void copy(void* to, const void* from, std::size_t bytes) override;
  void fill(void* to, std::byte value, std::size_t bytes) override;
  void record(event& e) override;
  void wait(const event& e) override;
  void call(host_function& f) override;
  void stamp(timed_event& e) override;
  void select(const std::uint32_t* selector,
              std::span<const std::function<void()>> bodies) override;
  void launch(graph_exec& g) override;
  void enqueue(host_operation& operation) override;

  const host_engine& engine() const noexcept { return engine_; }
  host_capture* capture() const noexcept { return capture_; }
  void set_capture(host_capture* capture) noexcept { capture_ = capture; }

 private:
  void wait_for_peer(const host_event& e);
  void submit_or_capture(const command& c, const char* type);
  void submit(const command& c) noexcept;
  void publish(const command& c) noexcept;

  host_engine& engine_;
  const std::string name_;
  lane& lane_;
  host_capture* capture_ = nullptr;
};

}  // namespace graphline
