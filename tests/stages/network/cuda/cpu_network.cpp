#include "tests/stages/network/cuda/cpu_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "stages/network/layer_reader.hpp"
#include "stages/weights/float_conversion.hpp"
#include "tests/stages/network/cuda/cpu_kernels.hpp"

namespace graphline::test {

namespace {

network_definition defined(const arguments& values, const shape& input) {
  const tensor_type type{input, dtype::float32};
  diagnostics problems;
  network_definition network = define_network(values, {&type, 1}, problems);
  problems.throw_if_errors();
  return network;
}

/// Bytes that begin where a pack may, as all that a device allocates.
std::size_t room_after(std::size_t bytes) {
  constexpr std::size_t widest_pack = 16;
  return (widest_pack - bytes % widest_pack) % widest_pack;
}

std::vector<float> read_as(dtype element, const std::byte* from, std::size_t count) {
  std::vector<float> values(count);
  const bool half = element == dtype::float16;
  float_conversion(half ? "F16" : element == dtype::bfloat16 ? "BF16" : "F32")(from, values);
  return values;
}

}  // namespace

cpu_network::cpu_network(const arguments& values, const shape& input, reference_library& library,
                         precision p, const value_form& in, const value_form& out)
    : network_(defined(values, input)), read_(in.element), written_(out.element) {
  const weight_table weights(
      network_, network_weights(
                    network_, {.name = "trial", .arguments = values, .inputs = {}, .outputs = {}}));
  program_ = lower_network_for_cuda(network_, weights, {library, p, "trial", {in}, {out}});
  weights_.emplace(program_.weights_bytes, guard::behind, room_after(program_.weights_bytes));
  program_.write_constants(weights_->data());
}

std::vector<float> cpu_network::run(const std::vector<float>& input, guard at) {
  const auto allocate = [at](std::size_t bytes) {
    return guarded<std::byte>(bytes, at, at == guard::behind ? room_after(bytes) : 0);
  };
  const auto scratch = allocate(program_.scratch_bytes);
  const auto read = allocate(input.size() * size_of(read_));
  write_elements(read_, input, read.data());
  const auto count = static_cast<std::size_t>(network_.shape_of(network_.outputs.at(0)).elements());
  const auto written = allocate(count * size_of(written_));

  const stage_tensors tensors{
      .inputs = {{read.data(), {network_.shape_of(network_.inputs.at(0)), read_}}},
      .outputs = {{written.data(), {shape{}, written_}}},
      .scratch = scratch.data()};
  for (const bound_cuda_step& bound : program_.bind(tensors, weights_->data())) {
    if (const auto* kernel = std::get_if<kernel_form>(&bound.step->work)) {
      SCOPED_TRACE(bound.step->owner);
      run_in_every_order(*kernel, bound.operands, {scratch.span(), written.span()});
    } else {
      std::get<std::shared_ptr<library_operation>>(bound.step->work)
          ->enqueue(nullptr, bound.operands, bound.workspace);
    }
  }
  EXPECT_TRUE(scratch.alone() && written.alone() && weights_->alone());
  return read_as(written_, written.data(), count);
}

std::size_t cpu_network::conversions() const {
  return static_cast<std::size_t>(
      std::count_if(program_.steps.begin(), program_.steps.end(), [](const cuda_step& step) {
        const auto* kernel = std::get_if<kernel_form>(&step.work);
        return kernel != nullptr && std::holds_alternative<convert_form>(*kernel);
      }));
}

}  // namespace graphline::test
