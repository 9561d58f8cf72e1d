#pragma once

#include <string>

#include "framework/device/device.hpp"
#include "framework/device/host/host_device.hpp"
#include "framework/device/host/lane.hpp"

namespace graphline {

class capture_session;
struct host_engine;

/// A stream of the `host` device: a lane, or while it is captured, a branch of the capture.
class host_stream final : public host_queue {
 public:
  host_stream(host_engine& engine, std::string name, priority level);

  /// Waits until everything enqueued is done.
  ~host_stream() override;

  const std::string& name() const noexcept override { return name_; }
  void copy(void* to, const void* from, std::size_t bytes) override;
  void fill(void* to, std::byte value, std::size_t bytes) override;
  void record(event& e) override;
  void wait(const event& e) override;
  void call(host_function& f) override;
  void stamp(timed_event& e) override;
  void launch(graph_exec& g) override;
  void enqueue(host_operation& operation) override;

  const host_engine& engine() const noexcept { return engine_; }
  capture_session* capture() const noexcept { return capture_; }
  void set_capture(capture_session* session) noexcept { capture_ = session; }

 private:
  void submit_or_capture(const command& c, const char* type);
  void submit(const command& c) noexcept;
  void publish(const command& c) noexcept;

  host_engine& engine_;
  const std::string name_;
  lane& lane_;
  capture_session* capture_ = nullptr;
};

}  // namespace graphline
