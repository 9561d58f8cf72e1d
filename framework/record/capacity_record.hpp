#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/words.hpp"
#include "framework/record/fields.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// What is asked: the highest rate of arriving frames at which a percentile of the end-to-end time
/// stays within a bound.
struct capacity_settings {
  double percentile = 0.95;  ///< 0 < percentile < 1
  nanoseconds bound = 0;     ///< a frame that takes longer is late, and so is one that is dropped
  graphline::arrival arrival = graphline::arrival::constant;  ///< constant or poisson
  double within = 0.02;     ///< how wide the interval of the rate may be, as a part of the rate
  std::int64_t frames = 0;  ///< due in each run of the search; 0 as long as that is not decided
  std::uint64_t seed = 1;   ///< of the moments at which frames are due
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

/// One run of frames that arrive at one rate.
struct capacity_run {
  std::size_t probe = 0;  ///< of the same number: at the same rate, and pooled or not
  double rate = 0;        ///< frames due in a second
  bool pooled = false;    ///< a run that the estimate rests on; others only find where it lies
  bool cut_off = false;   ///< ended early, since too many frames were late for any doubt
  std::int64_t overdue =
      0;  ///< when cut off: not done, and due for longer than the bound; at least
  run_record record;
};

template <class Archive>
void fields(Archive& a, part_of_record<capacity_run> auto& of) {
  a.value("probe", of.probe);
  a.value("rate", of.rate, any_rate);
  a.value("pooled", of.pooled);
  a.value("cut_off", of.cut_off);
  a.value("overdue", of.overdue);
  a.value("record", of.record);
}

/// Everything that a search for the highest rate measured, in raw form.
struct capacity_record {
  capacity_settings how;
  run_record closed_loop;          ///< frames that were all due at once: as fast as it goes
  std::vector<capacity_run> runs;  ///< in the order they ran
  bool interrupted = false;
  /// From before the first of all runs to after the last; nothing where nobody looked.
  std::optional<conditions_record> conditions = {};
};

template <class Archive>
void fields(Archive& a, part_of_record<capacity_record> auto& of) {
  a.value("how", of.how);
  a.value("closed_loop", of.closed_loop);
  a.value("runs", of.runs);
  a.value("interrupted", of.interrupted);
  a.value("conditions", of.conditions);
}

}  // namespace graphline
