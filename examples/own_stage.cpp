// Adds a CPU stage kind with a parameter and uses it in a pipeline: `my.threshold` turns scores
// into yes (1) or no (0).

#include <graphline.hpp>

#include <iostream>
#include <memory>
#include <utility>

namespace {

using namespace graphline;

constexpr const char* pipeline_text = R"(
pipeline: own_stage
inputs:
  scores: {shape: [1000], on: cpu}
stages:
  - {name: decide, kind: my.threshold, reads: scores, at: 0.5}
run: {frames: 20, warmup: 2}
)";

/// The work of the stage: `run` is called once per frame, never concurrently.
class threshold final : public cpu_stage {
 public:
  explicit threshold(double at) : at_(static_cast<float>(at)) {}

  void run(const cpu_call& call) override {
    const auto& scores = call.inputs[0];
    auto* yes = call.outputs[0].as<std::uint8_t>();
    for (std::int64_t i = 0; i < scores.type.shape.elements(); ++i) {
      yes[i] = scores.as<float>()[i] > at_ ? 1 : 0;
    }
  }

 private:
  float at_;
};

stage_kind threshold_kind() {
  stage_kind kind;
  kind.name = "my.threshold";
  kind.headline = "1 where a score is above a threshold, 0 elsewhere";
  kind.on = side::cpu;
  kind.inputs = {{"scores", "float32, any shape"}};
  kind.outputs = {{"yes", "uint8, the same shape"}};
  kind.parameters = {
      {.name = "at", .type = parameter_type::number, .help = "The threshold", .required = true}};
  kind.prepare = [](const arguments&, std::span<const tensor_type> inputs, diagnostics&) {
    return prepared_stage{.outputs = {{inputs[0].shape, dtype::uint8}},
                          .make_cpu = [](const stage_config& config) {
                            return std::make_unique<threshold>(config.arguments.number("at"));
                          }};
  };
  return kind;
}

}  // namespace

int main() {
  try {
    stage_registry stages = builtin_stages();
    stages.add(threshold_kind());
    const run_record record = run_pipeline(source_text("own_stage.yaml", pipeline_text),
                                           {.device = "host"}, {}, std::move(stages));
    std::cout << report::as_text(report::describe(record));
    return record.failure ? 1 : 0;
  } catch (const error& e) {
    std::cerr << e.what() << '\n';
    return static_cast<int>(e.status());
  }
}
