// A device stage for `host` whose operations take a known time, to compare with reported times.

#include <framework/stage/plugin.hpp>

#include <memory>

#include "framework/base/clock.hpp"
#include "framework/device/host/host_device.hpp"

namespace {

using namespace graphline;

class known_work final : public device_work, host_operation {
 public:
  known_work(nanoseconds duration, std::int64_t operations)
      : each_(duration / operations), operations_(operations) {}

  void enqueue(stream& s) override {
    for (std::int64_t i = 0; i < operations_; ++i) host_enqueue(s, *this);
  }
  std::string_view name() const noexcept override { return "known"; }
  void run() override {
    for (const nanoseconds end = now() + each_; now() < end;) {
    }
  }

 private:
  nanoseconds each_;
  std::int64_t operations_;
};

class known_stage final : public device_stage {
 public:
  explicit known_stage(const arguments& given)
      : duration_(given.duration("duration")), operations_(given.integer("operations")) {}

  std::unique_ptr<device_work> bind(const stage_tensors&) override {
    return std::make_unique<known_work>(duration_, operations_);
  }

 private:
  nanoseconds duration_;
  std::int64_t operations_;
};

stage_kind known_kind() {
  stage_kind kind;
  kind.name = "known";
  kind.headline = "Keeps the device busy for a set time";
  kind.on = side::device;
  kind.parameters = {{.name = "duration",
                      .type = parameter_type::duration,
                      .help = "Of all operations together.",
                      .default_value = {},
                      .required = true,
                      .minimum = 0},
                     {.name = "operations",
                      .type = parameter_type::integer,
                      .help = "How many there are.",
                      .default_value = "1",
                      .minimum = 1}};
  kind.backends = {"host"};
  kind.prepare = [](const arguments&, std::span<const tensor_type>, diagnostics&) {
    prepared_stage result{.known = known_cost::all};
    result.make_device["host"] = [](device&, const stage_config& config) {
      return std::make_unique<known_stage>(config.arguments);
    };
    return result;
  };
  return kind;
}

}  // namespace

GRAPHLINE_PLUGIN(registry) {
  registry.add(known_kind());
}
