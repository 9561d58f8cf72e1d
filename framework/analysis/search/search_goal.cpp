#include "framework/analysis/search/search_goal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "framework/analysis/run/summary.hpp"
#include "framework/analysis/stats/confidence.hpp"
#include "framework/analysis/stats/distribution.hpp"
#include "framework/base/diagnostic.hpp"
#include "framework/base/error.hpp"
#include "framework/base/utf8.hpp"

namespace graphline {
namespace {

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const auto& [name, metric] : search_metric_words) names.emplace_back(name);
  return names;
}

search_metric parse_metric(std::string_view text, const std::string& given) {
  if (const auto metric = from_word<search_metric>(text)) return *metric;
  throw input_error(
      fmt::format("{}: unknown metric {}{}", given, quote(text), suggestion(text, metric_names())));
}

std::optional<double> parse_value(search_metric metric, std::string_view text) {
  switch (unit_of(metric)) {
    case unit::frames_per_second:
      return parse_rate(text);
    case unit::bytes:
      return parse_bytes(text);
    case unit::share:
      return parse_percent(text);
    default:
      return parse_nanoseconds(text);
  }
}

const char* example_of(search_metric metric) {
  switch (unit_of(metric)) {
    case unit::frames_per_second:
      return "a rate above 0, such as 30/s";
    case unit::bytes:
      return "an amount above 0, such as 4GiB or 512MiB";
    case unit::share:
      return "a percentage between 0% and 100%, such as 1%";
    default:
      return "a time above 0 with its unit, ns, us, ms or s, such as 20ms";
  }
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// Completed frames count before those that were never completed.
std::vector<std::vector<nanoseconds>> with_lost(std::vector<std::vector<nanoseconds>> times,
                                                const std::vector<std::size_t>& lost) {
  for (std::size_t i = 0; i < times.size(); ++i) times[i].resize(times[i].size() + lost[i], never);
  return times;
}

double nearest_rank(std::vector<nanoseconds> times, double p) {
  if (times.empty()) return std::numeric_limits<double>::infinity();
  const auto at = times.begin() + static_cast<std::ptrdiff_t>(rank_of(p, times.size()));
  std::nth_element(times.begin(), at, times.end());
  return static_cast<double>(*at);
}

std::vector<nanoseconds> joined(const std::vector<std::vector<nanoseconds>>& times) {
  std::vector<nanoseconds> all;
  for (const auto& trial : times) all.insert(all.end(), trial.begin(), trial.end());
  return all;
}

}  // namespace

search_metric parse_objective(std::string_view text, bool maximize) {
  const auto given = fmt::format("{} {}", maximize ? "--maximize" : "--minimize", text);
  const auto metric = parse_metric(text, given);
  if (metric == search_metric::device_memory) {
    throw input_error(given +
                      ": use --subject-to 'device_memory<=4GiB'; the result shows which "
                      "settings need less");
  }
  if ((metric == search_metric::throughput) != maximize) {
    throw input_error(
        fmt::format("{}: use {} {}", given, maximize ? "--minimize" : "--maximize", text));
  }
  return metric;
}

search_limit parse_limit(std::string_view text) {
  const auto given = fmt::format("--subject-to {}", quote(text, 200));
  const auto at = text.find_first_of("<>=");
  if (at == text.npos) {
    throw input_error(given +
                      ": expected METRIC<=LIMIT or throughput>=RATE, in quotes for the "
                      "shell: 'p99<=20ms'");
  }
  search_limit limit{parse_metric(trimmed(text.substr(0, at)), given), 0};
  const std::string_view sign = limit.at_least() ? ">=" : "<=";
  if (text.substr(at, 2) != sign) {
    throw input_error(
        fmt::format("{}: expected '{}' after {}", given, sign, to_word(limit.metric)));
  }
  const auto value = parse_value(limit.metric, trimmed(text.substr(at + 2)));
  const double most = unit_of(limit.metric) == unit::share ? 1 : 0x1p53;
  if (!value || !(*value > 0 && *value < most)) {
    throw input_error(
        fmt::format("{}: expected {}, after '{}'", given, example_of(limit.metric), sign));
  }
  limit.limit = *value;
  return limit;
}

std::string why_never_known(search_metric metric, const settings& run) {
  if (metric != search_metric::late || run.deadline) return "";
  return "the pipeline has no deadline, which --deadline 20ms sets or 'deadline' in its 'run' "
         "section";
}

std::optional<double> percentile_of(search_metric metric) {
  for (const auto& [name, p] : shown_percentiles) {
    if (name == to_word(metric)) return p;
  }
  return std::nullopt;
}

