#pragma once

#include <string>
#include <vector>

#include "framework/base/stop_request.hpp"
#include "framework/record/calibration_record.hpp"

namespace graphline {

/// Something that is ready to measure ceilings, again and again.
class ceiling_measurement {
 public:
  virtual ~ceiling_measurement() = default;
  ceiling_measurement(const ceiling_measurement&) = delete;
  ceiling_measurement& operator=(const ceiling_measurement&) = delete;

  /// What is measured, for progress.
  virtual const std::string& name() const noexcept = 0;

  /// Adds samples of each of its ceilings, after a warm-up; fewer once `stop`, which may be null,
  /// is raised. Throws `run_error` when the device fails.
  virtual void add_samples(const stop_request* stop) = 0;

  /// What was measured so far.
  virtual const std::vector<ceiling_record>& ceilings() const noexcept = 0;

 protected:
  ceiling_measurement() = default;
};

}  // namespace graphline
