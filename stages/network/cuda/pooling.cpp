#include "stages/network/cuda/lowering.hpp"

namespace graphline {
namespace {

/// A pool takes its input in either layout and type, and gives the layout it took.
void add_pool(cuda_program_builder& b, std::size_t layer, bool adaptive, const pool2d_layer& pool) {
  const network_layer& head = b.layer(layer);
  const cuda_value x = b.value(head.inputs[0]);
  const shape& in = b.network().shape_of(head.inputs[0]);
  const shape& out = head.output;
  const bool channels_last = x.form.layout == tensor_layout::channels_last;
  const cuda_value y =
      b.make_value(out.elements(), {x.form.layout, b.result_element(layer, x.form.layout)});
  b.add_kernel(pool_form{.from = x.form.element,
                         .to = y.form.element,
                         .batch = channels_last ? in[0] : in[0] * in[1],
                         .channels = channels_last ? in[1] : 1,
                         .in = {in[2], in[3]},
                         .out = {out[2], out[3]},
                         .adaptive = adaptive,
                         .pool = pool},
               {x.buffer, y.buffer}, head);
  b.note("a kernel of its own");
  b.set_output(layer, y);
}

}  // namespace

void lower(cuda_program_builder& b, const fused_layers& group, const pool2d_layer& pool) {
  add_pool(b, group.head, /*adaptive=*/false, pool);
}

void lower(cuda_program_builder& b, const fused_layers& group, const adaptive_avg_pool2d_layer&) {
  add_pool(b, group.head, /*adaptive=*/true, {});
}

}  // namespace graphline
