#include "framework/base/clock.hpp"
#include "stages/kinds.hpp"
#include "stages/spinning.hpp"

namespace graphline {
namespace {

class spin final : public cpu_stage {
 public:
  spin(spin_durations durations, const stage_config& config)
      : durations_(std::move(durations)),
        seed_(config.seed),
        by_wall_(config.arguments.text("clock") == "wall"),
        stall_(config.arguments.duration("stall")),
        per_row_(config.arguments.duration("per_row")) {
    const arguments& given = config.arguments;
    if (given.has("stall_at")) stall_at_ = given.integer("stall_at");
    empty_ = durations_.all_zero() && stall_at_ < 0 && per_row_ == 0;
  }

  void run(const cpu_call& call) override {
    // An empty stage does not read the clock.
    if (!empty_) spend(call);
  }

 private:
  // Not inlined, so that an empty stage reserves no stack for it.
  [[gnu::noinline]] void spend(const cpu_call& call) const {
    nanoseconds time = durations_.of_frame(call.frame, seed_);
    if (call.frame == stall_at_) time += stall_;
    if (per_row_ > 0) time = add_rows(time, per_row_, call.inputs[0].type.shape[0]);
    by_wall_ ? spin_wall_time(time) : spin_cpu_time(time);
  }

  bool empty_ = false;
  spin_durations durations_;
  std::uint64_t seed_;
  bool by_wall_;
  nanoseconds stall_;
  nanoseconds per_row_;
  std::int64_t stall_at_ = -1;  ///< negative: no frame stalls
};

/// The cost is zero, because the stage does not access its tensors.
prepared_stage prepare_spin(const arguments& given, std::span<const tensor_type> inputs,
                            diagnostics& out) {
  spin_durations durations = spin_durations::read(given, out);
  check_per_row(given, inputs, out);
  if (given.duration("stall") > 0 && !given.has("stall_at")) {
    out.error(given.where("stall"),
              "'stall' needs to know which frame it falls on; add stall_at, such as stall_at: 20");
  }
  return {.known = known_cost::all,
          .make_cpu = [durations = std::move(durations)](const stage_config& config) {
            return std::make_unique<spin>(durations, config);
          }};
}

}  // namespace

stage_kind spin_kind() {
  stage_kind kind = kind_named("cpu.spin", "Keep one core busy for a set time");
  kind.inputs = {{"inputs", "tensors to wait for; they are not looked at", true}};
  kind.optional_inputs = 1;
  kind.repeat_last_input = true;
  kind.parameters = spin_duration_parameters();
  kind.parameters.insert(
      kind.parameters.end(),
      {per_row_parameter(),
       {.name = "clock",
        .type = parameter_type::choice,
        .help = "cpu: time that its thread had a core, so that it takes longer where others want "
                "the core; wall: time that passed, whoever had the core.",
        .default_value = "cpu",
        .choices = {"cpu", "wall"}},
       {.name = "stall",
        .type = parameter_type::duration,
        .help = "Extra time of one frame, to inject a fault.",
        .default_value = "0ms",
        .minimum = 0},
       {.name = "stall_at",
        .type = parameter_type::integer,
        .help = "Index of the frame that stalls, counting the warm-up.",
        .minimum = 0}});
  kind.prepare = prepare_spin;
  return kind;
}

}  // namespace graphline
