#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "framework/analysis/run/summary.hpp"
#include "framework/analysis/stats/distribution.hpp"
#include "framework/analysis/stats/median_interval.hpp"
#include "framework/record/experiment_record.hpp"
#include "framework/record/run_record.hpp"

namespace graphline {

/// What a result says of how it came about, as names and texts.
using saved_facts = std::vector<std::pair<std::string, std::string>>;

/// What result files of all kinds tell of their origin.
struct saved_origin {
  std::string file;     ///< as it was given
  std::string schema;   ///< "graphline.run/1"
  std::string subject;  ///< the pipeline or experiment; of a calibration the device
  std::string date;     ///< "2026-11-21T08:01:43Z"; empty where it is not told
  saved_facts device;
  saved_facts settings;     ///< parameters of the pipeline among them, as "params.batch"
  saved_facts environment;  ///< without the date
  /// The files that a pipeline or experiment was read from; empty where the result does not hold
  /// them, nothing of a kind that is made from none.
  std::optional<std::vector<source_record>> sources = {};
  std::string disturbed = {};  ///< by what, in words; empty where it was not, or is not known
};

/// A configuration of an experiment; where several pipelines ran at once, one of them.
struct saved_configuration {
  std::string name;
  /// The frames of each trial that counts, and nothing else of it.
  std::vector<run_record> trials;
  configuration_member who = {};  ///< in what the experiment declares
};

/// A result of `graphline compare` or `overhead`.
struct saved_experiment {
  saved_origin origin;
  double margin = 0.01;  ///< a ratio within 1 +- margin counts as the same
  double tail = 0.95;    ///< the percentile
  /// Whether intervals may be drawn from the trials; not where no block of them is complete.
  bool complete = true;
  std::vector<experiment_configuration> declared;
  std::vector<saved_configuration> configurations;
  bool interrupted = false;
  std::optional<std::string> failure = {};
};

/// A result of `graphline run`, `roofline` or `calibrate`: of these, documents are compared
/// (describe/diff.cpp).
struct saved_document {
  saved_origin origin;
};

/// A result file of one of the kinds that can be compared.
using saved_result = std::variant<saved_experiment, saved_document>;

}  // namespace graphline
