#include <memory>
#include <vector>

#include "stages/kinds.hpp"
#include "stages/one_part_stage.hpp"

namespace graphline {

namespace {

prepared_stage prepare_copy(const arguments&, std::span<const tensor_type> inputs, diagnostics&) {
  const auto bytes = static_cast<std::int64_t>(inputs.front().bytes());
  prepared_stage result{.outputs = {inputs.front()},
                        .cost = {.bytes_read = bytes, .bytes_written = bytes},
                        .known = known_cost::all};
  result.make_device[""] = [](device&, const stage_config&) {
    return std::make_unique<one_part_stage>(std::vector<stage_part>{}, enqueue_copy);
  };
  return result;
}

}  // namespace

stage_kind copy_kind() {
  stage_kind kind = kind_named("copy", "Copy a tensor between the CPU and the device");
  kind.on = side::device;
  kind.moves = true;
  kind.inputs = {{"input", "Any tensor.", true}};
  kind.outputs = {{"output", "The same tensor on the other side.", true}};
  kind.prepare = prepare_copy;
  kind.backends = {""};
  return kind;
}

}  // namespace graphline
