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

/// How an experiment is carried out and judged: the keys of an experiment file beside what varies.
struct experiment_settings {
  std::int64_t trials = 10;               ///< of each configuration, at most
  std::optional<nanoseconds> time_limit;  ///< no block of trials begins after it
  /// Ends when every interval of the p50's ratio reaches at most this far to either side.
  std::optional<double> narrow_to;
  double margin = 0.01;          ///< a ratio within 1 +- margin counts as the same
  double tail = 0.95;            ///< the other percentile that is compared, beside p50
  std::uint64_t seed = 1;        ///< of the random order
  bool repeat_affected = false;  ///< repeat blocks in which the machine was not itself
};

/// A setting of the `run:` section or a parameter of the pipeline, with the value it gets.
struct assignment {
  named key;
  node value;
};

/// One configuration as declared: what it sets, beyond what is common to all.
struct configuration_spec {
  named name;  ///< given, or made of the assignments: "timing=sync in_flight=2"
  std::vector<assignment> assignments;
  std::size_t reference =
      0;  ///< the configuration that it is compared with; its own for a baseline
};

/// One of several pipelines that run at once.
struct member_spec {
  named name;
  named pipeline;                               ///< path, as written
  std::optional<graphline::priority> priority;  ///< of all its streams; unset: as in its file
  std::vector<assignment> run;                  ///< settings, `frames` and `warmup` among them
  std::vector<assignment> params;
};

/// A declared experiment: either one pipeline with configurations, or pipelines that run together.
struct experiment_spec {
  named name;
  std::string description;
  std::string directory = ".";     ///< relative paths in the file start here
  named pipeline;                  ///< path, as written; empty with `together`
  std::vector<assignment> run;     ///< settings of all configurations, `frames` among them
  std::vector<assignment> params;  ///< parameters of all configurations
  std::vector<configuration_spec> configurations;  ///< at least one, unless `together`
  bool varied = false;                             ///< the configurations are a grid, spelled out
  std::vector<member_spec> together;               ///< empty, or at least two
  experiment_settings how;
  std::shared_ptr<const source_text> source;
};

}  // namespace graphline
