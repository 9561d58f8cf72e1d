#include "stages/nn/host/single_products.hpp"

#include <fmt/format.h>
#include <oneapi/dnnl/dnnl_debug.h>

#include <dnnl.hpp>

#include "framework/base/error.hpp"

namespace graphline::nn {

host_program lower_product_for_host(device& d, const matmul_form& form, const char* name,
                                    const std::string& owner, precision asked) {
  host_program product;
  host_call(d, [&] {
    try {
      const dnnl::matmul::desc wanted(plain_layout(form.a, form.transpose_a),
                                      plain_layout(form.b, form.transpose_b), plain_layout(form.c));
      const dnnl::matmul::primitive_desc chosen(wanted, onednn_attributes(), onednn_engine());
      const auto tensor = [&](buffer_place place, std::size_t which, const dnnl::memory::desc& l) {
        return host_value{product.add_buffer(place, l.get_size(), which), l};
      };
      product.add_primitive<dnnl::matmul>(
          name, owner, chosen,
          {{DNNL_ARG_SRC, tensor(buffer_place::input, 0, chosen.src_desc())},
           {DNNL_ARG_WEIGHTS, tensor(buffer_place::input, 1, chosen.weights_desc())},
           {DNNL_ARG_DST, tensor(buffer_place::output, 0, chosen.dst_desc())}});
    } catch (const dnnl::error& e) {
      throw run_error(fmt::format("{}: oneDNN cannot prepare {} to {}: {} ({})", owner, name,
                                  to_string(form.c), e.what(), dnnl_status2str(e.status)));
    }
  });
  product.parts = {{name, onednn_choice(product.steps.front().name, asked), cost_of(form),
                    product.steps.size()}};
  product.place_buffers();
  return product;
}

}  // namespace graphline::nn
