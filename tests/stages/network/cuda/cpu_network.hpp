#pragma once

#include <optional>
#include <vector>

#include "stages/network/cuda/lowering.hpp"
#include "tests/base/guarded.hpp"
#include "tests/stages/network/cuda/reference_library.hpp"

namespace graphline::test {

/// A network lowered for `cuda` and carried out on the CPU.
class cpu_network {
 public:
  /// `values` as of the stage; the library must outlive this.
  cpu_network(const arguments& values, const shape& input, reference_library& library,
              precision p = precision::float32, const value_form& in = {},
              const value_form& out = {});

  /// Runs on the input, rounded to the elements that it reads, with scratch, workspace and output
  /// filled with NaNs before, all of them at protected pages.
  std::vector<float> run(const std::vector<float>& input, guard at = guard::behind);

  const cuda_program& program() const { return program_; }
  const network_definition& network() const { return network_; }

  /// How many steps are conversions.
  std::size_t conversions() const;

 private:
  network_definition network_;
  dtype read_ = dtype::float32;
  dtype written_ = dtype::float32;
  cuda_program program_;
  std::optional<guarded<std::byte>> weights_;
};

}  // namespace graphline::test
