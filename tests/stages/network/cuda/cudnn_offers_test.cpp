// Whether cuDNN has a plan for every convolution that a network of this project asks for, in every
// precision on every kind of GPU: one without any ends the run, however little is fused.

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "framework/plan/planner.hpp"
#include "framework/spec/pipeline_reader.hpp"
#include "stages/builtin.hpp"
#include "stages/cuda/cuda_library.hpp"
#include "stages/network/definition.hpp"
#include "tests/stages/cuda/cudnn_devices.hpp"
#include "tests/stages/network/reference_cases.hpp"

namespace graphline::test {
namespace {

/// Convolutions without anything fused, by their text, with who asks first.
using wanted_convolutions = std::map<std::string, std::pair<convolution_form, std::string>>;

void add(wanted_convolutions& to, const network_definition& network, const std::string& who) {
  for (const network_layer& layer : network.layers) {
    const auto* const conv = std::get_if<conv2d_layer>(&layer.operation);
    if (conv == nullptr) continue;
    const shape& in = network.shape_of(layer.inputs[0]);
    convolution_form form{.batch = in[0],
                          .in_channels = in[1],
                          .in = {in[2], in[3]},
                          .out = {layer.output[2], layer.output[3]},
                          .conv = *conv};
    form.conv.bias = false;
    to.try_emplace(to_text(form), form, who + ", layer '" + layer.name + "'");
  }
}

void add(wanted_convolutions& to, const std::vector<reference_case>& cases) {
  for (const reference_case& c : cases) {
    diagnostics problems;
    add(to, define_network(c.layers, c.input, {}, problems), c.name);
    problems.throw_if_errors();
  }
}

void add_pipeline(wanted_convolutions& to, const std::string& path) {
  const stage_registry kinds = builtin_stages();
  diagnostics problems;
  const pipeline_spec spec = read_pipeline(read_source(path), {}, problems);
  const plan planned = make_plan(spec, kinds, {.backend = ""}, problems);
  problems.throw_if_errors();
  for (const planned_stage& stage : planned.stages) {
    if (stage.kind->name == "network") add(to, network_of(stage.config), path + ", " + stage.name);
  }
}

class cudnn_offers : public cudnn_devices, public testing::WithParamInterface<std::string> {};

TEST_P(cudnn_offers, a_plan_for_every_convolution) {
  wanted_convolutions wanted;
  add(wanted, reference_cases());
  add(wanted, cases_in(GRAPHLINE_LAYER_CASES));
  for (const char* const name : {"camera", "conv", "detector", "mobilenet_v2", "one_model",
                                 "resnet50", "two_models", "vgg16"}) {
    add_pipeline(wanted, std::string(GRAPHLINE_PIPELINES "/") + name + ".yaml");
  }
  EXPECT_GT(wanted.size(), 100U);
  for (auto& [text, convolution] : wanted) {
    auto& [form, who] = convolution;
    for (const precision p : every_precision) {
      if (GetParam() == "t4" && p == precision::bfloat16) continue;  // Turing has none
      form.precision = p;
      EXPECT_FALSE(offered(form, GetParam()).empty()) << to_text(form) << "\n  of " << who;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(on, cudnn_offers,
                         testing::Values("t4", "a100", "l4", "h200", "b200", "rtx5090"),
                         [](const auto& given) { return given.param; });

}  // namespace
}  // namespace graphline::test
