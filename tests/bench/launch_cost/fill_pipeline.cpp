#include "tests/bench/launch_cost/fill_pipeline.hpp"

#include <memory>

#include "framework/plan/planner.hpp"

namespace launch_cost {

namespace {

using namespace graphline;

class fill_work final : public device_work {
 public:
  explicit fill_work(const tensor_view& to) : to_(to) {}
  void enqueue(stream& s) override { s.fill(to_.data, std::byte{1}, to_.type.bytes()); }

 private:
  tensor_view to_;
};

class fill_stage final : public device_stage {
 public:
  std::unique_ptr<device_work> bind(const stage_tensors& tensors) override {
    return std::make_unique<fill_work>(tensors.outputs.at(0));
  }
};

stage_spec fill_spec(const char* name, const char* reads, const char* writes) {
  stage_spec stage;
  stage.name = {name};
  stage.kind = {"fill"};
  stage.reads = {{reads}};
  stage.writes = {{writes}};
  return stage;
}

}  // namespace

stage_registry fill_registry() {
  stage_kind kind;
  kind.name = "fill";
  kind.headline = "Sets every byte of a tensor";
  kind.on = side::device;
  kind.inputs = {{"input", "What must come before."}};
  kind.outputs = {{"output", "What is set."}};
  kind.infer = [](const arguments&, std::span<const tensor_type> inputs, diagnostics&) {
    stage_shape result;
    result.outputs = {inputs.front()};
    return result;
  };
  kind.make_device[""] = [](device&, const stage_config&) -> std::unique_ptr<device_stage> {
    return std::make_unique<fill_stage>();
  };
  stage_registry registry;
  registry.add(std::move(kind));
  return registry;
}

plan fill_plan(const stage_registry& registry, const std::string& backend) {
  pipeline_spec spec;
  spec.name = {"fills"};
  input_spec input;
  input.name = {"start"};
  input.type = {shape({256}), dtype::float32};
  spec.inputs = {input};
  spec.stages = {fill_spec("first", "start", "a"), fill_spec("inner", "a", "b"),
                 fill_spec("last", "b", "c")};
  diagnostics found;
  plan result = make_plan(spec, registry, {.backend = backend}, found);
  found.throw_if_errors();
  return result;
}

}  // namespace launch_cost
