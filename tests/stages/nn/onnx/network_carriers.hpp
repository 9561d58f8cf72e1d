#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/device/host/host_device.hpp"
#include "framework/stage/value_check.hpp"
#include "stages/network_stage.hpp"
#include "tests/stages/nn/tensor_bytes.hpp"
#ifdef GRAPHLINE_CUDA
#include "tests/stages/nn/cuda/cpu_network.hpp"
#endif

// Runs imported networks in tests.

namespace graphline::test {

using namespace nn;

using values_of_tensors = std::vector<std::vector<float>>;

/// Runs a network and returns its outputs. @throws run_error for indices out of range
using carry_out = values_of_tensors (*)(const onnx_network&, const values_of_tensors&);

inline values_of_tensors on_host(const onnx_network& network, const values_of_tensors& inputs) {
  const network_definition& definition = network.definition;
  const auto on = open_host_device(1);
  const weight_table weights(definition, network.constants);
  stage_config config;
  config.name = "trial";
  const auto stage = make_host_network(*on, definition, weights, config);
  stage_tensors tensors;
  std::vector<memory> memories;
  const auto allocate = [&](std::size_t value) {
    const tensor_type& type = definition.values[value].type;
    memories.push_back(on->allocate(std::max<std::size_t>(type.bytes(), 4)));
    return tensor_view{memories.back().data(), type};
  };
  const auto s = on->make_stream("trial", priority::normal);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    tensors.inputs.push_back(allocate(definition.inputs[i]));
    const tensor_view& to = tensors.inputs.back();
    std::vector<std::byte> bytes(to.type.bytes());
    write_as(to.type.element, inputs[i], bytes.data());
    s->copy(to.data, bytes.data(), bytes.size());
    on->synchronize(wait_mode::block);
  }
  for (const std::size_t value : definition.outputs) tensors.outputs.push_back(allocate(value));
  memory scratch;
  if (stage->scratch_bytes() > 0) {
    scratch = on->allocate(stage->scratch_bytes());
    tensors.scratch = scratch.data();
  }
  const auto work = stage->bind(tensors);
  work->enqueue(*s);
  values_of_tensors outputs;
  for (const tensor_view& view : tensors.outputs) {
    std::vector<std::byte> bytes(view.type.bytes());
    s->copy(bytes.data(), view.data, bytes.size());
    on->synchronize(wait_mode::block);
    outputs.push_back(floats_in(view.type.element, bytes.data(),
                                static_cast<std::size_t>(view.type.shape.elements())));
  }
  auto& check = dynamic_cast<value_check&>(*work);
  if (const std::string problem = check.take_problem(); !problem.empty()) throw run_error(problem);
  return outputs;
}

#ifdef GRAPHLINE_CUDA
/// Runs the steps of `cuda` on the CPU: kernel bodies, and loops in place of the libraries.
inline values_of_tensors on_cuda_stand_ins(const onnx_network& network,
                                           const values_of_tensors& inputs) {
  reference_library library;
  return cpu_network(network.definition, network.constants, library).run(inputs);
}

/// The same with a library that fuses nothing and supports symmetric padding only.
inline values_of_tensors on_plain_stand_ins(const onnx_network& network,
                                            const values_of_tensors& inputs) {
  reference_library library;
  library.takes_convolution = [](const convolution_form& form) {
    return !form.conv.padding_after && !form.conv.bias && !form.add && form.before.empty();
  };
  library.takes_product = [](const product_form& form) {
    return !form.bias && form.activations.empty();
  };
  return cpu_network(network.definition, network.constants, library).run(inputs);
}
#endif

/// Fixture for tests on every backend.
class carried_out : public testing::TestWithParam<std::string> {
 protected:
  static carry_out on() {
#ifdef GRAPHLINE_CUDA
    if (GetParam() == "cuda") return on_cuda_stand_ins;
    if (GetParam() == "cuda_without_fusion") return on_plain_stand_ins;
#endif
    return on_host;
  }
};

inline std::string name_of_carrier(const testing::TestParamInfo<std::string>& given) {
  return given.param;
}

/// Instantiates the tests of a fixture derived from `carried_out`.
#ifdef GRAPHLINE_CUDA
#define GRAPHLINE_CARRY_OUT(fixture)                                                          \
  INSTANTIATE_TEST_SUITE_P(on, fixture, testing::Values("host"), name_of_carrier);            \
  INSTANTIATE_TEST_SUITE_P(by_steps, fixture, testing::Values("cuda", "cuda_without_fusion"), \
                           name_of_carrier)
#else
#define GRAPHLINE_CARRY_OUT(fixture) \
  INSTANTIATE_TEST_SUITE_P(on, fixture, testing::Values("host"), name_of_carrier)
#endif

}  // namespace graphline::test
