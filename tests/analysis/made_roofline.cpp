#include "tests/analysis/made_roofline.hpp"

namespace graphline::samples {

calibration round_calibration() {
  constexpr auto float32 = precision::float32;
  const auto figure = [](ceiling what, double value, double best) {
    return ceiling_figure{what, float32, value, 0.96 * value, best};
  };
  return {"2026-11-20T12:00:00Z",
          {figure(ceiling::read, 1e12, 1.05e12), figure(ceiling::copy, 0.9e12, 0.92e12),
           figure(ceiling::host_to_device_pinned, 10e9, 10.5e9),
           figure(ceiling::device_to_host_pinned, 8e9, 8.4e9),
           figure(ceiling::convolution, 50e12, 52.5e12), figure(ceiling::matmul, 40e12, 42e12),
           figure(ceiling::launch, 5e3, 4.5e3)},
          {}};
}

cost_record work(std::int64_t flops, std::int64_t bytes, precision arithmetic) {
  return {flops, bytes, 0, arithmetic};
}

made_run one_after_another(const std::vector<std::pair<const char*, nanoseconds>>& stages,
                           timing_method timing) {
  made_run made(strategy::async, timing);
  for (std::size_t s = 0; s < stages.size(); ++s) {
    std::vector<wait_record> waits;
    if (s > 0) waits.push_back({s - 1, satisfied_by::stream_order});
    made.device_stage(stages[s].first, std::move(waits));
  }
  nanoseconds t = 0;
  for (int f = 0; f < 5; ++f) {
    const nanoseconds begin = t;
    std::vector<stamp_pair> stamps;
    for (const auto& stage : stages) {
      stamps.push_back({t, t + stage.second});
      t += stage.second;
    }
    made.frame(begin, t);
    for (std::size_t s = 0; s < stages.size(); ++s) {
      if (timing == timing_method::sync) {
        made.synced(s, stamps[s].begin, stamps[s].end);
      } else {
        made.device(s, stamps[s].begin, stamps[s].end);
        if (timing != timing_method::host) made.launch(s, begin, begin);
      }
    }
  }
  made.record.calibration = round_calibration();
  return made;
}

std::vector<stamp_pair> five_times(nanoseconds length) {
  return {5, {0, length}};
}

made_run in_two_parts() {
  auto made = one_after_another({{"net", 1'000'000}});
  auto& stage = made.record.stages[0];
  stage.parts = {{"0.conv2d", "", {}, work(20'000'000'000, 1'000'000)},
                 {"1.gelu", "", {}, work(1'000'000, 100'000'000)}};
  stage.cost = work(20'001'000'000, 101'000'000);
  return made;
}

}  // namespace graphline::samples
