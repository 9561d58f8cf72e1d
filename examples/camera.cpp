// Submits frames of an application to a pipeline, 30 a second, as a camera does. A stage of the
// application reads the results. Latency counts from the moment a frame is submitted.

#include <graphline.hpp>

#include <chrono>
#include <iostream>
#include <memory>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace graphline;

constexpr const char* pipeline_text = R"(
pipeline: camera
stages:
  - {name: camera, kind: app.camera, writes: image}      # the frames that the application submits
  - {name: classify, kind: network, reads: image, writes: score,
     layers: [{conv2d: {out_channels: 8, kernel: 3}}, relu, {adaptive_avg_pool2d: {output: 1}}, flatten,
              {linear: {out_features: 10}}]}
  - {name: best, kind: cpu.top_k, reads: score, writes: [value, label], k: 1}
  - {name: show, kind: app.show, reads: label}           # a stage of the application
# 30 frame/s are due. A new frame replaces one that waits.
run: {frames: 60, warmup: 2, arrival: constant, rate: 30, queue: 1, when_full: drop_oldest, deadline: 33 ms,
      threads: 1}
)";

const tensor_type image_type{shape{1, 3, 48, 64}, dtype::float32};

/// Reads the label of a frame without a copy.
class show final : public cpu_stage {
 public:
  void run(const cpu_call& call) override {
    const const_tensor_view& label = call.inputs[0];
    if (call.frame % 15 == 0) {
      std::cout << "frame " << call.frame << ": label " << *label.as<std::int64_t>() << '\n';
    }
  }
};

stage_kind show_kind() {
  stage_kind kind;
  kind.name = "app.show";
  kind.headline = "Prints the label of a frame";
  kind.on = side::cpu;
  kind.inputs = {{"label", "int64"}};
  kind.prepare = [](const arguments&, std::span<const tensor_type>, diagnostics&) {
    return prepared_stage{.make_cpu = [](const stage_config&) { return std::make_unique<show>(); }};
  };
  return kind;
}

/// Submits frames until stopped. `submit` copies the pixels.
void run_camera(frame_feed& feed, const std::stop_token& stop) {
  std::vector<float> pixels(static_cast<std::size_t>(image_type.shape.elements()));
  auto next = std::chrono::steady_clock::now();
  for (float brightness = 0; !stop.stop_requested(); brightness += 0.01F) {
    pixels.assign(pixels.size(), brightness);
    feed.submit({{pixels.data(), image_type}});  // false if the run has not begun or has ended
    next += std::chrono::microseconds(33'333);
    std::this_thread::sleep_until(next);
  }
}

}  // namespace

int main() {
  try {
    frame_feed feed({image_type});
    stage_registry stages = builtin_stages();
    stages.add(feed.source_kind("app.camera"));
    stages.add(show_kind());

    const std::jthread camera([&](const std::stop_token& stop) { run_camera(feed, stop); });
    // `run_pipeline` returns after 60 frames, or after feed.close().
    const run_record record = run_pipeline(source_text("camera.yaml", pipeline_text),
                                           {.device = "host"}, {.feed = &feed}, std::move(stages));
    std::cout << report::as_text(report::describe(record));
    return record.failure || record.frames.size() != 60 ? 1 : 0;
  } catch (const error& e) {
    std::cerr << e.what() << '\n';
    return static_cast<int>(e.status());
  }
}
