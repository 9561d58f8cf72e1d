#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/experiment/experiment_summary.hpp"
#include "framework/analysis/stats/thinned_series.hpp"
#include "framework/base/clock.hpp"

namespace graphline::report {

/// Configurations against what each is compared with, as changes with their intervals.
struct comparisons_chart {
  struct comparison {
    std::string metric;  ///< "p50"
    std::string name;
    std::string reference;
    double change = 0;
    std::optional<double> low = {};
    std::optional<double> high = {};
    std::optional<graphline::verdict> verdict = {};  ///< where there is an interval
    std::string words;                               ///< all that is known of it
  };
  std::vector<comparison> list;  ///< by metric, then reference
  double margin = 0;             ///< changes within it are the same
};

/// Lines over the values of a parameter.
struct sweep_chart {
  struct line {
    std::string name;
    std::vector<std::optional<double>> values;  ///< as many as there are values of the parameter
  };
  struct panel {
    std::string title;  ///< what its lines are of, with the unit
    std::vector<line> lines;
  };
  std::string parameter;
  std::vector<double> at;          ///< ascending
  std::vector<std::string> texts;  ///< as they were written
  std::vector<panel> panels;
};

/// The medians of trials in the order they ran.
struct trials_chart {
  struct trial {
    std::size_t of = 0;  ///< index of a name
    std::size_t block = 0;
    nanoseconds begun = 0;
    nanoseconds median = 0;
  };
  std::vector<std::string> names;
  std::vector<trial> trials;
  std::vector<std::size_t> disturbed;  ///< blocks
};

/// Cumulative distributions on one scale.
struct cumulative_chart {
  struct sample {
    std::string name;
    std::size_t count = 0;
    std::vector<cumulative_point> steps;
  };
  std::vector<sample> list;
};

}  // namespace graphline::report
