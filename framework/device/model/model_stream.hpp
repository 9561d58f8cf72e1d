#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "framework/device/device.hpp"
#include "framework/device/model/model_engine.hpp"

namespace graphline {

/// An event of the `model` device, always timed. Waits refer to the latest recording. The time
/// stamp is that of the latest recording or stamp, whichever completed last.
class model_event final : public timed_event {
 public:
  model_event(model_engine& engine, std::string name) : engine_(engine), name_(std::move(name)) {}

  /// Waits until all its recordings are complete.
  ~model_event() override {
    engine_.drain_until([this] { return pending_ == 0; });
  }

  bool done() const override;
  void wait(wait_mode how) const override;

  /// These throw `run_error` if the event is incomplete, or if no stream recorded and no launched
  /// graph stamped it.
  nanoseconds since(const timed_event& earlier) const override;
  host_point on_host_clock() const override;
  std::optional<nanoseconds> busy_since(const timed_event& earlier) const override;

  const model_engine& engine() const noexcept { return engine_; }
  const std::string& name() const noexcept { return name_; }

  bool was_recorded() const noexcept { return latest_.on != nullptr || capture_number_ != 0; }
  const model_point& latest() const noexcept { return latest_; }

  /// Returns the number of the capture of the latest recording; 0 if it was not in a capture.
  std::uint64_t capture_number() const noexcept { return capture_number_; }

  void recorded(const model_point& at) noexcept {
    latest_ = at;
    capture_number_ = 0;
    ++pending_;
  }
  void recorded_in_capture(std::uint64_t number) noexcept {
    latest_ = {};
    capture_number_ = number;
  }

  /// Called when a stream completes a recording. Only the latest recording sets the time stamp.
  /// `busy` is the busy time of the stream.
  void pass(const model_point& recording, nanoseconds now, nanoseconds busy) noexcept {
    --pending_;
    if (recording == latest_) keep(now, busy);
  }

  /// Called when a graph reaches a stamp. `busy` is the busy time of the branch.
  void stamp_in_graph(nanoseconds now, nanoseconds busy) noexcept {
    keep(now, busy);
    was_stamped_in_graph_ = true;
  }

 private:
  void keep(nanoseconds now, nanoseconds busy) noexcept {
    at_ = now - now % engine_.settings.clock_tick;
    busy_ = busy;
  }
  void refuse_without_time() const;

  model_engine& engine_;
  const std::string name_;
  model_point latest_;
  std::uint64_t capture_number_ = 0;
  std::uint64_t pending_ = 0;  // recordings that are not complete
  bool was_stamped_in_graph_ = false;
  nanoseconds at_ = 0;
  nanoseconds busy_ = 0;
};

/// A stream of the `model` device: a lane, or a branch of a capture while it is captured.
class model_stream final : public stream {
 public:
  model_stream(model_engine& engine, std::string name, priority level);

  ~model_stream() override;

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
  void operate(model_operation operation);

  const model_engine& engine() const noexcept { return engine_; }
  model_capture* capture() const noexcept { return capture_; }
  void set_capture(model_capture* capture) noexcept { capture_ = capture; }

 private:
  void submit_or_capture(model_command c, const char* type);

  model_engine& engine_;
  const std::string name_;
  model_lane& lane_;
  model_capture* capture_ = nullptr;
};

}  // namespace graphline
