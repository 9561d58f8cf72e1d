#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "stages/kinds.hpp"

namespace graphline {
namespace {

class threshold final : public cpu_stage {
 public:
  explicit threshold(const stage_config& config)
      : largest_(config.arguments.text("value") == "largest"),
        below_(config.arguments.has("below")),
        limit_(static_cast<float>(config.arguments.number(below_ ? "below" : "above"))) {}

  void run(const cpu_call& call) override {
    const const_tensor_view& read = call.inputs[0];
    const std::span values(read.as<const float>(), read.type.bytes() / sizeof(float));
    float value = values.front();
    for (const float v : values) {
      if (std::isnan(v)) {
        value = v;  // as NumPy's min and max
        break;
      }
      value = largest_ ? std::max(value, v) : std::min(value, v);
    }
    *call.outputs[0].as<std::int64_t>() = (below_ ? value < limit_ : value > limit_) ? 1 : 0;
  }

 private:
  bool largest_;
  bool below_;
  float limit_;
};

/// FLOPs are unknown, because comparisons do not count as FLOPs.
prepared_stage prepare_threshold(const arguments& given, std::span<const tensor_type> inputs,
                                 diagnostics& out) {
  if (given.has("below") == given.has("above")) {
    out.error(given.where(), "it needs either 'below' or 'above', such as below: 0.8");
  }
  if (inputs[0].element != dtype::float32) {
    out.error(given.where(),
              fmt::format("cpu.threshold reads float32, found {}", to_string(inputs[0])));
  }
  return prepared_moves(inputs, {{{1}, dtype::int64}}, make_cpu_stage<threshold>);
}

}  // namespace

stage_kind threshold_kind() {
  stage_kind kind = kind_named(
      "cpu.threshold",
      "Compare the largest or smallest value with a limit, to decide whether stages run");
  kind.inputs = {{"values", "float32 of any shape"}};
  kind.outputs = {
      {"flag",
       "int64 [1], for 'when': 1 if the value is below or above the limit; else, and if "
       "any value is NaN, 0"}};
  kind.parameters = {
      {.name = "value",
       .type = parameter_type::choice,
       .help = "Value to compare. To detect an unsure classifier, compare the largest probability; "
               "for a batch, the smallest of the values that cpu.top_k writes.",
       .default_value = "largest",
       .choices = {"largest", "smallest"}},
      {.name = "below",
       .type = parameter_type::number,
       .help = "The flag is 1 if the value is less than this."},
      {.name = "above",
       .type = parameter_type::number,
       .help = "The flag is 1 if the value is greater than this."},
  };
  kind.prepare = prepare_threshold;
  return kind;
}

}  // namespace graphline
