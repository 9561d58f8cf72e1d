#include "tests/stages/network/cuda/cpu_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "tests/stages/network/cuda/cpu_kernels.hpp"

namespace graphline::test {

namespace {

network_definition defined(const arguments& values, const shape& input) {
  diagnostics problems;
  network_definition network =
      define_network(values.tree("layers"), input, values.where("layers"), problems);
  problems.throw_if_errors();
  return network;
}

/// Bytes that begin where a pack may, as all that a device allocates.
std::size_t room_after(std::size_t bytes) {
  constexpr std::size_t widest_pack = 16;
  return (widest_pack - bytes % widest_pack) % widest_pack;
}

}  // namespace

cpu_network::cpu_network(const arguments& values, const shape& input, reference_library& library,
                         precision p, tensor_layout in, tensor_layout out)
    : network_(defined(values, input)) {
  const weight_table weights(network_weights(
      network_, {.name = "trial", .arguments = values, .inputs = {}, .outputs = {}}));
  program_ = lower_network_for_cuda(network_, weights, {library, p, "trial", in, out});
  weights_.emplace(program_.weights_bytes, guard::behind, room_after(program_.weights_bytes));
  program_.write_constants(weights_->data());
}

std::vector<float> cpu_network::run(const std::vector<float>& input, guard at) {
  const auto allocate = [at](std::size_t bytes) {
    return guarded<std::byte>(bytes, at, at == guard::behind ? room_after(bytes) : 0);
  };
  const auto scratch = allocate(program_.scratch_bytes);
  const auto read = allocate(input.size() * sizeof(float));
  std::memcpy(read.data(), input.data(), read.span().size());
  const auto count = static_cast<std::size_t>(network_.shape_of(network_.layers.size()).elements());
  const auto written = allocate(count * sizeof(float));

  const std::vector<bound_step> steps = program_.bind({.input = read.data(),
                                                       .output = written.data(),
                                                       .weights = weights_->data(),
                                                       .scratch = scratch.data()});
  for (const bound_step& bound : steps) {
    if (const auto* kernel = std::get_if<kernel_form>(&bound.step->work)) {
      SCOPED_TRACE(bound.step->owner);
      run_in_every_order(*kernel, bound.operands, {scratch.span(), written.span()});
    } else {
      std::get<std::shared_ptr<library_operation>>(bound.step->work)
          ->enqueue(nullptr, bound.operands, bound.workspace);
    }
  }
  EXPECT_TRUE(scratch.alone() && written.alone() && weights_->alone());
  std::vector<float> result(count);
  std::memcpy(result.data(), written.data(), written.span().size());
  return result;
}

std::size_t cpu_network::conversions() const {
  return static_cast<std::size_t>(
      std::count_if(program_.steps.begin(), program_.steps.end(), [](const cuda_step& step) {
        const auto* kernel = std::get_if<kernel_form>(&step.work);
        return kernel != nullptr && std::holds_alternative<convert_form>(*kernel);
      }));
}

}  // namespace graphline::test
