#include "framework/analysis/experiment/overhead_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "framework/analysis/stats/times_words.hpp"
#include "framework/base/units.hpp"

namespace graphline {

namespace {

/// Durations of one sentence: in one unit, and with as many decimals as tell the ends of an
/// interval apart.
class duration_format {
 public:
  /// For values up to `largest` that are known to about `width`; both in nanoseconds, above 0.
  duration_format(double largest, double width) {
    for (const auto& [name, size] : {std::pair{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}) {
      if (largest < size) break;
      name_ = name;
      size_ = size;
    }
    // Two digits of the width.
    if (width > 0) decimals_ = std::clamp(1 - exponent(width / size_), 0, 3);
  }

  std::string number(double ns) const {
    std::string text = fmt::format("{:+.{}f}", ns / size_, decimals_);
    if (text.find_first_of("123456789") == text.npos) text.erase(0, 1);
    return text;
  }
  std::string duration(double ns) const { return fmt::format("{} {}", number(ns), name_); }

 private:
  static int exponent(double value) { return static_cast<int>(std::floor(std::log10(value))); }

  const char* name_ = "ns";
  double size_ = 1;
  int decimals_ = 1;
};

// From here on a change is plainer as a multiple than in percent.
constexpr double told_in_times = 10;

std::string percent_of(const added_cost& cost, double ns) {
  const double percent = cost.percent(ns);
  if (std::abs(percent) < 5e-4) return "under 0.001 %";
  if (percent / 100 >= told_in_times) return times_words(1 + percent / 100) + " as long";
  return fmt::format("{:+.{}f} %", percent, std::abs(percent) < 1 ? 3 : 1);
}

std::string verdict(timing_method method, const added_cost& cost, std::size_t blocks) {
  const auto name = to_word(method);
  if (!cost.range) {
    const duration_format in(std::abs(cost.median), std::abs(cost.median) / 10);
    return fmt::format("{}: {} ({}), from {} complete block{}: no interval and no verdict below {}",
                       name, in.duration(cost.median), percent_of(cost, cost.median), blocks,
                       blocks == 1 ? "" : "s", least_for_interval);
  }
  const auto& [low, high] = *cost.range;
  const duration_format in(std::max(std::abs(low), std::abs(high)), high - low);
  const auto added =
      fmt::format("{} ({})", in.duration(cost.median), percent_of(cost, cost.median));
  const auto range = fmt::format("95 % interval {} to {}", in.number(low), in.duration(high));
  if (cost.range->contains(0)) {
    return fmt::format("{}: {}, {} includes zero: no cost visible; more than {} ({}) would show",
                       name, added, range, in.duration(high), percent_of(cost, high));
  }
  if (cost.median < 0) {
    return fmt::format(
        "{}: {}, {}: shorter than untimed, which no timing can cause by itself; it changes how the "
        "work is scheduled or what the processor does while it waits",
        name, added, range);
  }
  return fmt::format("{} lengthens the path by {}, {}", name, added, range);
}

/// The sum of the stage times, if every stage has one.
std::optional<double> sum_of_stages(const method_summary& method) {
  double sum = 0;
  for (const auto& stage : method.stages) {
    if (!stage.time) return std::nullopt;
    sum += stage.time->median;
  }
  return sum;
}

/// Why `sync` is longer: its stages follow each other and add up to more than the untimed path.
std::optional<std::string> lost_overlap(const method_summary& sync) {
  if (!sync.cost || !sync.cost->range || sync.cost->range->low <= 0) return std::nullopt;
  const auto sum = sum_of_stages(sync);
  if (!sum) return std::nullopt;
  const double untimed = sync.cost->baseline;
  const double hidden = *sum - untimed;
  // Half the cost at least, so that the overlap is the main reason and not a side remark.
  if (hidden < 0.5 * sync.cost->median) return std::nullopt;
  return fmt::format(
      "work that overlapped runs one after the other under sync: its stages add up to {}, the "
      "untimed path takes {}",
      format_duration(*sum), format_duration(untimed));
}

struct stage_reference {
  double time = 0;
  timing_method method = timing_method::event;
};

/// A stage's time by a method that measures the stage itself: `event`, else `sync`.
std::optional<stage_reference> real_time(const overhead_summary& summary, std::size_t stage) {
  for (const auto method : {timing_method::event, timing_method::sync}) {
    const auto* found = summary.find(method);
    if (found == nullptr || found->stages.size() <= stage || !found->stages[stage].time) continue;
    return stage_reference{found->stages[stage].time->median, method};
  }
  return std::nullopt;
}

/// Stages whose launch `host` times while the work takes at least twice as long.
void add_host_findings(const overhead_summary& summary, std::vector<std::string>& findings) {
  const auto* host = summary.find(timing_method::host);
  if (host == nullptr) return;
  for (std::size_t i = 0; i < host->stages.size(); ++i) {
    const auto& stage = host->stages[i];
    if (stage.what != measure::enqueue_time || !stage.time) continue;
    const auto real = real_time(summary, i);
    if (!real || real->time < 2 * stage.time->median) continue;
    findings.push_back(
        fmt::format("host reports {} for {}: the time to launch it, not the {} it takes ({})",
                    format_duration(stage.time->median), summary.stages[i],
                    format_duration(real->time), to_word(real->method)));
  }
}

/// How far `sync` and `event` are apart on the device stage they differ most on.
std::optional<std::string> agreement(const overhead_summary& summary) {
  const auto* sync = summary.find(timing_method::sync);
  const auto* event = summary.find(timing_method::event);
  if (sync == nullptr || event == nullptr) return std::nullopt;
  std::optional<std::size_t> worst;
  double worst_ratio = 0;
  for (std::size_t i = 0; i < std::min(sync->stages.size(), event->stages.size()); ++i) {
    const auto& s = sync->stages[i];
    const auto& e = event->stages[i];
    if (e.what != measure::device_time || !s.time || !e.time || e.time->median <= 0) continue;
    const double ratio = std::abs(s.time->median / e.time->median - 1);
    if (worst && ratio <= worst_ratio) continue;
    worst = i;
    worst_ratio = ratio;
  }
  if (!worst) return std::nullopt;
  const auto times = fmt::format("{}: {} by sync, {} by event", summary.stages[*worst],
                                 format_duration(sync->stages[*worst].time->median),
                                 format_duration(event->stages[*worst].time->median));
  constexpr double near = 0.02;
  if (worst_ratio <= near) {
    return fmt::format("sync and event agree on every device stage to within 2 %; {}", times);
  }
  const auto apart = worst_ratio >= told_in_times ? times_words(1 + worst_ratio) + " as long"
                                                  : fmt::format("{:.1f} %", 100 * worst_ratio);
  return fmt::format("sync and event differ most on {} ({})", times, apart);
}

}  // namespace

std::vector<std::string> findings_of(const overhead_summary& summary) {
  std::vector<std::string> findings;
  for (const auto& method : summary.methods) {
    if (!method.cost) continue;
    findings.push_back(verdict(method.method, *method.cost, summary.complete_blocks));
    if (method.method != timing_method::sync) continue;
    if (auto reason = lost_overlap(method)) findings.push_back(std::move(*reason));
  }
  add_host_findings(summary, findings);
  if (auto text = agreement(summary)) findings.push_back(std::move(*text));
  return findings;
}

}  // namespace graphline
