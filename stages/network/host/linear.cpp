#include "stages/network/host/epilogue.hpp"
#include "stages/network/host/lowering.hpp"

namespace graphline {

void lower(program_builder& b, const fused_layers& group, const linear_layer& linear) {
  using inner_product = dnnl::inner_product_forward;
  const network_layer& head = b.layer(group.head);
  const shape in = as_rows(b.network().shape_of(head.inputs[0]));
  const shape weight_shape{linear.out_features, in[1]};
  const shape bias_shape{linear.out_features};
  const auto weight = b.weight(head, "weight");
  const auto bias = b.weight(head, "bias");

  const auto choose = [&](const dnnl::primitive_attr& attributes,
                          const dnnl::memory::desc& destination) {
    const dnnl::memory::desc none;
    const inner_product::desc wanted(dnnl::prop_kind::forward_inference, any_layout(in),
                                     any_layout(weight_shape),
                                     linear.bias ? plain_layout(bias_shape) : none, destination);
    return inner_product::primitive_desc(wanted, attributes, onednn_engine());
  };
  const auto operands = [&](const inner_product::primitive_desc& chosen) {
    std::vector<program_operand> all{
        {DNNL_ARG_SRC,
         b.in_layout(b.in_shape(b.input_of(head), in, head), chosen.src_desc(), head)},
        {DNNL_ARG_WEIGHTS,
         b.constant({weight.begin(), weight.end()}, weight_shape, chosen.weights_desc())}};
    if (linear.bias) {
      all.push_back(
          {DNNL_ARG_BIAS, b.constant({bias.begin(), bias.end()}, bias_shape, chosen.bias_desc())});
    }
    return all;
  };
  lower_with_epilogue<inner_product>(b, group, as_rows(head.output), linear.bias, choose, operands);
}

}  // namespace graphline
