#include "framework/device/model/model_device.hpp"

#include <fmt/format.h>

#include <mutex>
#include <typeinfo>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/machine.hpp"
#include "framework/device/machine_memory.hpp"
#include "framework/device/model/model_graph.hpp"
#include "framework/device/model/model_stream.hpp"

namespace graphline {
namespace {

device_properties model_properties(const model_settings& settings) {
  device_properties p;
  p.backend = "model";
  p.name = settings.name;
  p.memory_bytes = settings.memory_bytes ? settings.memory_bytes : total_memory();
  p.priority_levels = 3;
  p.one_at_a_time = settings.operations_at_once == 1 && !settings.copies_apart;
  p.reports_busy_time = true;
  p.selects = true;
  return p;
}

class model_device final : public device {
 public:
  model_device(virtual_clock& clock, const model_settings& settings)
      : properties_(model_properties(settings)), engine_(clock, settings) {}

  const device_properties& properties() const noexcept override { return properties_; }

  memory allocate(std::size_t bytes) override { return memory_.allocate(bytes); }
  memory allocate_pinned(std::size_t bytes) override { return memory_.allocate_pinned(bytes); }
  memory_usage usage() const noexcept override { return memory_.usage(); }

  std::unique_ptr<stream> make_stream(std::string name, priority level) override {
    const std::scoped_lock lock(engine_.mutex);
    return std::make_unique<model_stream>(engine_, std::move(name), level);
  }

  std::unique_ptr<event> make_event(std::string name, wait_mode /*how*/) override {
    return make_timed_event(std::move(name));
  }

  std::unique_ptr<timed_event> make_timed_event(std::string name) override {
    return std::make_unique<model_event>(engine_, std::move(name));
  }

  /// Does not lock the mutex, so that other threads may use other streams meanwhile.
  std::unique_ptr<graph> capture(stream& origin, const std::function<void()>& body) override {
    engine_.failed.throw_if_set();
    model_capture capture(engine_.captures, same_engine<model_stream>(origin, engine_));
    body();
    return std::make_unique<replayed_graph<model_engine, model_graph_exec, model_captured>>(
        engine_, capture.finish());
  }

  void synchronize(wait_mode /*how*/) override {
    engine_.captures.refuse_synchronize();
    engine_.wait_until([this] { return engine_.is_idle(); });
    engine_.failed.throw_if_set();
  }

  void exchange_with(device& peer) override {
    const auto* other = dynamic_cast<model_device*>(&peer);
    if (other == nullptr || &other->engine_.clock != &engine_.clock) device::exchange_with(peer);
  }

  clock_check check_clock() override {
    const std::scoped_lock lock(engine_.mutex);
    return {.at = engine_.clock.now(), .error = engine_.settings.clock_tick - 1};
  }

  std::unique_ptr<operation_trace> trace_operations() override { return engine_.log.trace(); }

 private:
  const device_properties properties_;
  machine_memory memory_{"model"};
  model_engine engine_;
};

}  // namespace

std::unique_ptr<device> open_model_device(virtual_clock& clock, const model_settings& settings) {
  if (settings.operations_at_once < 1 || settings.clock_tick < 1 || settings.copy_latency < 0 ||
      settings.operation_overhead < 0 || settings.graph_overhead < 0 || settings.idle_start < 0 ||
      settings.short_idle_start < 0 || settings.long_idle < 0 || !(settings.copy_bandwidth >= 0)) {
    throw input_error(
        "the model device needs at least one operation at once, a clock tick of at least 1 ns, and "
        "times and a bandwidth that are not negative");
  }
  return std::make_unique<model_device>(clock, settings);
}

void model_operate(stream& s, std::string_view name, model_duration duration) {
  if (typeid(s) != typeid(model_stream)) {
    throw run_error(
        fmt::format("operation '{}' is for the model device; stream '{}' belongs to another device",
                    name, s.name()));
  }
  static_cast<model_stream&>(s).operate({std::string(name), std::move(duration)});
}

void model_operate(stream& s, std::string_view name, nanoseconds duration) {
  model_operate(s, name, [duration] { return duration; });
}

}  // namespace graphline
