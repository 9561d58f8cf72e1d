#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/stats/distribution.hpp"
#include "framework/analysis/stats/percentile_bound.hpp"
#include "framework/analysis/stats/percentile_interval.hpp"
#include "framework/record/experiment_record.hpp"

namespace graphline {

class counted_trials;

/// The times of a chain in one trial. Samples are the due times of the frames of its first stage.
struct chain_times {
  /// From each sample that reaches an output to the end of the last output that uses it.
  std::vector<nanoseconds> ages;
  /// From the sample before each sample to the end of the first output that uses this sample or a
  /// later one.
  std::vector<nanoseconds> reactions;
  std::size_t unused = 0;   ///< samples that no output uses
  std::string why_unknown;  ///< empty if the times are known
};

/// Computes the times of a chain. When a stage begins, it reads the newest complete result of the
/// previous stage or, in the same pipeline, the result for its own frame. Leaves out samples from
/// before all pipelines of the chain began, outputs after the first of them ended, and the last
/// sample, whose outputs may go on after the end.
/// @param members Pipeline names in the order of `runs`
chain_times chain_times_of(const chain_record& chain, const std::vector<std::string>& members,
                           const std::vector<run_record>& runs);

/// Data ages or reaction times of a configuration.
struct chain_figures {
  std::vector<std::vector<nanoseconds>> by_trial;
  std::optional<distribution> times;  ///< over all trials; unsettled if latency grows at the source
  std::vector<percentile_interval> intervals;
  std::optional<bound_check> bound;  ///< on the tail percentile; empty without a bound
};

struct chain_summary {
  std::size_t chain = 0;
  std::size_t configuration = 0;
  chain_figures age;
  chain_figures reaction;
  std::size_t used = 0;
  std::size_t unused = 0;
  std::string why_unknown;  ///< of the first trial without times
};

/// Summarizes each chain in each configuration that runs all of its pipelines.
std::vector<chain_summary> chains_of(const experiment_record& record, const counted_trials& trials);

}  // namespace graphline
