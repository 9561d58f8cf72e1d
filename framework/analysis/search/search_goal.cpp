#include "framework/analysis/search/search_goal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "framework/analysis/gate.hpp"
#include "framework/analysis/run/summary.hpp"
#include "framework/analysis/stats/confidence.hpp"
#include "framework/analysis/stats/distribution.hpp"
#include "framework/base/diagnostic.hpp"
#include "framework/base/error.hpp"
#include "framework/base/utf8.hpp"

namespace graphline {
namespace {

search_metric parse_metric(std::string_view text, const std::string& given) {
  if (const auto metric = from_word<search_metric>(text)) return *metric;
  std::vector<std::string> names;
  for (const auto& [name, metric] : search_metric_words) names.emplace_back(name);
  throw input_error(
      fmt::format("{}: unknown metric {}{}", given, quote(text), suggestion(text, names)));
}

/// How limits of a metric are written.
struct limit_syntax {
  std::optional<double> (*parse)(std::string_view);
  const char* expected;
};

limit_syntax syntax_of(search_metric metric) {
  switch (unit_of(metric)) {
    case unit::frames_per_second:
      return {parse_rate, "a rate above 0, such as 30/s"};
    case unit::bytes:
      return {parse_bytes, "an amount above 0, such as 4GiB or 512MiB"};
    default:
      return {parse_nanoseconds, "a time above 0 with its unit, ns, us, ms or s, such as 20ms"};
  }
}

}  // namespace

search_metric parse_objective(std::string_view text, bool maximize) {
  const auto given = fmt::format("{} {}", maximize ? "--maximize" : "--minimize", text);
  const auto metric = parse_metric(text, given);
  if (percentile_of(metric) ? !maximize : metric == search_metric::throughput && maximize) {
    return metric;
  }
  throw input_error(given +
                    ": use --minimize with a percentile, --maximize throughput, or --subject-to "
                    "'device_memory<=4GiB'");
}

search_limit parse_limit(std::string_view text) {
  const auto given = fmt::format("--subject-to {}", quote(text, 200));
  const auto at = text.find_first_of("<>=");
  if (at == text.npos) {
    throw input_error(given + ": expected METRIC<=LIMIT or throughput>=RATE, such as 'p99<=20ms'");
  }
  search_limit limit{parse_metric(trimmed(text.substr(0, at)), given), 0};
  const std::string_view sign = limit.at_least() ? ">=" : "<=";
  if (text.substr(at, 2) != sign) {
    throw input_error(
        fmt::format("{}: expected '{}' after {}", given, sign, to_word(limit.metric)));
  }
  const auto [parse, expected] = syntax_of(limit.metric);
  limit.limit = parse(trimmed(text.substr(at + 2))).value_or(0);
  if (limit.limit > 0 && limit.limit < 0x1p53) return limit;
  throw input_error(fmt::format("{}: expected {}, after '{}'", given, expected, sign));
}

std::optional<double> percentile_of(search_metric metric) {
  for (const auto& [name, p] : shown_percentiles) {
    if (name == to_word(metric)) return p;
  }
  return std::nullopt;
}

unit unit_of(search_metric metric) {
  if (metric == search_metric::throughput) return unit::frames_per_second;
  return metric == search_metric::device_memory ? unit::bytes : unit::duration;
}

std::string to_text(const search_limit& limit) {
  return fmt::format("{} {} {}", to_word(limit.metric),
                     limit.at_least() ? ">=" : "<=", to_text({limit.limit, unit_of(limit.metric)}));
}

void search_samples::add(const run_record& run) {
  auto& made = trials_.emplace_back(trial{end_to_end_times(run), completions_of(run)});
  made.times.resize(made.times.size() + run.load.dropped.size(), never);
  device_bytes_ = std::max<std::uint64_t>(device_bytes_, run.memory.device_bytes);
}

std::optional<double> search_samples::value(search_metric metric) const {
  std::size_t frames = 0;
  for (const trial& one : trials_) frames += one.times.size();
  const auto p = percentile_of(metric);
  if (trials() == 0 || (p && frames < samples_needed(*p))) return std::nullopt;
  const double found = estimate(metric);
  return found < static_cast<double>(never) ? std::optional(found) : std::nullopt;
}

double search_samples::estimate(search_metric metric, std::span<const trial> of) const {
  if (metric == search_metric::device_memory) return static_cast<double>(device_bytes_);
  std::vector<nanoseconds> times;
  completed_frames all;
  for (const auto& one : of) {
    times.insert(times.end(), one.times.begin(), one.times.end());
    all.count += one.completed.count;
    all.time += one.completed.time;
  }
  if (metric == search_metric::throughput) {
    return all.time > 0 ? std::max(lowest_rate, 1e9 * all.count / all.time) : lowest_rate;
  }
  if (times.empty()) return static_cast<double>(never);
  const auto rank = rank_of(*percentile_of(metric), times.size());
  std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(rank));
  return static_cast<double>(times[rank]);
}

