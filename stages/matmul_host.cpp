#include <fmt/format.h>
#include <oneapi/dnnl/dnnl_debug.h>

#include <dnnl.hpp>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/device/host/host_device.hpp"
#include "stages/matmul.hpp"
#include "stages/onednn/onednn_program.hpp"
#include "stages/precision_parameters.hpp"

namespace graphline {

std::unique_ptr<device_stage> make_product_host(device& d, const matmul_form& form,
                                                const char* kind, const stage_config& config) {
  const std::string owner = fmt::format("stage '{}'", config.name);
  host_program product;
  host_call(d, [&] {
    try {
      const dnnl::matmul::desc wanted(plain_layout(form.a, form.transpose_a),
                                      plain_layout(form.b, form.transpose_b), plain_layout(form.c));
      const dnnl::matmul::primitive_desc chosen(wanted, onednn_attributes(), onednn_engine());
      const auto tensor = [&](buffer_place place, std::size_t which, const dnnl::memory::desc& l) {
        return program_tensor{product.add_buffer(place, l.get_size(), which), l};
      };
      product.add_primitive<dnnl::matmul>(
          kind, owner, chosen,
          {{DNNL_ARG_SRC, tensor(buffer_place::input, 0, chosen.src_desc())},
           {DNNL_ARG_WEIGHTS, tensor(buffer_place::input, 1, chosen.weights_desc())},
           {DNNL_ARG_DST, tensor(buffer_place::output, 0, chosen.dst_desc())}});
    } catch (const dnnl::error& e) {
      throw run_error(fmt::format("{}: oneDNN cannot prepare {} to {}: {} ({})", owner, kind,
                                  to_string(form.c), e.what(), dnnl_status2str(e.status)));
    }
  });
  product.parts = {{kind, onednn_choice(product.steps.front().name, precision_of(config.arguments)),
                    cost_of(form), product.steps.size()}};
  product.place_buffers();
  return std::make_unique<program_stage<host_program>>(std::move(product));
}

}  // namespace graphline
