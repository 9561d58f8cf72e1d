#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/analysis/run/frame_period.hpp"
#include "framework/analysis/stats/percentile_bound.hpp"
#include "framework/base/units.hpp"
#include "framework/record/run_record.hpp"
#include "framework/record/search_record.hpp"

namespace graphline {

struct search_goal {
  search_metric objective = search_metric::p50;
  std::vector<search_limit> limits = {};
};

/// Parses the metric of --minimize or --maximize. @throws input_error that names the option
search_metric parse_objective(std::string_view text, bool maximize);

/// Parses "METRIC<=LIMIT", or "throughput>=RATE". @throws input_error that names --subject-to
search_limit parse_limit(std::string_view text);

/// Returns the percentile of a latency metric, between 0 and 1; empty for other metrics.
std::optional<double> percentile_of(search_metric metric);

unit unit_of(search_metric metric);

/// Returns "p99 <= 20.0 ms".
std::string to_text(const search_limit& limit);

/// What trials of one candidate yield for a search. Dropped frames have infinite latency.
class search_samples {
 public:
  void add(const run_record& run);

  std::size_t trials() const noexcept { return trials_.size(); }

  /// Returns the metric over all frames; empty if there are too few for it.
  std::optional<double> value(search_metric metric) const;

  /// Same as `value`, but estimates a percentile from any number of frames.
  double estimate(search_metric metric) const { return estimate(metric, trials_); }

  /// Returns the metric of each trial on a scale on which less is better and differences are
  /// relative: the logarithm of a time, or minus the logarithm of the throughput.
  std::vector<double> scores(search_metric metric) const;

  /// Returns an interval of a percentile, by `check_bound`, or of the throughput, by Student's t
  /// for the logarithms of the trials' rates. Empty if it is unbounded, and for device memory.
  /// @param outside Probability on each side.
  std::optional<interval> range(search_metric metric, double outside = outside_95) const;

  /// Compares a metric with its limit by the same methods. Device memory: exact.
  bound_verdict check(const search_limit& limit, double outside = outside_95) const;

 private:
  struct trial {
    std::vector<nanoseconds> times;  ///< `never` for dropped frames
    completed_frames completed;
  };
  double estimate(search_metric metric, std::span<const trial> of) const;
  bound_check check_percentile(double p, double limit, double outside) const;

  std::vector<trial> trials_;
  std::uint64_t device_bytes_ = 0;
};

/// Returns the sum of logarithms by which estimates violate limits; 0 if they meet all.
double violation_of(const std::vector<search_limit>& limits, const search_samples& of);

/// Returns the interval of each candidate's mean difference to the leader, the candidate with the
/// lowest mean score, from scores in blocks: `scores[candidate][block]`, less is better, equal
/// numbers of blocks. The leader's is 0. Without two blocks, the others are unbounded. Student's t
/// for differences paired by block; the level is 5 % divided by the number of comparisons.
std::vector<interval> behind_leader(std::span<const std::vector<double>> scores);

}  // namespace graphline
