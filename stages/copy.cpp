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

prepared_stage prepare_copy(const arguments&, std::span<const tensor_type> inputs, diagnostics&) {
  const auto bytes = static_cast<std::int64_t>(inputs.front().bytes());
  prepared_stage result{.outputs = {inputs.front()},
                        .cost = {.bytes_read = bytes, .bytes_written = bytes},
                        .known = known_cost::all};
  result.make_device[""] = [](device&, const stage_config&) {
    return std::make_unique<copy_stage>();
  };
  return result;
}

}  // namespace

stage_kind copy_kind() {
  stage_kind kind;
  kind.name = "copy";
  kind.headline = "Copy a tensor between the CPU and the device";
  kind.on = side::device;
  kind.moves = true;
  kind.inputs = {{"input", "Any tensor.", true}};
  kind.outputs = {{"output", "The same tensor on the other side.", true}};
  kind.prepare = prepare_copy;
  kind.backends = {""};
  return kind;
}

}  // namespace graphline
