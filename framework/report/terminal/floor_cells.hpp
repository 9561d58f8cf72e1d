#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "framework/analysis/roofline/roofline.hpp"

namespace graphline {

// What tables and pages of a run show of its floors, where its device has a calibration.

/// A run's stages and parts held against its calibration, by their places in the record.
class floors {
 public:
  /// `held`: the run against its calibration, nothing where it has none.
  explicit floors(std::optional<roofline_summary> held);

  /// Null for a CPU stage, and without a calibration.
  const roofline_metrics* of_stage(std::size_t stage) const noexcept;
  const roofline_metrics* of_part(std::size_t stage, std::size_t part) const noexcept;

  /// Whether any stage, or any part of one, was measured and has a floor.
  bool any_stage() const noexcept;
  bool any_part(std::size_t stage) const noexcept;

  const std::optional<roofline_summary>& summary() const noexcept { return held_; }

 private:
  const roofline_stage* find(std::size_t stage) const noexcept;

  std::optional<roofline_summary> held_;
};

/// "1.53x", "743x": how many times as long as its floor; "-" for what is not known.
std::string ratio_cell(const std::optional<double>& ratio);

/// The same of a stage or part, or of null.
std::string ratio_cell(const roofline_metrics* figures);

/// What "least" and "ratio" are, for the notes below a table. Of a run with a calibration.
std::string floor_note(const run_record& record);

}  // namespace graphline
