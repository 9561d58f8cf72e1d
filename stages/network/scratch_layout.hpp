#pragma once

#include <cstddef>
#include <vector>

namespace graphline {

/// A piece of scratch memory that is in use from one step of a program to another, both included.
struct scratch_block {
  std::size_t bytes = 0;
  std::size_t first = 0;
  std::size_t last = 0;
};

struct scratch_layout {
  std::vector<std::size_t> offsets;  ///< per block, aligned to 256 bytes
  std::size_t bytes = 0;             ///< of all together
};

/// Places blocks so that those in use at the same time do not overlap: largest first, each at the
/// lowest offset that is free during its time.
scratch_layout lay_out_scratch(const std::vector<scratch_block>& blocks);

}  // namespace graphline
