#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/run/summary.hpp"
#include "framework/analysis/stats/median_interval.hpp"
#include "framework/record/overhead_record.hpp"

namespace graphline {

/// A figure taken once per trial: the median over the trial's frames. Medians, since one frame that
/// another program held up would shift a trial's mean by more than the cost looked for.
struct trial_figure {
  std::vector<double> trials;    ///< nanoseconds, in order of the blocks; not empty
  double median = 0;             ///< of the trials
  std::optional<double> spread;  ///< between the trials' quartiles; nothing below 4 trials

  /// Nothing for no trials.
  static std::optional<trial_figure> of(std::vector<double> trials);
};

/// What a timing method adds to the end-to-end time.
struct added_cost {
  /// Nanoseconds: under the method minus under `none` in the same block; median over the blocks.
  double median = 0;
  std::optional<interval> range;  ///< 95 %; nothing with too few blocks
  double baseline = 0;            ///< nanoseconds: end to end under `none`

  /// `ns` in percent of the baseline.
  double percent(double ns) const noexcept { return 100 * ns / baseline; }
};

/// What one timing method reports of the pipeline.
struct method_summary {
  timing_method method = timing_method::none;
  std::optional<trial_figure> end_to_end;
  struct stage_time {
    measure what = measure::device_time;
    std::optional<trial_figure> time;
  };
  /// As in the records; empty for `none`, which times no stage.
  std::vector<stage_time> stages;
  std::optional<added_cost> cost;  ///< nothing for `none` and without a complete block
};

/// What the timing methods report and cost, compared.
struct overhead_summary {
  /// Blocks in which every method has a trial that ran to its end. Only these are counted; where
  /// there are none, the methods show what trials there are, without costs.
  std::size_t complete_blocks = 0;
  std::size_t trials_left_out = 0;
  std::vector<std::string> stages;  ///< names
  std::vector<side> sides;          ///< where each stage runs
  std::vector<method_summary> methods;
  std::vector<std::string> warnings;  ///< that the machine was disturbed

  /// Nothing where the method was not measured.
  const method_summary* find(timing_method method) const noexcept;
};

overhead_summary summarize(const overhead_record& record);

}  // namespace graphline
