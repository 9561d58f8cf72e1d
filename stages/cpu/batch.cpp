#include <memory>

#include "stages/kinds.hpp"

namespace graphline {
namespace {

class batch_size final : public cpu_stage {
 public:
  void run(const cpu_call& call) override { *call.outputs[0].as<std::int64_t>() = call.frames; }
};

}  // namespace

stage_kind batch_kind() {
  stage_kind kind = kind_named("cpu.batch", "Report how many frames run together");
  kind.outputs = {{"count", "int64 [1]: 1, or up to 'batch_frames' with that setting"}};
  kind.prepare = [](const arguments&, std::span<const tensor_type> inputs, diagnostics&) {
    prepared_stage result = prepared_moves(inputs, {{{1}, dtype::int64}}, [](const stage_config&) {
      return std::make_unique<batch_size>();
    });
    result.known = known_cost::all;
    return result;
  };
  return kind;
}

}  // namespace graphline
