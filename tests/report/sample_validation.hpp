#pragma once

#include <cstdint>
#include <vector>

#include "framework/record/validation_record.hpp"
#include "tests/analysis/sample_records.hpp"

namespace graphline::samples {

/// Five rounds of `count` frames. `backbone` and the frame take 8 ms more than predicted, and all
/// times differ by up to 1 % between the rounds.
inline validation_record two_models_validation(std::size_t count) {
  const frame_times predicted;
  validation_record record{5, {}, false, {}};
  for (const double part : {1.0, 1.01, 0.99, 1.005, 0.995}) {
    frame_times real = predicted;
    real.end_to_end = scaled(predicted.end_to_end + 8'000'000, part);
    real.backbone = scaled(predicted.backbone + 8'000'000, part);
    real.noise = scaled(predicted.noise, part);
    record.rounds.push_back(
        {run_of(timing_method::event, std::vector<frame_times>(count, real)),
         run_of(timing_method::event, std::vector<frame_times>(count, predicted))});
    auto& prediction = record.rounds.back().predicted.prediction.emplace();
    prediction.sources = {"run.json"};
    prediction.source_frames = static_cast<std::int64_t>(count);
  }
  return record;
}

}  // namespace graphline::samples
