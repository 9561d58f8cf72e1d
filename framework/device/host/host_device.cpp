#include "framework/device/host/host_device.hpp"

#include <fmt/format.h>

#include <typeinfo>

#include "framework/base/error.hpp"
#include "framework/device/host/host_engine.hpp"
#include "framework/device/host/host_event.hpp"
#include "framework/device/host/host_machine.hpp"
#include "framework/device/host/host_memory.hpp"
#include "framework/device/host/host_stream.hpp"

namespace graphline {
namespace {

class cpu_device final : public host_runner {
 public:
  explicit cpu_device(int compute_threads)
      : cpu_device(compute_threads, split_cpus(usable_cpus(), compute_threads)) {}

  const device_properties& properties() const noexcept override { return properties_; }

  memory allocate(std::size_t bytes) override { return memory_.allocate(bytes); }
  memory allocate_pinned(std::size_t bytes) override { return memory_.allocate_pinned(bytes); }
  memory_usage usage() const noexcept override { return memory_.usage(); }

  std::unique_ptr<stream> make_stream(std::string name, priority level) override {
    return std::make_unique<host_stream>(engine_, std::move(name), level);
  }

  std::unique_ptr<event> make_event(std::string name, wait_mode /*how*/) override {
    return std::make_unique<host_event>(engine_, std::move(name), false);
  }

  std::unique_ptr<timed_event> make_timed_event(std::string name) override {
    return std::make_unique<host_event>(engine_, std::move(name), true);
  }

  std::unique_ptr<graph> capture(stream& origin, const std::function<void()>& body) override {
    engine_.failed.throw_if_set();
    capture_session session(engine_.captures, same_engine<host_stream>(origin, engine_));
    body();
    return std::make_unique<host_graph>(engine_, session.finish());
  }

  void synchronize(wait_mode how) override {
    engine_.captures.refuse_synchronize();
    engine_.lanes.wait_for_all(how);
    engine_.failed.throw_if_set();
  }

  clock_check check_clock() override { return {.at = now()}; }  // its stamps are the host's clock

  std::unique_ptr<operation_trace> trace_operations() override { return engine_.log.trace(); }

  void call(const std::function<void()>& work) override { engine_.worker.call(work); }

 private:
  cpu_device(int compute_threads, const cpu_split& cpus)
      : properties_(host_properties(compute_threads)), engine_(compute_threads, cpus) {
    properties_.cpus_of_host = cpus.others;
  }

  device_properties properties_;
  host_memory memory_;
  host_engine engine_;
};

}  // namespace

std::unique_ptr<device> open_host_device(int compute_threads) {
  constexpr int most = 1024;  // far above any machine's cores; beyond, threads cannot be started
  if (compute_threads < 1 || compute_threads > most) {
    throw input_error(fmt::format("the host device needs 1 to {} compute threads, not {}", most,
                                  compute_threads));
  }
  return std::make_unique<cpu_device>(compute_threads);
}

void host_enqueue(stream& s, host_operation& operation) {
  if (typeid(s) != typeid(host_stream)) {
    throw run_error(
        fmt::format("operation '{}' is for the host device and stream '{}' is not one of it",
                    operation.name(), s.name()));
  }
  static_cast<host_queue&>(s).enqueue(operation);
}

void host_call(device& d, const std::function<void()>& work) {
  // By name of the type as above would not do: that of cpu_device is another in each library.
  auto* const runner = dynamic_cast<host_runner*>(&d);
  if (runner == nullptr) {
    throw run_error(
        fmt::format("'{}' is no host device and cannot run host code", d.properties().backend));
  }
  runner->call(work);
}

}  // namespace graphline
