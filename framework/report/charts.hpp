#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/analysis/experiment/experiment_summary.hpp"
#include "framework/analysis/run/timeline.hpp"
#include "framework/analysis/stats/histogram.hpp"
#include "framework/base/clock.hpp"

// Data of the charts, independent of the format of the output.
namespace graphline::report {

struct roofline_chart {
  struct ceiling {
    std::string name;
    double rate = 0;         ///< FLOP/s
    double ridge_point = 0;  ///< FLOP/B
  };
  struct point {
    std::string stage;
    std::string part;             ///< empty for a whole stage
    std::size_t group = 0;        ///< index of the stage
    double intensity = 0;         ///< FLOP/B
    double rate = 0;              ///< FLOP/s, achieved
    std::optional<double> share;  ///< share of the critical path
    std::string words;            ///< figures of this entry, for the tooltip
  };
  double bandwidth = 0;              ///< B/s
  std::vector<ceiling> ceilings;     ///< lowest first
  std::vector<point> points;         ///< stages in planned order, each followed by its parts
  std::vector<std::string> without;  ///< names of stages that cannot be drawn
};

/// Times of the frames, in order. Long series omit points but keep every spike.
struct frames_chart {
  struct series {
    std::string name;
    std::string what = {};  ///< a stage's measure; empty for the frame's own time
    std::vector<std::size_t> frames = {};
    std::vector<nanoseconds> times = {};
  };
  std::size_t frames = 0;    ///< number of frames in the run
  std::vector<series> list;  ///< the end-to-end times come first
  std::optional<nanoseconds> deadline;
};

/// Histograms of times.
struct distributions_chart {
  struct sample {
    std::string name;
    std::string what;   ///< a stage's measure; empty for the frame's own times
    std::string color;  ///< "frame", "device", "launch" or "cpu"
    histogram bins;
    std::vector<std::pair<std::string, nanoseconds>> marks;  ///< min, percentiles and max
  };
  std::vector<sample> list;  ///< the end-to-end times come first
  std::optional<nanoseconds> deadline;
};

/// Timelines of frames. Times are in ns.
struct timeline_chart {
  struct stage {
    std::string name;
    std::vector<std::string> parts;
  };
  std::vector<stage> stages;
  std::vector<timeline_lane> lanes;
  std::size_t total = 0;  ///< number of frames in the run
  std::size_t median = 0;
  std::optional<nanoseconds> deadline;
  nanoseconds clock_error = 0;
  /// A row for each frame, ascending: [number, due, begin, end, residual, n, then n times (kind of
  /// span, lane, stage, part, begin, length, `timeline_span::instead_of`), then any number of
  /// (time_category, stage, begin, length)]. `due` counts from the run's epoch, other times from
  /// `due`. -1 means no stage or part.
  std::vector<std::vector<nanoseconds>> frames;
};

/// Changes of configurations compared with their references.
struct comparisons_chart {
  struct comparison {
    std::string metric;  ///< "p50"
    std::string name;
    std::string reference;
    double change = 0;
    std::optional<double> low = {};
    std::optional<double> high = {};
    std::optional<graphline::verdict> verdict = {};  ///< set if there is an interval
    std::string words;                               ///< figures of this entry, for the tooltip
  };
  std::vector<comparison> list;  ///< ordered by metric, then by reference
  double margin = 0;             ///< changes within this margin count as "same"
};

/// Metrics at each value of a swept parameter, or of another metric.
struct sweep_chart {
  struct line {
    std::string name;
    std::vector<std::optional<double>> values;  ///< one per value of the parameter
    bool points = false;                        ///< points without a line
  };
  struct panel {
    std::string title;  ///< metric and unit
    std::vector<line> lines;
  };
  std::string parameter;
  std::vector<double> at;          ///< ascending
  std::vector<std::string> texts;  ///< the values in `at`, written as in the experiment
  std::vector<panel> panels;
  std::vector<std::string> names;  ///< for tooltips, instead of the parameter's value; or empty
};

/// Medians of trials, in the order of execution.
struct trials_chart {
  struct trial {
    std::size_t of = 0;  ///< index in `names`
    std::size_t block = 0;
    nanoseconds begun = 0;
    nanoseconds median = 0;
  };
  std::vector<std::string> names;
  std::vector<trial> trials;
  std::vector<std::size_t> disturbed;  ///< numbers of the disturbed blocks
};

}  // namespace graphline::report
