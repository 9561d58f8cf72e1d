#include <memory>

#include "stages/kinds.hpp"

namespace graphline {

namespace {

class copy_stage final : public device_stage {
 public:
  std::unique_ptr<device_work> bind(const stage_tensors& tensors) override {
    return one_part([from = tensors.inputs.at(0), to = tensors.outputs.at(0)](stream& s) {
      s.copy(to.data, from.data, from.type.bytes());
    });
  }
};

stage_shape infer_copy(const arguments&, std::span<const tensor_type> inputs, diagnostics&) {
  const auto bytes = static_cast<std::int64_t>(inputs.front().bytes());
  return {.outputs = {inputs.front()},
          .cost = {.bytes_read = bytes, .bytes_written = bytes},
          .layers = {},
          .known = known_cost::all};
}

}  // namespace

stage_kind copy_kind() {
  stage_kind kind;
  kind.name = "copy";
  kind.headline = "Copies a tensor between the CPU and the device";
  kind.on = side::device;
  kind.moves = true;
  kind.inputs = {{"input", "Any tensor."}};
  kind.outputs = {{"output", "The same tensor on the other side."}};
  kind.infer = infer_copy;
  kind.make_device[""] = [](device&, const stage_config&) -> std::unique_ptr<device_stage> {
    return std::make_unique<copy_stage>();
  };
  return kind;
}

}  // namespace graphline
