#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/analysis/finding.hpp"
#include "framework/analysis/run/overload.hpp"
#include "framework/analysis/stats/distribution.hpp"
#include "framework/base/words.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// What the time of a stage is the time of; decided by the timing method and by where it runs.
enum class measure { device_time, synchronized_time, enqueue_time, cpu_time };

inline constexpr word<measure> measure_words[] = {{"device_time", measure::device_time},
                                                  {"synchronized_time", measure::synchronized_time},
                                                  {"enqueue_time", measure::enqueue_time},
                                                  {"cpu_time", measure::cpu_time}};
template <>
struct words_of<measure> {
  static constexpr const auto& table = measure_words;
};

/// The stamps a stage holds for a measure.
const std::vector<stamp_pair>& stamps_of(const stage_record& stage, measure what) noexcept;

/// The samples: of a device's time what it was at work, where it tells.
std::vector<nanoseconds> times_of(const stage_record& stage, measure what);

/// The measures that a run takes of a stage by its timing method, the one that stands for the
/// stage's time first. In a frame's graph no stage has a launch of its own to take.
std::vector<measure> measures_of(side on, const settings& run);

/// What was measured of one stage.
struct stage_summary {
  struct column {
    measure what = measure::device_time;
    std::optional<distribution> times;  ///< nothing when no frame was measured
  };
  std::vector<column> columns;  ///< by `measures_of`; empty when stages are not timed

  /// Mean of the first column over the mean end to end. Stages that overlap add up to more than 1.
  /// Nothing where that mean is unsettled.
  std::optional<double> share;

  struct part {
    std::optional<distribution> times;  ///< nothing but under `layers`
    std::optional<double> share;        ///< of the stage's mean
  };
  std::vector<part> parts;  ///< as in the record
};

/// Frames that missed a deadline: completed late, dropped, or overdue when the run ended early.
struct deadline_misses {
  std::size_t missed = 0;
  std::size_t dropped = 0;  ///< of these
  std::size_t frames = 0;   ///< of which it is known whether they missed it

  double share() const noexcept {
    return static_cast<double>(missed) / static_cast<double>(frames);
  }
};

struct deadline_summary {
  nanoseconds limit = 0;
  deadline_misses misses;
  std::optional<nanoseconds> median_late;  ///< beyond the limit, of those completed late
  std::optional<nanoseconds> worst_late;
};

/// Frames that were due on a schedule.
struct load_summary {
  std::size_t due = 0;  ///< `frames_due`
  std::size_t dropped = 0;
  std::size_t unfinished = 0;     ///< when the run ended
  std::optional<double> offered;  ///< frames due in a second; nothing below two
  /// From due to begin of each frame that ran; unsettled where the end-to-end times are.
  std::optional<distribution> queue_wait;
};

/// What a run's raw samples say.
struct run_summary {
  /// From due to end of each frame; unsettled where latency grows with the length of the run.
  std::optional<distribution> end_to_end;
  std::optional<double> throughput;   ///< frames completed in a second, as `completions_of`
  std::vector<stage_summary> stages;  ///< as in the record
  std::optional<deadline_summary> deadline;
  std::optional<load_summary> load;  ///< nothing with `arrival: closed`
  std::optional<graphline::overload> overload;
  /// As failures what must be known before the figures: overload first, then missed deadlines. As
  /// warnings the record's, then what the samples give cause for.
  std::vector<finding> findings;
};

run_summary summarize(const run_record& record);

deadline_misses misses_of(const run_record& record, nanoseconds limit);

/// Of all frames of these runs, and by how much those were late that were completed.
deadline_summary compare_with_deadline(nanoseconds limit, std::span<const run_record* const> runs);

/// From the first begin to the last end. On a schedule from when the first frame was due to when a
/// next one would be, or to the last end if that is later. 0 without frames.
nanoseconds running_time(const run_record& record);

/// From due to end of each frame, in order.
std::vector<nanoseconds> end_to_end_times(const run_record& record);

/// From due to begin of each frame, in order.
std::vector<nanoseconds> queue_wait_times(const run_record& record);

/// What the traced runs of a stage tell of one of its operations.
struct operation_summary {
  std::string name;
  std::string part;          ///< of the stage; empty where it is of none
  double calls = 0;          ///< per frame
  nanoseconds median = 0;    ///< of one call; the lower of two in the middle
  nanoseconds together = 0;  ///< of all calls in a frame: the median over the runs
};

/// In the record's order.
std::vector<operation_summary> operations_of(const stage_record& stage);

}  // namespace graphline
