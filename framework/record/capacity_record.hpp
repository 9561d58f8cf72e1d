#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/words.hpp"
#include "framework/record/fields.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// Settings of a capacity search, which finds the highest arrival rate at which a percentile of the
/// end-to-end time stays within a bound.
struct capacity_settings {
  double percentile = 0.95;  ///< 0 < percentile < 1
  /// Frames that take longer, and dropped frames, are late. 0: the bound is the run's deadline.
  nanoseconds bound = 0;
  graphline::arrival arrival = graphline::arrival::constant;  ///< not closed
  double within = 0.02;  ///< target width of the rate's interval, relative to the rate
  /// Due in each run, of a set in its pipeline with the lowest rate; 0 until decided.
  std::int64_t frames = 0;
  std::uint64_t seed = 1;  ///< of arrival times
};

template <class Archive>
void fields(Archive& a, part_of_record<capacity_settings> auto& of) {
  a.value("percentile", of.percentile, part_of_one);
  a.value("bound_ns", of.bound, any_time);
  a.value("arrival", of.arrival);
  a.value("within", of.within, part_of_one);
  a.value("frames", of.frames);
  a.value("seed", of.seed);
}

/// Concurrent pipelines whose arrival rates are raised together.
struct capacity_set {
  std::string name;
  std::string description;
  std::vector<std::string> members;  ///< names
  sharing share = sharing::none;
};

template <class Archive>
void fields(Archive& a, part_of_record<capacity_set> auto& of) {
  a.value("name", of.name);
  a.value("description", of.description);
  a.value("members", of.members);
  a.value("share", of.share);
}

struct capacity_run {
  std::size_t probe = 0;     ///< runs of one probe share `rate` and `pooled`
  double rate = 0;           ///< frames due per second; of a set, the factor on its rates
  bool pooled = false;       ///< used for the estimate; other runs only locate it
  bool cut_off = false;      ///< ended early because too many frames were late
  std::int64_t overdue = 0;  ///< if cut off: at least this many unfinished frames exceed the bound
  std::vector<run_record> members;  ///< one; of a set, one per pipeline
};

template <class Archive>
void fields(Archive& a, part_of_record<capacity_run> auto& of) {
  a.value("probe", of.probe);
  a.value("rate", of.rate, any_rate);
  a.value("pooled", of.pooled);
  a.value("cut_off", of.cut_off);
  a.value("overdue", of.overdue);
  a.value("members", of.members);
}

/// Raw results of a capacity search.
struct capacity_record {
  capacity_settings how;
  std::optional<capacity_set> set = {};        ///< empty for one pipeline
  std::optional<run_record> closed_loop = {};  ///< a run at maximum throughput; empty for a set
  std::vector<capacity_run> runs;              ///< in order of execution
  bool interrupted = false;
  /// Conditions from before the first run to after the last run; empty if not recorded.
  std::optional<conditions_record> conditions = {};
  std::optional<prediction_record> prediction = {};  ///< if the runs are in virtual time
};

template <class Archive>
void fields(Archive& a, part_of_record<capacity_record> auto& of) {
  a.value("how", of.how);
  a.value("set", of.set);
  a.value("closed_loop", of.closed_loop);
  a.value("runs", of.runs);
  a.value("interrupted", of.interrupted);
  a.value("conditions", of.conditions);
  a.value("prediction", of.prediction);
}

}  // namespace graphline
