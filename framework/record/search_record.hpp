#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/clock.hpp"
#include "framework/base/words.hpp"
#include "framework/record/fields.hpp"

namespace graphline {

/// What a search optimizes or limits: a percentile of the end-to-end time in ns, completed frames
/// per second, or bytes of device memory.
enum class search_metric { p50, p90, p95, p99, p99_9, p99_99, throughput, device_memory };

inline constexpr word<search_metric> search_metric_words[] = {
    {"p50", search_metric::p50},
    {"p90", search_metric::p90},
    {"p95", search_metric::p95},
    {"p99", search_metric::p99},
    {"p99.9", search_metric::p99_9},
    {"p99.99", search_metric::p99_99},
    {"throughput", search_metric::throughput},
    {"device_memory", search_metric::device_memory}};

/// How far a candidate came.
enum class search_outcome {
  pruned,     ///< not measured: predicted to be far from the best
  no_time,    ///< not measured: the time limit was near
  failed,     ///< a trial failed
  measured,   ///< in one trial or, among the best, in several
  confirmed,  ///< measured again; the experiment's trials are those of this measurement
};

inline constexpr word<search_outcome> search_outcome_words[] = {
    {"skipped", search_outcome::pruned},
    {"no time", search_outcome::no_time},
    {"failed", search_outcome::failed},
    {"measured", search_outcome::measured},
    {"confirmed", search_outcome::confirmed}};

template <>
struct words_of<search_metric> {
  static constexpr const auto& table = search_metric_words;
};
template <>
struct words_of<search_outcome> {
  static constexpr const auto& table = search_outcome_words;
};

/// A constraint: a lower limit of the throughput, or an upper limit of another metric.
struct search_limit {
  search_metric metric = search_metric::p50;
  double limit = 0;  ///< in the metric's unit

  bool at_least() const noexcept { return metric == search_metric::throughput; }
};

template <class Archive>
void fields(Archive& a, part_of_record<search_limit> auto& of) {
  a.value("metric", of.metric);
  a.value("limit", of.limit, from_0);
}

/// Settings and parameters that a search tried. Figures of a confirmed candidate come from the
/// confirmation alone.
struct search_candidate {
  std::string name;                                              ///< as of a configuration
  std::vector<std::pair<std::string, std::string>> assignments;  ///< that differ from the file
  search_outcome outcome = search_outcome::pruned;
  std::string failure = {};              ///< error of a failed trial
  std::optional<double> predicted = {};  ///< the objective
  std::optional<double> objective = {};
  std::optional<double> latency = {};     ///< ns; at the objective's percentile, else p50
  std::optional<double> throughput = {};  ///< frame/s
  std::optional<std::uint64_t> device_bytes = {};
};

template <class Archive>
void fields(Archive& a, part_of_record<search_candidate> auto& of) {
  a.value("name", of.name);
  a.value("assignments", of.assignments);
  a.value("outcome", of.outcome);
  a.value("failure", of.failure);
  a.value("predicted", of.predicted);
  a.value("objective", of.objective);
  a.value("latency_ns", of.latency);
  a.value("throughput", of.throughput);
  a.value("device_bytes", of.device_bytes);
}

/// Lowest rank correlation with which predictions exclude candidates from measurement.
inline constexpr double least_tau = 0.5;

/// How a search chose the configurations of its confirmation, which are in the order of preference.
struct search_record {
  search_metric objective = search_metric::p50;
  std::vector<search_limit> limits;
  nanoseconds time_limit = 0;
  nanoseconds time = 0;       ///< from the first plan to the last trial
  std::int64_t frames = 0;    ///< measured before the confirmation
  std::optional<double> tau;  ///< Kendall's tau-b of predicted and measured objectives
  std::vector<search_candidate> candidates;  ///< simplest first; the first has the file's settings
};

template <class Archive>
void fields(Archive& a, part_of_record<search_record> auto& of) {
  a.value("objective", of.objective);
  a.value("limits", of.limits);
  a.value("time_limit_ns", of.time_limit, any_time);
  a.value("time_ns", of.time, any_time);
  a.value("frames", of.frames, from_0);
  a.value("tau", of.tau);
  a.value("candidates", of.candidates);
}

}  // namespace graphline
