#include <fmt/format.h>

#include <string>
#include <utility>

#include "stages/kinds.hpp"
#include "stages/nn/cuda/lowering/single_products.hpp"
#include "stages/precision_parameters.hpp"
#include "stages/program_stage.hpp"

namespace graphline {

std::unique_ptr<device_stage> make_cuda_matmul(device& d, const nn::matmul_form& form,
                                               const stage_config& config) {
  const std::string owner = fmt::format("stage '{}'", config.name);
  if (is_fused(config.arguments)) {
    return std::make_unique<program_stage<nn::cuda_program>>(d,
                                                             nn::lower_gemv_for_cuda(form, owner));
  }
  const precision p = precision_of(config.arguments);
  const auto library = nn::open_cuda_libraries(d, tune_of(config.arguments), owner);
  return std::make_unique<program_stage<nn::cuda_program>>(
      d,
      nn::lower_product_for_cuda(form, {.library = *library,
                                        .precision = p,
                                        .name = "matmul",
                                        .owner = owner,
                                        .parameter = "precision"}),
      program_weights(), p);
}

}  // namespace graphline