std::vector<double> search_samples::scores(search_metric metric) const {
  std::vector<double> list;
  for (std::size_t i = 0; i < trials(); ++i) {
    const double value =
        std::log(std::max(1e-9, estimate(metric, std::span(trials_).subspan(i, 1))));
    list.push_back(metric == search_metric::throughput ? -value : value);
  }
  return list;
}

bound_check search_samples::check_percentile(double p, double limit, double outside) const {
  std::vector<std::vector<nanoseconds>> times;
  for (const trial& one : trials_) times.push_back(one.times);
  constexpr double most = 0x1p62;  // a result file may contain any limit
  return check_bound(times, p, std::llround(std::min(limit, most)), outside);
}

std::optional<interval> search_samples::range(search_metric metric, double outside) const {
  if (const auto p = percentile_of(metric)) {
    const auto found = check_percentile(*p, estimate(metric), outside);
    if (!found.low || !found.high || *found.high == never) return std::nullopt;
    return interval{static_cast<double>(*found.low), static_cast<double>(*found.high)};
  }
  if (metric != search_metric::throughput || trials() < 2) return std::nullopt;
  const auto list = scores(metric);
  const double reach = student_t_critical(2 * outside, trials() - 1) * stddev_of(list).value_or(0) /
                       std::sqrt(static_cast<double>(trials()));
  return interval{std::exp(-mean_of(list) - reach), std::exp(-mean_of(list) + reach)};
}

bound_verdict search_samples::check(const search_limit& limit, double outside) const {
  using enum bound_verdict;
  if (const auto p = percentile_of(limit.metric)) {
    return check_percentile(*p, limit.limit, outside).verdict;
  }
  if (limit.metric == search_metric::device_memory) {
    if (trials() == 0) return open;
    return static_cast<double>(device_bytes_) <= limit.limit ? holds : fails;
  }
  const auto found = range(limit.metric, outside);
  if (!found || found->contains(limit.limit)) return open;
  return found->low > limit.limit ? holds : fails;
}

double violation_of(const std::vector<search_limit>& limits, const search_samples& of) {
  double sum = 0;
  for (const auto& limit : limits) {
    const double value = of.estimate(limit.metric);
    sum += std::log(std::max(1.0, limit.at_least() ? limit.limit / value : value / limit.limit));
  }
  return sum;
}

std::vector<interval> behind_leader(std::span<const std::vector<double>> scores) {
  constexpr double unbounded = std::numeric_limits<double>::infinity();
  const auto leader = std::ranges::min_element(
      scores, {}, [](const std::vector<double>& of_one) { return mean_of(of_one); });
  std::vector<interval> ranges;
  for (auto one = scores.begin(); one != scores.end(); ++one) {
    const std::size_t blocks = one->size();
    std::vector<double> differences(blocks);
    std::ranges::transform(*one, *leader, differences.begin(), std::minus<>());
    const double mean = mean_of(differences);
    double reach = one == leader ? 0 : unbounded;
    if (one != leader && blocks > 1) {
      reach = student_t_critical(0.05 / static_cast<double>(scores.size() - 1), blocks - 1) *
              *stddev_of(differences) / std::sqrt(static_cast<double>(blocks));
    }
    ranges.push_back({mean - reach, mean + reach});
  }
  return ranges;
}

}  // namespace graphline
