#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/ranks/clock_offset.hpp"
#include "framework/record/fields.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

template <class Archive>
void fields(Archive& a, part_of_record<clock_offset> auto& of) {
  a.value("at_ns", of.at, any_clock);
  a.value("offset_ns", of.offset, any_clock);
  a.value("error_ns", of.error, from_0);
}

/// The part of one rank in a run on several ranks.
struct rank_record {
  std::int64_t rank = 0;
  std::string host;             ///< name of its machine
  std::int64_t local_rank = 0;  ///< among the ranks of its machine
  /// Offsets of its clock from that of rank 0, before and after the measured frames. Empty for
  /// rank 0, and if the run ended before they were measured.
  std::vector<clock_offset> clock;
  /// Its run; times are on its own clock. Empty if the rank was lost.
  std::optional<run_record> run = {};
  std::string lost;  ///< why there is no run, and what the rank last worked on; else empty
};

template <class Archive>
void fields(Archive& a, part_of_record<rank_record> auto& of) {
  a.value("rank", of.rank);
  a.value("host", of.host);
  a.value("local_rank", of.local_rank);
  a.value("clock", of.clock);
  a.value("run", of.run);
  a.value("lost", of.lost);
}

/// Raw results of one pipeline that ran on several ranks at once.
struct ranks_record {
  std::string library;  ///< that carried the messages: "Open MPI v4.1.4"
  bool parts = false;   ///< each rank ran a part of the pipeline; else each ran all of it
  std::vector<rank_record> ranks;  ///< in order
  bool interrupted = false;
  std::optional<std::string> failure = {};  ///< why all ranks were stopped: by which rank
};

template <class Archive>
void fields(Archive& a, part_of_record<ranks_record> auto& of) {
  a.value("library", of.library);
  a.value("parts", of.parts);
  a.value("interrupted", of.interrupted);
  a.value("failure", of.failure);
  a.value("ranks", of.ranks);
}

/// Returns "rank 2 on node7".
std::string rank_name(std::int64_t rank, const std::string& host);
inline std::string name_of(const rank_record& of) {
  return rank_name(of.rank, of.host);
}

/// Returns the first rank that has a run. @pre one has
const run_record& first_run(const ranks_record& record);

/// Returns true if it is known when the first frame began on the rank's clock.
inline bool has_begun(const run_record& run) {
  return run.epoch && !run.frames.empty();
}

/// @pre has_begun(run)
nanoseconds first_begin(const run_record& run);

/// Returns the offset of the rank's clock from that of rank 0 at `at`, on the rank's clock; empty
/// if it was not measured before and after the run.
std::optional<clock_offset> clock_of(const rank_record& rank, nanoseconds at);

}  // namespace graphline
