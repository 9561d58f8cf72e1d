#include <memory>

#include "stages/host_stage.hpp"
#include "stages/kinds.hpp"
#include "stages/spinning.hpp"

namespace graphline {
namespace {

std::unique_ptr<device_stage> make_host_spin(device& /*d*/, const stage_config& config) {
  const nanoseconds duration = device_spin_time(config);
  return host_stage(
      "spin", {"spin", "a loop on the CPU's clock"},
      [=](const stage_tensors& /*tensors*/) { return [=] { spin_cpu_time(duration); }; });
}

}  // namespace

stage_kind device_spin_kind(const device_stage_factory& make_cuda) {
  stage_kind kind = kind_named("device.spin", "Keep the device busy for a set time");
  kind.inputs = {{"inputs", "tensors to wait for; they are not looked at", true}};
  kind.optional_inputs = 1;
  kind.repeat_last_input = true;
  kind.parameters = {
      {.name = "duration",
       .type = parameter_type::duration,
       .help = "On host CPU time of the device's worker; on cuda time by the GPU's global timer, "
               "of one thread, beside which other streams' kernels run. Never shorter, and on cuda "
               "longer by up to two ticks of that timer.",
       .required = true,
       .minimum = 0},
      per_row_parameter()};
  // The cost is zero, because the stage does not access its tensors.
  kind.prepare = [](const arguments& given, std::span<const tensor_type> inputs, diagnostics& out) {
    check_per_row(given, inputs, out);
    return prepared_stage{.known = known_cost::all};
  };
  return on_devices(std::move(kind), make_host_spin, make_cuda);
}

}  // namespace graphline
