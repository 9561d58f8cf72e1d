#include <memory>

#include "framework/base/clock.hpp"
#include "stages/kinds.hpp"

namespace graphline {
namespace {

class spin final : public cpu_stage {
 public:
  explicit spin(nanoseconds duration) : duration_(duration) {}

  void run(const cpu_call&) override {
    if (duration_ == 0) return;  // an empty stage is to cost nothing, not even a look at the clock
    const nanoseconds end = now() + duration_;
    while (now() < end) {
    }
  }

 private:
  nanoseconds duration_;
};

}  // namespace

stage_kind spin_kind() {
  stage_kind kind;
  kind.name = "cpu.spin";
  kind.headline = "Keep one core busy for a set time";
  kind.on = side::cpu;
  kind.inputs = {{"inputs", "tensors to wait for; they are not looked at"}};
  kind.optional_inputs = 1;
  kind.repeat_last_input = true;
  kind.parameters = {{.name = "duration",
                      .type = parameter_type::duration,
                      .help = "Time by the monotonic clock; 0ms makes a stage that does nothing.",
                      .default_value = {},
                      .required = true,
                      .minimum = 0}};
  // Reads and writes nothing, whatever it waits for: no cost.
  kind.infer = [](const arguments&, std::span<const tensor_type>, diagnostics&) {
    return stage_shape{};
  };
  kind.make_cpu = [](const stage_config& config) -> std::unique_ptr<cpu_stage> {
    return std::make_unique<spin>(config.arguments.duration("duration"));
  };
  return kind;
}

}  // namespace graphline
