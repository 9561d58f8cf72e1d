#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "framework/analysis/experiment/finding_parts.hpp"
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

/// "743 times", "12.3 times".
std::string times_words(double ratio) {
  return fmt::format("{:.{}f} times", ratio, ratio < 99.95 ? 1 : 0);
}

/// A change, given as a part of the whole.
std::string percent_of(double change) {
  const double percent = 100 * change;
  if (std::abs(percent) < 5e-4) return "under 0.001 %";
  if (change >= told_in_times) return times_words(1 + change) + " as long";
  return fmt::format("{:+.{}f} %", percent, std::abs(percent) < 1 ? 3 : 1);
}

/// A configuration that differs from the untimed one by its timing method alone.
struct timed_configuration {
  timing_method method;
  const member_summary* with;
  const comparison& cost;  ///< of the p50 of the end-to-end time, against none
};

/// What a method adds to a frame's median time.
std::string cost_text(const timed_configuration& of, std::size_t blocks) {
  const auto name = to_word(of.method);
  const auto& cost = of.cost;
  const auto percent = percent_of(cost.difference / cost.reference);
  if (!cost.difference_range) {
    const duration_format in(std::abs(cost.difference), std::abs(cost.difference) / 10);
    return fmt::format("{}: {} ({}), from {} complete block{}: no interval and no verdict below {}",
                       name, in.duration(cost.difference), percent, blocks, blocks == 1 ? "" : "s",
                       least_blocks);
  }
  const auto& [low, high] = *cost.difference_range;
  const duration_format in(std::max(std::abs(low), std::abs(high)), high - low);
  const auto added = fmt::format("{} ({})", in.duration(cost.difference), percent);
  const auto range = fmt::format("95 % interval {} to {}", in.number(low), in.duration(high));
  if (cost.difference_range->contains(0)) {
    return fmt::format("{}: {}, {} includes zero: no cost visible; more than {} ({}) would show",
                       name, added, range, in.duration(high), percent_of(high / cost.reference));
  }
  if (cost.difference < 0) {
    return fmt::format(
        "{}: {}, {}: shorter than untimed, which no timing can cause by itself; it changes how the "
        "work is scheduled or what the processor does while it waits",
        name, added, range);
  }
  return fmt::format("{} lengthens the path by {}, {}", name, added, range);
}

double p50_of(const member_summary::stage& stage) {
  return static_cast<double>(stage.times->median());
}

/// Why `sync` is longer: its stages follow each other and add up to more than the untimed path.
std::optional<std::string> lost_overlap(const timed_configuration& sync) {
  const auto& cost = sync.cost;
  if (!cost.difference_range || cost.difference_range->low <= 0) return std::nullopt;
  double sum = 0;
  for (const auto& stage : sync.with->stages) {
    if (!stage.times) return std::nullopt;
    sum += p50_of(stage);
  }
  // Half the cost at least, so that the overlap is the main reason and not a side remark.
  if (sum - cost.reference < 0.5 * cost.difference) return std::nullopt;
  return fmt::format(
      "work that overlapped runs one after the other under sync: its stages add up to {}, the "
      "untimed path takes {}",
      format_duration(sum), format_duration(cost.reference));
}

const member_summary::stage* find_stage(const timed_configuration* in, const std::string& name) {
  if (in == nullptr) return nullptr;
  for (const auto& stage : in->with->stages) {
    if (stage.name == name && stage.times) return &stage;
  }
  return nullptr;
}

/// Of all configurations, by their methods.
struct timing_contrast {
  const timed_configuration* host = nullptr;
  const timed_configuration* sync = nullptr;
  const timed_configuration* event = nullptr;
};

/// Stages whose launch `host` times while the work, by a method that measures the stage itself,
/// takes at least twice as long.
void add_launches(const timing_contrast& of, findings_list& to) {
  if (of.host == nullptr) return;
  for (const auto& stage : of.host->with->stages) {
    if (stage.what != measure::enqueue_time || !stage.times) continue;
    const auto* by = of.event == nullptr ? of.sync : of.event;
    const auto* real = find_stage(by, stage.name);
    if (real == nullptr || p50_of(*real) < 2 * p50_of(stage)) continue;
    to.push_back(
        fmt::format("host reports {} for {}: the time to launch it, not the {} it takes ({})",
                    format_duration(p50_of(stage)), stage.name, format_duration(p50_of(*real)),
                    to_word(by->method)));
  }
}

/// How far `sync` and `event` are apart on the device stage they differ most on.
std::optional<std::string> agreement(const timing_contrast& of) {
  if (of.event == nullptr) return std::nullopt;
  const member_summary::stage* worst = nullptr;
  const member_summary::stage* worst_by_sync = nullptr;
  double apart = 0;
  for (const auto& stage : of.event->with->stages) {
    const auto* by_sync = find_stage(of.sync, stage.name);
    if (stage.what != measure::device_time || by_sync == nullptr) continue;
    if (!stage.times || p50_of(stage) <= 0) continue;
    const double ratio = std::abs(p50_of(*by_sync) / p50_of(stage) - 1);
    if (worst != nullptr && ratio <= apart) continue;
    worst = &stage;
    worst_by_sync = by_sync;
    apart = ratio;
  }
  if (worst == nullptr) return std::nullopt;
  const auto times =
      fmt::format("{}: {} by sync, {} by event", worst->name,
                  format_duration(p50_of(*worst_by_sync)), format_duration(p50_of(*worst)));
  constexpr double near = 0.02;
  if (apart <= near) {
    return fmt::format("sync and event agree on every device stage to within 2 %; {}", times);
  }
  const auto how_far = apart >= told_in_times ? times_words(1 + apart) + " as long"
                                              : fmt::format("{:.1f} %", 100 * apart);
  return fmt::format("sync and event differ most on {} ({})", times, how_far);
}

/// The configurations of an experiment in which nothing but the timing method varies, against none;
/// empty for any other.
std::vector<timed_configuration> timed_configurations(const finding_source& from) {
  std::vector<timed_configuration> list;
  for (const auto& one : from.summary.comparisons) {
    if (one.pair.reference != from.record.pairs.front().reference) return {};
    if (!from.differ_only_in(one.pair, "timing")) return {};
    const auto runs = from.runs_of(one.pair.what);
    const auto untimed = from.runs_of(one.pair.reference);
    if (runs.empty() || untimed.empty()) continue;
    if (untimed.front()->run.timing != timing_method::none) return {};
    if (one.figure != figure::p50) continue;
    list.push_back({runs.front()->run.timing, from.summary_of(one.pair.what), one});
  }
  return list;
}

}  // namespace

void add_timing_findings(const finding_source& from, findings_list& to) {
  timing_contrast contrast;
  const auto configurations = timed_configurations(from);
  for (const auto& one : configurations) {
    to.push_back(cost_text(one, from.summary.counted_blocks));
    if (one.method == timing_method::host) contrast.host = &one;
    if (one.method == timing_method::event) contrast.event = &one;
    if (one.method != timing_method::sync) continue;
    contrast.sync = &one;
    if (auto reason = lost_overlap(one)) to.push_back(std::move(*reason));
  }
  add_launches(contrast, to);
  if (auto text = agreement(contrast)) to.push_back(std::move(*text));
}

}  // namespace graphline