unit unit_of(search_metric metric) {
  if (metric == search_metric::throughput) return unit::frames_per_second;
  if (metric == search_metric::device_memory) return unit::bytes;
  return metric == search_metric::late ? unit::share : unit::duration;
}

figure figure_of(search_metric objective) {
  if (objective == search_metric::throughput) return figure::throughput;
  if (objective == search_metric::late) return figure::late;
  return objective == search_metric::p50 ? figure::p50 : figure::tail;
}

std::string to_text(const search_limit& limit) {
  const quantity value{limit.limit, unit_of(limit.metric)};
  const bool bytes = value.in == unit::bytes;  // shown as given, in binary units
  return fmt::format("{} {} {}", to_word(limit.metric), limit.at_least() ? ">=" : "<=",
                     bytes ? format_bytes(static_cast<std::uint64_t>(std::min(value.value, 0x1p62)))
                           : to_text(value));
}

void search_samples::add(const run_record& run) {
  times_.push_back(end_to_end_times(run));
  deadline_ = run.run.deadline;
  const auto known = deadline_ ? misses_of(run, *deadline_).frames : 0;
  lost_.push_back(known - std::min(known, times_.back().size()));
  completed_.push_back(completions_of(run));
  const auto& [count, time] = completed_.back();
  rates_.push_back(time > 0 ? std::max(lowest_rate, 1e9 * count / time) : lowest_rate);
  device_bytes_ = std::max<std::uint64_t>(device_bytes_, run.memory.device_bytes);
}

std::int64_t search_samples::frames() const noexcept {
  std::size_t count = 0;
  for (const auto& trial : times_) count += trial.size();
  return static_cast<std::int64_t>(count);
}

std::optional<double> search_samples::value(search_metric metric) const {
  const auto p = percentile_of(metric);
  if (p && static_cast<std::size_t>(frames()) < samples_needed(*p)) return std::nullopt;
  if (trials() == 0 || (metric == search_metric::late && !deadline_)) return std::nullopt;
  return estimate(metric);
}

double search_samples::estimate(search_metric metric) const {
  if (const auto p = percentile_of(metric)) return nearest_rank(joined(times_), *p);
  if (metric == search_metric::device_memory) return static_cast<double>(device_bytes_);
  if (metric == search_metric::throughput) {
    completed_frames all;
    for (const auto& [count, time] : completed_) {
      all.count += count;
      all.time += time;
    }
    return all.time > 0 ? 1e9 * all.count / all.time : lowest_rate;
  }
  const auto all = joined(with_lost(times_, lost_));
  const auto late = std::ranges::count_if(all, [&](auto time) { return time > deadline_; });
  return all.empty() ? 1 : static_cast<double>(late) / static_cast<double>(all.size());
}

double search_samples::score(search_metric metric, std::size_t trial) const {
  if (metric == search_metric::throughput) return -std::log(rates_[trial]);
  if (const auto p = percentile_of(metric)) {
    return std::log(std::clamp(nearest_rank(times_[trial], *p), 1.0, 1e18));
  }
  search_samples one;
  one.times_ = {times_[trial]};
  one.lost_ = {lost_[trial]};
  one.deadline_ = deadline_;
  return one.estimate(metric);
}

bound_verdict search_samples::check(const search_limit& limit, double outside) const {
  constexpr double most = 0x1p62;  // a result file may contain any limit
  if (const auto p = percentile_of(limit.metric)) {
    return check_bound(times_, *p, std::llround(std::min(limit.limit, most)), outside).verdict;
  }
  if (limit.metric == search_metric::late) {
    const double on_time = std::clamp(1 - limit.limit, 1e-6, 1 - 1e-6);
    return check_bound(with_lost(times_, lost_), on_time, deadline_.value_or(0), outside).verdict;
  }
  if (limit.metric == search_metric::device_memory) {
    if (trials() == 0) return bound_verdict::open;
    return static_cast<double>(device_bytes_) <= limit.limit ? bound_verdict::holds
                                                             : bound_verdict::fails;
  }
  if (trials() < 2) return bound_verdict::open;
  std::vector<double> above;
  for (const double rate : rates_) above.push_back(std::log(rate / limit.limit));
  const double reach = student_t_critical(2 * outside, trials() - 1) *
                       stddev_of(above).value_or(0) / std::sqrt(static_cast<double>(trials()));
  const double mean = mean_of(above);
  if (mean - reach >= 0) return bound_verdict::holds;
  return mean + reach < 0 ? bound_verdict::fails : bound_verdict::open;
}

double violation_of(const search_limit& limit, double value) {
  if (limit.metric == search_metric::late) return std::max(0.0, value - limit.limit);
  const double ratio = limit.at_least() ? limit.limit / value : value / limit.limit;
  return std::max(0.0, std::log(std::max(ratio, 1.0)));
}

}  // namespace graphline
