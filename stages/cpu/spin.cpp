#include <memory>

#include "framework/base/clock.hpp"
#include "stages/kinds.hpp"

namespace graphline {
namespace {

class spin final : public cpu_stage {
 public:
  explicit spin(const stage_config& config)
      : duration_(config.arguments.duration("duration")),
        stall_(config.arguments.duration("stall")) {
    const arguments& given = config.arguments;
    if (given.has("stall_at")) stall_at_ = given.integer("stall_at");
  }

  void run(const cpu_call& call) override {
    // An empty stage is to cost nothing, not even a look at the clock.
    if (duration_ == 0 && call.frame != stall_at_) return;
    spend(call.frame == stall_at_ ? duration_ + stall_ : duration_);
  }

 private:
  // Apart, so that an empty stage does not make room for what it needs.
  [[gnu::noinline]] static void spend(nanoseconds time) {
    const nanoseconds end = now() + time;
    while (now() < end) {
    }
  }

  nanoseconds duration_;
  nanoseconds stall_;
  std::int64_t stall_at_ = -1;  ///< negative: in no frame
};

/// Reads and writes nothing, whatever it waits for: no cost.
stage_shape infer_spin(const arguments& given, std::span<const tensor_type>, diagnostics& out) {
  if (given.duration("stall") > 0 && !given.has("stall_at")) {
    out.error(given.where("stall"),
              "'stall' needs to know which frame it falls on; add stall_at, such as stall_at: 20");
  }
  return {.outputs = {}, .cost = {}, .layers = {}, .known = known_cost::all};
}

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
                      .required = true,
                      .minimum = 0},
                     {.name = "stall",
                      .type = parameter_type::duration,
                      .help = "How much longer one frame takes, as a fault to see the effect of.",
                      .default_value = "0ms",
                      .minimum = 0},
                     {.name = "stall_at",
                      .type = parameter_type::integer,
                      .help = "The frame that stalls, from 0, with those of the warm-up counted.",
                      .minimum = 0}};
  kind.infer = infer_spin;
  kind.make_cpu = make_cpu_stage<spin>;
  return kind;
}

}  // namespace graphline
