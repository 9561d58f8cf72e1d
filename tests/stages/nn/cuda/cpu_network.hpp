#pragma once

#include <optional>
#include <vector>

#include "stages/nn/cuda/lowering/lowering.hpp"
#include "tests/base/guarded.hpp"
#include "tests/stages/nn/cuda/reference_library.hpp"

namespace graphline::test {

using namespace nn;

/// A network lowered for `cuda` that runs on the CPU. The library must outlive it.
class cpu_network {
 public:
  /// A network from YAML; `values` are the stage's arguments. Tensors are row-major float32 unless
  /// forms are given.
  cpu_network(const arguments& values, const std::vector<tensor_type>& inputs,
              reference_library& library, precision p = precision::float32,
              const std::vector<value_form>& in = {}, const std::vector<value_form>& out = {});

  /// The same with one input and one output.
  cpu_network(const arguments& values, const shape& input, reference_library& library,
              precision p = precision::float32, const value_form& in = {},
              const value_form& out = {})
      : cpu_network(values, std::vector{tensor_type{input, dtype::float32}}, library, p,
                    std::vector{in}, std::vector{out}) {}

  /// A network with the data of its constants; tensors are row-major, of the types of its values.
  cpu_network(network_definition network, const std::vector<named_tensor>& constants,
              reference_library& library, precision p = precision::float32);

  /// Runs on the inputs, rounded to the types it reads, with scratch, workspace and outputs
  /// initially NaN and all memory at guard pages. Returns the outputs. @throws run_error with what
  /// a check found
  std::vector<std::vector<float>> run(const std::vector<std::vector<float>>& inputs,
                                      guard at = guard::behind);
  std::vector<float> run(const std::vector<float>& input, guard at = guard::behind) {
    return run(std::vector<std::vector<float>>{input}, at).at(0);
  }

  const cuda_program& program() const { return program_; }
  const network_definition& network() const { return network_; }

  /// Number of conversion steps.
  std::size_t conversions() const;

 private:
  void lower(const weight_table& weights, reference_library& library, precision p);

  network_definition network_;
  std::vector<value_form> read_;
  std::vector<value_form> written_;
  cuda_program program_;
  std::optional<guarded<std::byte>> weights_;
};

}  // namespace graphline::test
