#include "tests/stages/nn/cuda/cpu_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "framework/base/error.hpp"
#include "stages/nn/yaml/layer_reader.hpp"
#include "tests/stages/nn/cuda/cpu_kernels.hpp"
#include "tests/stages/nn/tensor_bytes.hpp"

namespace graphline::test {

using namespace nn;

namespace {

network_definition defined(const arguments& values, const std::vector<tensor_type>& inputs) {
  diagnostics problems;
  network_definition network =
      define_network(values, read_network_names(values, problems), inputs, problems);
  problems.throw_if_errors();
  return network;
}

/// Bytes aligned for packs, like device allocations.
std::size_t room_after(std::size_t bytes) {
  constexpr std::size_t widest_pack = 16;
  return (widest_pack - bytes % widest_pack) % widest_pack;
}

}  // namespace

cpu_network::cpu_network(const arguments& values, const std::vector<tensor_type>& inputs,
                         reference_library& library, precision p, const std::vector<value_form>& in,
                         const std::vector<value_form>& out)
    : network_(defined(values, inputs)), read_(in), written_(out) {
  read_.resize(network_.inputs.size());
  written_.resize(network_.outputs.size());
  diagnostics problems;
  const auto file = open_weights(network_, values, problems);
  problems.throw_if_errors();
  lower(weight_table(network_, network_weights(network_, file.get(), 1)), library, p);
}

cpu_network::cpu_network(network_definition network, const std::vector<named_tensor>& constants,
                         reference_library& library, precision p)
    : network_(std::move(network)),
      read_(network_.inputs.size()),
      written_(network_.outputs.size()) {
  for (std::size_t i = 0; i < read_.size(); ++i) {
    read_[i].element = network_.values[network_.inputs[i]].type.element;
  }
  for (std::size_t i = 0; i < written_.size(); ++i) {
    written_[i].element = network_.values[network_.outputs[i]].type.element;
  }
  lower(weight_table(network_, constants), library, p);
}

void cpu_network::lower(const weight_table& weights, reference_library& library, precision p) {
  program_ =
      lower_network_for_cuda(network_, weights, {library, p, "stage 'trial'", read_, written_});
  weights_.emplace(program_.weights_bytes, guard::behind, room_after(program_.weights_bytes));
  program_.write_constants(weights_->data());
}

std::vector<std::vector<float>> cpu_network::run(const std::vector<std::vector<float>>& inputs,
                                                 guard at) {
  std::deque<guarded<std::byte>> memories;
  const auto allocate = [&](std::size_t bytes) -> guarded<std::byte>& {
    return memories.emplace_back(bytes, at, at == guard::behind ? room_after(bytes) : 0);
  };
  const auto& scratch = allocate(program_.scratch_bytes);
  std::vector<tensor_view> read;
  std::vector<tensor_view> written;
  std::vector<std::span<std::byte>> touched{scratch.span()};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const dtype element = read_[i].element;
    std::byte* data = allocate(inputs[i].size() * size_of(element)).data();
    write_as(element, inputs[i], data);
    read.push_back({data, {network_.shape_of(network_.inputs.at(i)), element}});
  }
  for (std::size_t i = 0; i < written_.size(); ++i) {
    const tensor_type type{network_.shape_of(network_.outputs[i]), written_[i].element};
    const auto& output = allocate(type.bytes());
    written.push_back({output.data(), type});
    touched.push_back(output.span());
  }
  const std::vector<std::byte*> weights = program_.weights_in(weights_->data());
  std::vector<float> checks(program_.checks.size());
  touched.push_back(std::as_writable_bytes(std::span(checks)));
  const program_memory memory{.inputs = read,
                              .outputs = written,
                              .weights = weights,
                              .scratch = scratch.data(),
                              .checks = checks.data()};
  for (const bound_cuda_step& bound : program_.bind(memory)) {
    if (const auto* kernel = std::get_if<kernel_form>(&bound.step->work)) {
      SCOPED_TRACE(bound.step->owner);
      run_in_every_order(*kernel, bound.operands, touched);
    } else {
      std::get<std::shared_ptr<library_operation>>(bound.step->work)
          ->enqueue(nullptr, bound.operands, bound.workspace);
    }
  }
  EXPECT_TRUE(weights_->alone());
  if (const std::string found = program_.take_problem(checks); !found.empty()) {
    throw run_error(found);
  }
  for (const auto& each : memories) EXPECT_TRUE(each.alone());
  std::vector<std::vector<float>> outputs;
  for (const tensor_view& output : written) {
    const auto count = static_cast<std::size_t>(output.type.shape.elements());
    outputs.push_back(
        floats_in(output.type.element, static_cast<const std::byte*>(output.data), count));
  }
  return outputs;
}

std::size_t cpu_network::conversions() const {
  return static_cast<std::size_t>(
      std::count_if(program_.steps.begin(), program_.steps.end(), [](const cuda_step& step) {
        const auto* kernel = std::get_if<kernel_form>(&step.work);
        return kernel != nullptr && std::holds_alternative<convert_form>(*kernel);
      }));
}

}  // namespace graphline::test
