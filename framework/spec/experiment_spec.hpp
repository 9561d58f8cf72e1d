#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/place.hpp"
#include "framework/base/words.hpp"
#include "framework/spec/node.hpp"

namespace graphline {

/// Settings for executing and evaluating an experiment.
struct experiment_settings {
  std::int64_t trials = 10;               ///< maximum number per configuration
  std::optional<nanoseconds> time_limit;  ///< no block of trials begins after this time
  /// If set, stop once the interval of every p50 ratio has at most this half-width.
  std::optional<double> narrow_to;
  double margin = 0.01;           ///< a ratio within 1 +- margin counts as no difference
  double tail = 0.95;             ///< percentile that is compared in addition to p50
  std::uint64_t seed = 1;         ///< seed of the random order
  bool repeat_affected = false;   ///< repeat blocks that machine noise has disturbed
  sharing share = sharing::none;  ///< of concurrent pipelines
  /// How long each trial of concurrent pipelines is measured; if unset, until the foreground ends.
  std::optional<nanoseconds> horizon;
};

/// A setting of the `run:` section or a parameter of the pipeline, with its value.
struct assignment {
  named key;
  node value;
};

/// A declared configuration. Its assignments add to those of all configurations.
struct configuration_spec {
  named name;  ///< given in the file, or made from the assignments: "timing=sync in_flight=2"
  std::vector<assignment> assignments;
  std::size_t reference = 0;  ///< index of the configuration it is compared with
};

/// One of several pipelines that run at the same time.
struct member_spec {
  named name;
  named pipeline;               ///< path as written
  std::optional<int> priority;  ///< level of all stages and streams; if unset, from the file
  std::vector<assignment> run;  ///< run settings
  std::vector<assignment> params;
};

/// A cause-effect chain: stages of concurrent pipelines, of which each uses the last result of the
/// one before it.
struct chain_spec {
  named name;
  std::vector<named> stages;            ///< MEMBER.STAGE
  std::optional<nanoseconds> age;       ///< bound on the data age
  std::optional<nanoseconds> reaction;  ///< bound on the reaction time
};

/// A declared experiment: one pipeline in several configurations, or several pipelines at once.
struct experiment_spec {
  named name;
  std::string description;
  std::string directory = ".";     ///< base of relative paths in the file
  named pipeline;                  ///< path as written; empty with `together`
  std::vector<assignment> run;     ///< run settings of all configurations
  std::vector<assignment> params;  ///< parameters of all configurations
  /// At least one if `together` is empty. None: concurrent pipelines are compared with each alone.
  std::vector<configuration_spec> configurations;
  bool varied = false;                ///< true if `vary:` gave the configurations
  std::vector<member_spec> together;  ///< either empty or at least two
  std::vector<chain_spec> chains;     ///< across the members of `together`
  experiment_settings how;
  std::shared_ptr<const source_text> source;
};

}  // namespace graphline
