#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/analysis/experiment/experiment_summary.hpp"
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

/// Returns why runs with these settings cannot have the metric, or an empty text.
std::string why_never_known(search_metric metric, const settings& run);

/// Returns the percentile of a latency metric, between 0 and 1; empty for other metrics.
std::optional<double> percentile_of(search_metric metric);

unit unit_of(search_metric metric);

/// Returns the metric of an experiment's comparisons that has the values of an objective.
figure figure_of(search_metric objective);

/// Returns "p99 <= 20.0 ms".
std::string to_text(const search_limit& limit);

/// What trials of one candidate yield for a search.
class search_samples {
 public:
  void add(const run_record& run);

  std::size_t trials() const noexcept { return times_.size(); }
  std::int64_t frames() const noexcept;

  /// Returns the metric over all frames; empty if there are too few for it.
  std::optional<double> value(search_metric metric) const;

  /// Same as `value`, but estimates a percentile from any number of frames.
  double estimate(search_metric metric) const;

  /// Returns a trial's metric on a scale on which less is better and differences are relative: the
  /// logarithm of a time, minus the logarithm of the throughput, or the fraction of late frames.
  double score(search_metric metric, std::size_t trial) const;

  /// Compares a metric with its limit. Percentiles and late frames: `check_bound`. Throughput:
  /// Student's t for the logarithms of the trials' rates. Device memory: exact.
  /// @param outside Probability of a wrong verdict on each side.
  bound_verdict check(const search_limit& limit, double outside = outside_95) const;

 private:
  std::vector<std::vector<nanoseconds>> times_;  // completed frames, by trial
  std::vector<std::size_t> lost_;                // other frames that missed their deadline
  std::vector<double> rates_;                    // frame/s
  std::vector<completed_frames> completed_;
  std::optional<nanoseconds> deadline_;
  std::uint64_t device_bytes_ = 0;
};

/// Returns by how much a value violates a limit, as a logarithm of their ratio or as a difference
/// of fractions; 0 if it does not.
double violation_of(const search_limit& limit, double value);

}  // namespace graphline
