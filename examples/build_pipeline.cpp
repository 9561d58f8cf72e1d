// Builds a pipeline in C++ instead of YAML, runs it under two strategies, and prints the median
// frame time under each strategy.

#include <graphline.hpp>

#include <algorithm>
#include <iostream>
#include <utility>
#include <vector>

namespace {

using namespace graphline;

/// A small network on the device, and independent CPU work.
pipeline_spec make_pipeline() {
  pipeline_spec pipeline;
  pipeline.name = {"built_in_cpp"};
  pipeline.inputs = {{.name = {"image"}, .type = {shape{1, 3, 64, 64}, dtype::float32}}};

  stage_spec network{.name = {"network"}, .kind = {"network"}, .reads = {{"image"}}};
  const node conv = node::mapping({{{"out_channels"}, 64}, {{"kernel"}, 3}, {{"padding"}, 1}});
  network.parameters =
      node::mapping({{{"layers"}, node::sequence({node::mapping({{{"conv2d"}, conv}}), "relu"})}});

  stage_spec busy{.name = {"busy"}, .kind = {"cpu.spin"}};
  busy.parameters = node::mapping({{{"duration"}, "1ms"}});

  pipeline.stages = {network, busy};
  pipeline.run.frames = 50;
  pipeline.run.threads = 1;
  return pipeline;
}

nanoseconds median_under(strategy how) {
  pipeline_spec pipeline = make_pipeline();
  pipeline.run.strategy = how;
  const run_record record = run_pipeline(std::move(pipeline), {.device = "host"});
  if (record.failure) throw run_error(*record.failure);

  std::vector<nanoseconds> times;
  for (const auto& frame : record.frames) times.push_back(frame.end - frame.due);
  std::nth_element(times.begin(), times.begin() + 25, times.end());
  return times[25];
}

}  // namespace

int main() {
  try {
    for (const strategy how : {strategy::serial, strategy::async}) {
      std::cout << to_word(how) << ": median of 50 frames "
                << format_duration(static_cast<double>(median_under(how))) << '\n';
    }
  } catch (const error& e) {
    std::cerr << e.what() << '\n';
    return static_cast<int>(e.status());
  }
}
