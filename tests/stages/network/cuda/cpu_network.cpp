#include "tests/stages/network/cuda/cpu_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "tests/stages/network/cuda/cpu_kernels.hpp"

namespace graphline::test {

namespace {

constexpr std::size_t alignment = 256;

network_definition defined(const arguments& values, const shape& input) {
  diagnostics problems;
  network_definition network =
      define_network(values.tree("layers"), input, values.where("layers"), problems);
  problems.throw_if_errors();
  return network;
}

/// The first address in a buffer of `alignment` bytes too many that is aligned as on a device.
std::byte* aligned(std::vector<std::byte>& bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(bytes.data());
  return bytes.data() + (alignment - at % alignment) % alignment;
}

std::vector<std::byte> poisoned(std::size_t bytes) {
  return std::vector<std::byte>(bytes + alignment, std::byte{0xff});
}

}  // namespace

cpu_network::cpu_network(const arguments& values, const shape& input, reference_library& library,
                         precision p, tensor_layout in, tensor_layout out)
    : network_(defined(values, input)) {
  const weight_table weights(network_weights(
      network_, {.name = "trial", .arguments = values, .inputs = {}, .outputs = {}}));
  program_ = lower_network_for_cuda(network_, weights, {library, p, "trial", in, out});
  weights_ = poisoned(program_.weights_bytes);
  program_.write_constants(aligned(weights_));
}

std::vector<float> cpu_network::run(const std::vector<float>& input) {
  std::vector<std::byte> scratch = poisoned(program_.scratch_bytes);
  std::vector<std::byte> read = poisoned(input.size() * sizeof(float));
  std::copy(input.begin(), input.end(), reinterpret_cast<float*>(aligned(read)));
  const auto count = static_cast<std::size_t>(network_.shape_of(network_.layers.size()).elements());
  std::vector<std::byte> written = poisoned(count * sizeof(float));

  const std::vector<bound_step> steps = program_.bind({.input = aligned(read),
                                                       .output = aligned(written),
                                                       .weights = aligned(weights_),
                                                       .scratch = aligned(scratch)});
  for (const bound_step& bound : steps) {
    if (const auto* kernel = std::get_if<kernel_form>(&bound.step->work)) {
      SCOPED_TRACE(bound.step->owner);
      run_in_every_order(*kernel, bound.operands, {scratch, written});
    } else {
      std::get<std::shared_ptr<library_operation>>(bound.step->work)
          ->enqueue(nullptr, bound.operands, bound.workspace);
    }
  }
  const auto* result = reinterpret_cast<const float*>(aligned(written));
  return {result, result + count};
}

std::size_t cpu_network::conversions() const {
  return static_cast<std::size_t>(
      std::count_if(program_.steps.begin(), program_.steps.end(), [](const cuda_step& step) {
        const auto* kernel = std::get_if<kernel_form>(&step.work);
        return kernel != nullptr && std::holds_alternative<convert_form>(*kernel);
      }));
}

}  // namespace graphline::test
