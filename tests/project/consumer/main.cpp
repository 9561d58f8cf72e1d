// Uses the installed package as its user would: a CPU stage of one's own, after a built-in network,
// in a pipeline built in C++.

#include <cstdio>
#include <graphline.hpp>
#include <memory>
#include <numeric>
#include <utility>

namespace gl = graphline;

namespace {

/// Adds up all it reads.
class sum_stage : public gl::cpu_stage {
 public:
  void run(const gl::cpu_call& call) override {
    const gl::const_tensor_view& values = call.inputs[0];
    const float* first = values.as<float>();
    *call.outputs[0].as<float>() =
        std::accumulate(first, first + values.type.shape.elements(), 0.0F);
    last_sum = *call.outputs[0].as<float>();
  }

  static inline float last_sum = 0;
};

gl::stage_kind sum_kind() {
  gl::stage_kind kind;
  kind.name = "consumer.sum";
  kind.headline = "Adds up all it reads.";
  kind.on = gl::side::cpu;
  kind.inputs = {{"values", "float32 of any shape"}};
  kind.outputs = {{"sum", "float32 [1]"}};
  kind.prepare = [](const gl::arguments&, std::span<const gl::tensor_type>, gl::diagnostics&) {
    return gl::prepared_stage{
        .outputs = {{gl::shape{1}, gl::dtype::float32}},
        .make_cpu = [](const gl::stage_config&) { return std::make_unique<sum_stage>(); }};
  };
  return kind;
}

/// Eight ones through a ReLU on the device, then summed on the CPU.
gl::pipeline_spec pipeline() {
  gl::stage_spec network;
  network.name.text = "network";
  network.kind.text = "network";
  network.reads = {{"ones", {}}};
  network.writes = {{"positive", {}}};
  network.parameters = gl::node::mapping({{{"layers", {}}, gl::node::sequence({"relu"})}});

  gl::stage_spec sum;
  sum.name.text = "sum";
  sum.kind.text = "consumer.sum";
  sum.reads = {{"positive", {}}};

  gl::input_spec ones;
  ones.name.text = "ones";
  ones.type = {gl::shape{1, 8}, gl::dtype::float32};
  ones.fill = gl::fill::ones;

  gl::pipeline_spec spec;
  spec.name.text = "consumer";
  spec.inputs = {ones};
  spec.stages = {network, sum};
  spec.run.frames = 3;
  spec.run.warmup = 1;
  spec.run.threads = 1;
  return spec;
}

}  // namespace

int main() {
  gl::stage_registry registry = gl::builtin_stages();
  registry.add(sum_kind());

  const gl::run_record record =
      gl::run_pipeline(pipeline(), {.device = "host"}, {}, std::move(registry));

  std::printf("%zu frames on %s, sum %g\n", record.frames.size(), record.device.backend.c_str(),
              static_cast<double>(sum_stage::last_sum));
  return !record.failure && record.frames.size() == 3 && sum_stage::last_sum == 8 ? 0 : 1;
}
