#include "tests/report/sample_costs.hpp"

namespace graphline::samples {

namespace {

cost_figures all_of(std::int64_t parameters, std::int64_t macs, std::int64_t flops,
                    std::int64_t read, std::int64_t written) {
  cost_figures result{parameters, macs, flops, read, written, {}};
  if (read + written > 0) {
    result.intensity = static_cast<double>(flops) / static_cast<double>(read + written);
  }
  return result;
}

}  // namespace

cost_summary sample_costs() {
  const tensor_type image{{1, 512, 256, 256}, dtype::float32};
  cost_summary summary;
  summary.pipeline = "known";
  summary.description = "A convolution that is known.";
  summary.parameters = {{"batch", "1"}, {"mode", "fast"}};
  summary.stages = {
      {"copy:image",
       "copy",
       side::device,
       true,
       {{"image@device", image}},
       all_of(0, 0, 0, 134'217'728, 134'217'728),
       {}},
      {"net",
       "network",
       side::device,
       false,
       {{"features", image}},
       all_of(6'553'600, 429'496'729'600, 859'027'013'632, 294'649'856, 268'435'456),
       {{"0.conv2d", "conv2d", image,
         all_of(6'553'600, 429'496'729'600, 858'993'459'200, 160'432'128, 134'217'728)},
        {"a_name_that_is_longer_than_there_is_room_for", "relu", image,
         all_of(0, 0, 33'554'432, 134'217'728, 134'217'728)},
        {"2.flatten", "flatten", {{1, 33'554'432}, dtype::float32}, all_of(0, 0, 0, 0, 0)}}},
      {"best",
       "cpu.nms",
       side::cpu,
       false,
       {{"kept", {{5}, dtype::int64}}, {"count", {{1}, dtype::int64}}},
       {0, {}, {}, 2'000, 48, {}},
       {}},
      {"my,\"own\"\x1b[31m", "my.kind", side::cpu, false, {}, {}, {}}};
  summary.total = {6'553'600, 429'496'729'600, 859'027'013'632, 428'869'584, 402'653'232, 1033.09};
  summary.without_flops = {2, 3};
  summary.without_bytes = {3};
  return summary;
}

}  // namespace graphline::samples
