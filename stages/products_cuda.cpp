#include <fmt/format.h>

#include <string>
#include <utility>

#include "stages/kinds.hpp"
#include "stages/nn/cuda/lowering/single_products.hpp"
#include "stages/precision_parameters.hpp"
#include "stages/products.hpp"
#include "stages/program_stage.hpp"

namespace graphline {
namespace {

/// By cuBLASLt.
std::unique_ptr<device_stage> make_product_cuda(device& d, const nn::matmul_form& form,
                                                const char* kind, const stage_config& config) {
  const std::string owner = fmt::format("stage '{}'", config.name);
  const precision p = precision_of(config.arguments);
  const auto library = nn::open_cuda_libraries(d, tune_of(config.arguments), owner);
  return std::make_unique<program_stage<nn::cuda_program>>(
      nn::lower_product_for_cuda(
          form, {.library = *library,
                 .precision = p,
                 .name = kind,
                 .owner = owner,
                 .parameter = config.arguments.has("precision") ? "precision" : "method"}),
      memory(), p);
}

}  // namespace

std::unique_ptr<device_stage> make_matmul_cuda(device& d, const stage_config& config) {
  return make_product_cuda(d, matmul_of(config), "matmul", config);
}

std::unique_ptr<device_stage> make_gemv_cuda(device& d, const stage_config& config) {
  const nn::matmul_form product = gemv_of(config);
  if (!fused_of(config.arguments)) return make_product_cuda(d, product, "gemv", config);
  return std::make_unique<program_stage<nn::cuda_program>>(
      nn::lower_gemv_for_cuda(product, fmt::format("stage '{}'", config.name)));
}

}  // namespace graphline
