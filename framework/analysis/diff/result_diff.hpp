#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/diff/saved_result.hpp"

namespace graphline {

/// Something of the result before and of the one after.
template <class T>
struct before_after {
  T before;
  T after;
};

/// A figure before and after; nothing where a result does not carry it.
struct figure_change : before_after<std::optional<double>> {
  /// after / before - 1; nothing unless both are known and there is something to be a part of.
  std::optional<double> relative() const noexcept;
};

/// A fact that is not the same in both; nothing where a result does not state it.
struct fact_change {
  std::string name;
  before_after<std::optional<std::string>> texts;
};

/// Facts that differ: those of the first in its order, then what only the second has.
std::vector<fact_change> differences(const saved_facts& before, const saved_facts& after);

/// What differs in how two results came about; dates apart.
struct origin_diff {
  before_after<saved_origin> origins;
  std::vector<fact_change> device;
  std::vector<fact_change> settings;
  std::vector<fact_change> environment;
  std::vector<fact_change> source;  ///< what was written, key by key
  std::string source_unknown;       ///< why that could not be compared; empty where it was

  /// Whether both are of a kind that is made from files.
  bool has_source() const { return origins.before.sources && origins.after.sources; }

  bool other_subject() const { return origins.before.subject != origins.after.subject; }
};

origin_diff compare(const saved_origin& before, const saved_origin& after);

/// A stage of either run, by name; nothing where it is not in a run.
struct stage_change {
  std::string name;
  before_after<std::optional<saved_stage>> stages;

  /// Of the median frame, in nanoseconds.
  figure_change median() const;

  /// Whether the times of both mean the same, so that their change means something.
  bool same_measure() const noexcept;
};

/// An output of either run, by name.
struct output_change {
  enum class finding {
    same,         ///< by checksum
    differs,      ///< by checksum; `largest` tells by how much where both have values
    other_type,   ///< shape or dtype are not the same
    only_before,  ///< no output of this name after
    only_after,   ///< nor before
  };
  std::string tensor;
  finding found = finding::same;
  std::size_t compared = 0;            ///< values that both have and that are numbers
  std::optional<double> largest = {};  ///< difference of two such values
  std::optional<double> relative =
      {};  ///< that, as a part of the largest value by size; nothing if 0
  before_after<bool> finite = {true, true};
};

/// One run against another. Two runs know nothing of how much runs differ from each other, so there
/// are no verdicts.
struct run_diff {
  origin_diff origin;
  before_after<std::optional<distribution>> end_to_end;
  before_after<std::optional<interval>> p50_ranges;  ///< with 95 %, in nanoseconds
  figure_change throughput;                          ///< frames a second
  figure_change device_peak_bytes;                   ///< of the pipeline's memory
  figure_change pinned_peak_bytes;
  figure_change missed;                ///< frames that missed the deadline, as a part of all
  std::vector<stage_change> stages;    ///< those of the first in its order, then the others
  std::vector<output_change> outputs;  ///< likewise
  before_after<bool> interrupted;
  before_after<std::optional<std::string>> failure;

  /// Of the whole path, by the mean over all frames.
  figure_change mean() const;

  /// By nearest rank, 0 < p < 1; nothing where a sample does not carry it.
  figure_change percentile(double p) const;
};

run_diff compare(const saved_run& before, const saved_run& after);

}  // namespace graphline
