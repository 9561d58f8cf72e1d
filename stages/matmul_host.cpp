#include <fmt/format.h>

#include <utility>

#include "framework/device/host/host_device.hpp"
#include "stages/matmul.hpp"
#include "stages/nn/host/single_products.hpp"
#include "stages/precision_parameters.hpp"
#include "stages/program_stage.hpp"

namespace graphline {

std::unique_ptr<device_stage> make_host_matmul(device& d, const nn::matmul_form& form,
                                               const stage_config& config) {
  nn::host_program program;
  if (fused_of(config.arguments)) {
    program = nn::lower_gemv_for_host(form);
  } else {
    host_call(d, [&] {
      program = nn::lower_product_for_host(form, "matmul", fmt::format("stage '{}'", config.name),
                                           precision_of(config.arguments));
    });
  }
  return std::make_unique<program_stage<nn::host_program>>(d, std::move(program));
}

}  // namespace graphline
