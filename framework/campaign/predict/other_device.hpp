#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "framework/campaign/predict/prediction.hpp"
#include "framework/device/device.hpp"
#include "framework/plan/plan.hpp"
#include "framework/record/calibration_record.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// Another device than the source's, and the ceilings of both. These are of one kind, so that their
/// ratios compare devices.
struct other_device {
  device_properties device;
  std::vector<ceiling_figure> ceilings;
  std::vector<ceiling_figure> source_ceilings;
  bool public_figures = true;  ///< else measured
};

/// Returns the factors of the source's device stages.
///
/// Of a stage's time, up to 2.5 us per operation above the roofline time do not change: the cost of
/// starting work. The roofline time becomes that of the other device. What is above both scales as
/// the stage's FLOPs if these take longer than its bytes, else as the rate of the cores in float32;
/// that of a copy stays. The best factor is that of one after the other, moved towards that of both
/// at once, the more the larger the share of the latter part: half-way if it takes all the time.
/// The lowest and the highest factor are those of these two and of a stage that keeps its
/// efficiency, so that all its time scales as the roofline time does.
/// @throws input_error that names the missing ceiling or cost. Stages in `scaled` need no cost.
std::vector<stage_factor> factors_on(const other_device& other, const run_record& source,
                                     const std::map<std::string, double>& scaled = {});

/// Predicts a run on another device: by `predict`, with `factors_on` in
/// `prediction_options::scale`. The intervals span those of the lowest, best and highest factors.
/// @throws input_error also if the source used more memory than the device has
run_record predict_on(const other_device& other, const plan& p, const run_record& source,
                      const prediction_options& options,
                      const std::function<run_record(const prediction_options&)>& predict);

}  // namespace graphline
