#include "tests/report/sample_roofline.hpp"

#include "tests/analysis/sample_records.hpp"

namespace graphline::samples {

namespace {

void add_costs(run_record& to) {
  to.stages[0].parts[0].cost = {5'200'000'000, 7'000'000, 3'200'000};
  to.stages[0].parts[1].cost = {6'400'000, 12'800'000, 4'000};
  to.stages[0].cost = {5'206'400'000, 19'800'000, 3'204'000};
  to.stages[2].cost = {1'050'000, 2'100'000, 4};
}

calibration made_calibration() {
  constexpr auto float32 = precision::float32;
  return {"2026-11-20T12:00:00Z",
          {{ceiling::read, float32, 12e9, 11.4e9, 12.3e9},
           {ceiling::copy, float32, 11e9, 10.4e9, 11.2e9},
           {ceiling::convolution, float32, 105e9, 98e9, 107e9},
           {ceiling::matmul, float32, 99e9, 95e9, 101e9},
           {ceiling::launch, float32, 2'600, 3'000, 2'500}},
          {}};
}

}  // namespace

roofline_record two_models_roofline(std::size_t frames) {
  roofline_record record{two_models(timing_method::event, frames), two_models_in_parts(frames)};
  auto& parts = record.stages.stages[0].parts;
  parts = record.layers.stages[0].parts;
  for (auto& part : parts) part.device.clear();
  for (auto* run : {&record.stages, &record.layers}) {
    add_costs(*run);
    run->calibration = made_calibration();
  }
  return record;
}

}  // namespace graphline::samples
