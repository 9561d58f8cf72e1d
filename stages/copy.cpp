#include <memory>

#include "stages/kinds.hpp"

namespace graphline {

namespace {

class copy_work final : public device_work {
 public:
  explicit copy_work(const stage_tensors& tensors)
      : from_(tensors.inputs.at(0)), to_(tensors.outputs.at(0)) {}

  void enqueue(stream& s) override { s.copy(to_.data, from_.data, from_.type.bytes()); }

 private:
  tensor_view from_;
  tensor_view to_;
};

class copy_stage final : public device_stage {
 public:
  std::unique_ptr<device_work> bind(const stage_tensors& tensors) override {
    return std::make_unique<copy_work>(tensors);
  }
};

stage_shape infer(const arguments&, std::span<const tensor_type> inputs, diagnostics&) {
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
  kind.infer = infer;
  kind.make_device[""] = [](device&, const stage_config&) -> std::unique_ptr<device_stage> {
    return std::make_unique<copy_stage>();
  };
  return kind;
}

}  // namespace graphline
