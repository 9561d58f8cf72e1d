#include <fmt/format.h>

#include <utility>

#include "framework/device/host/host_device.hpp"
#include "stages/nn/host/single_products.hpp"
#include "stages/precision_parameters.hpp"
#include "stages/products.hpp"
#include "stages/program_stage.hpp"

namespace graphline {

std::unique_ptr<device_stage> make_product_host(device& d, const nn::matmul_form& form,
                                                const char* kind, const stage_config& config) {
  nn::host_program program;
  host_call(d, [&] {
    program = nn::lower_product_for_host(form, kind, fmt::format("stage '{}'", config.name),
                                         precision_of(config.arguments));
  });
  return std::make_unique<program_stage<nn::host_program>>(std::move(program));
}

std::unique_ptr<device_stage> make_gemv_host(device& d, const stage_config& config) {
  const nn::matmul_form product = gemv_of(config);
  if (!fused_of(config.arguments)) return make_product_host(d, product, "gemv", config);
  return std::make_unique<program_stage<nn::host_program>>(nn::lower_gemv_for_host(product));
}

}  // namespace graphline
