#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/analysis/finding.hpp"
#include "framework/analysis/run/contention.hpp"
#include "framework/analysis/run/overload.hpp"
#include "framework/analysis/run/passes.hpp"
#include "framework/analysis/run/rows.hpp"
#include "framework/analysis/stats/distribution.hpp"
#include "framework/base/words.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// What a stage time measures. It depends on the timing method and on where the stage runs.
enum class measure { device_time, synchronized_time, enqueue_time, cpu_time };

inline constexpr word<measure> measure_words[] = {{"device_time", measure::device_time},
                                                  {"synchronized_time", measure::synchronized_time},
                                                  {"enqueue_time", measure::enqueue_time},
                                                  {"cpu_time", measure::cpu_time}};
template <>
struct words_of<measure> {
  static constexpr const auto& table = measure_words;
};

const std::vector<stamp_pair>& stamps_of(const stage_record& stage, measure what) noexcept;

/// Returns a measure in every frame. Device time is the busy time if the device reports it. A frame
/// that did not run the stage has 0, which is not a sample.
std::vector<nanoseconds> times_by_frame(const stage_record& stage, measure what);

/// Returns the values of a column for the frames that ran the stage or, if stated, that took a
/// bucket; in frame order.
std::vector<nanoseconds> of_frames_run(const stage_record& stage, std::vector<nanoseconds> column,
                                       std::optional<std::size_t> bucket = {});

/// Returns the samples of a measure: one for each frame that ran the stage.
std::vector<nanoseconds> times_of(const stage_record& stage, measure what);

/// Returns what the timing method measures of a stage; the stage's time comes first. The enqueue
/// time of stages in a frame's graph is not measured.
std::vector<measure> measures_of(side on, const settings& run);

struct stage_summary {
  struct column {
    measure what = measure::device_time;
    std::optional<distribution> times;  ///< of frames that ran the stage; empty if none did
  };
  std::vector<column> columns;  ///< by `measures_of`; empty if stages are not timed

  /// Sum of the first column over all frames, each with the time of its pass, divided by the sum of
  /// all end-to-end times. The shares of overlapping
  /// stages can sum to more than 1. Empty if the end-to-end time is unsettled.
  std::optional<double> share;

  std::optional<rows_summary> rows;  ///< empty if the stage runs in every frame

  struct part {
    std::optional<distribution> times;  ///< only under `layers`; of frames that ran the part
    std::optional<double> share;        ///< fraction of the stage's mean over these frames
  };
  std::vector<part> parts;  ///< as in the record
};

/// Frames that missed a deadline: completed late, dropped, or overdue when the run ended early.
struct deadline_misses {
  std::size_t missed = 0;
  std::size_t dropped = 0;    ///< missed frames that were dropped
  std::size_t cut_short = 0;  ///< dropped frames that had begun
  std::size_t frames = 0;     ///< frames whose outcome is known

  double share() const noexcept {
    return static_cast<double>(missed) / static_cast<double>(frames);
  }
};

struct deadline_summary {
  nanoseconds limit = 0;
  deadline_misses misses;
  std::optional<nanoseconds> median_late;  ///< lateness of frames that were completed late
  std::optional<nanoseconds> worst_late;
};

/// Ends of a stage compared with its deadline, in completed frames that ran it.
struct stage_deadline {
  std::string stage;
  nanoseconds limit = 0;  ///< after the frame's due time
  std::size_t late = 0;
  std::optional<distribution> lateness;  ///< end minus deadline; empty if ends were not timed
};

/// Load of a run with scheduled arrivals.
struct load_summary {
  std::size_t due = 0;  ///< result of `frames_due`
  std::size_t dropped = 0;
  std::size_t unfinished = 0;     ///< neither completed nor dropped at the end of the run
  std::optional<double> offered;  ///< arrivals per second; empty for fewer than two arrivals
  /// Result of `queue_wait_times`; unsettled if `end_to_end` is unsettled.
  std::optional<distribution> queue_wait;
};

struct run_summary {
  /// Times from due to end of the frames; unsettled if latency grows with the length of the run.
  std::optional<distribution> end_to_end;
  std::optional<double> throughput;   ///< frames per second, by `completions_of`
  std::vector<stage_summary> stages;  ///< as in the record
  std::optional<deadline_summary> deadline;
  std::vector<stage_deadline> stage_deadlines;  ///< of stages that have one
  std::vector<contention> waits;                ///< of stages
  std::optional<load_summary> load;             ///< empty with `arrival: closed`
  std::optional<batch_summary> batches;
  std::optional<graphline::overload> overload;
  /// Failures (overload, then missed deadlines), warnings (recorded, then from the samples), notes.
  std::vector<finding> findings;
};

run_summary summarize(const run_record& record);

deadline_misses misses_of(const run_record& record, nanoseconds limit);

deadline_summary compare_with_deadline(nanoseconds limit, std::span<const run_record* const> runs);

/// Compares stages with their deadlines, over runs of one pipeline.
std::vector<stage_deadline> stage_deadlines_of(std::span<const run_record* const> runs);

/// Returns the duration of a run, from the first begin to the last end. With scheduled arrivals, it
/// starts at the first due time and lasts at least until the next frame would be due.
nanoseconds running_time(const run_record& record);

/// Returns the time from due to end of each frame.
std::vector<nanoseconds> end_to_end_times(const run_record& record);

/// Summary of one operation over the traced runs of a stage.
struct operation_summary {
  std::string name;
  std::string part;          ///< part of the stage; empty if none
  double calls = 0;          ///< per frame
  nanoseconds median = 0;    ///< of one call (lower median)
  nanoseconds together = 0;  ///< total of a frame's calls; median over the runs
};

std::vector<operation_summary> operations_of(const stage_record& stage);

}  // namespace graphline
