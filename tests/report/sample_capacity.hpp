#pragma once

#include <optional>
#include <vector>

#include "tests/analysis/sample_records.hpp"
#include "tests/analysis/simulated_queue.hpp"

namespace graphline::samples {

/// A search by rates that are given: frames of 30 ms that arrive at random, p95 within 60 ms.
inline capacity_record two_models_capacity(const std::vector<double>& rates) {
  const simulated_queue queue{arrival::poisson, 30e6, false};
  capacity_record record;
  record.how = {0.95, 60'000'000, arrival::poisson, 0.02, 240, 1};
  const auto make = [&](std::optional<double> rate, std::int64_t frames, std::uint64_t seed) {
    run_record run = two_models(timing_method::none, 1);
    run.frames = queue.run(rate, frames, seed).frames;
    run.run.frames = frames;
    return run;
  };
  record.closed_loop = make({}, 240, 1);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    record.runs.push_back({i, rates[i], false, false, 0, {make(rates[i], 240, 1)}});
  }
  if (rates.empty()) return record;
  for (std::uint64_t seed = 2; seed < 18; ++seed) {
    const std::size_t at = seed % 2;
    record.runs.push_back({rates.size() + at,
                           at == 0 ? 8.0 : 11.0,
                           true,
                           false,
                           0,
                           {make(at == 0 ? 8 : 11, 480, seed)}});
  }
  return record;
}

}  // namespace graphline::samples
