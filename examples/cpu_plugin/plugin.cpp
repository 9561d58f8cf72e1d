// A plug-in with the CPU stage my.accumulate, which keeps state from frame to frame.

#include <framework/stage/plugin.hpp>

#include <cmath>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace my {
namespace {

using namespace graphline;

/// The work of the stage. One object processes all frames, in order and one at a time.
class accumulator final : public cpu_stage {
 public:
  accumulator(double keep, std::int64_t elements)
      : keep_(static_cast<float>(keep)), sums_(static_cast<std::size_t>(elements)) {}

  void run(const cpu_call& call) override {
    if (call.frame == 0) sums_.assign(sums_.size(), 0.0F);  // a run or trial begins
    const auto* values = call.inputs[0].as<float>();        // inputs are read-only
    auto* sums = call.outputs[0].as<float>();
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      sums_[i] = keep_ * sums_[i] + values[i];
      if (std::isnan(sums_[i]))
        throw std::runtime_error("element " + std::to_string(i) + " is NaN");
      sums[i] = sums_[i];
    }
  }

 private:
  float keep_;
  std::vector<float> sums_;
};

/// Checks the input types, and returns output types, cost and factory. `graphline check` calls only
/// this function of the stage.
prepared_stage prepare(const arguments& given, std::span<const tensor_type> inputs,
                       diagnostics& out) {
  if (inputs[0].element != dtype::float32) {
    out.error(given.where(), "my.accumulate reads float32, found " + to_string(inputs[0]));
    return {};
  }
  cost work;
  work.flops = 2 * inputs[0].shape.elements();
  work.bytes_read = static_cast<std::int64_t>(inputs[0].bytes());
  work.bytes_written = work.bytes_read;
  return {.outputs = {inputs[0]},
          .cost = work,
          .known = known_cost::all,
          .make_cpu = [](const stage_config& config) {
            return std::make_unique<accumulator>(config.arguments.number("keep"),
                                                 config.inputs[0].shape.elements());
          }};
}

stage_kind accumulate_kind() {
  stage_kind kind;
  kind.name = "my.accumulate";
  kind.headline = "Sum over frames, with weights that decay with age";
  kind.on = side::cpu;
  kind.inputs = {{"values", "float32 of any shape"}};
  kind.outputs = {{"sums", "float32 of the same shape"}};
  kind.parameters = {{.name = "keep",
                      .type = parameter_type::number,
                      .help = "Share of the previous sum that is kept",
                      .default_value = "0.5",
                      .minimum = 0,
                      .maximum = 1}};
  kind.prepare = prepare;
  return kind;
}

}  // namespace
}  // namespace my

GRAPHLINE_PLUGIN(registry) {
  registry.add(my::accumulate_kind());
}
