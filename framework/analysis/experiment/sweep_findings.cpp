#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "framework/analysis/experiment/finding_parts.hpp"
#include "framework/analysis/experiment/sweep.hpp"
#include "framework/base/units.hpp"

namespace graphline {

namespace {

// Figures that differ by less than this are as good as the same.
constexpr double noticeable = 1.15;

std::string bound_by(bound what) {
  switch (what) {
    case bound::memory:
      return "the bandwidth of memory";
    case bound::compute:
      return "arithmetic";
    case bound::transfer:
      break;
  }
  return "the bandwidth between host and device";
}

/// "121-fold" and "to 1/64" of a quotient that is `noticeable`.
std::string as_factor(double factor) {
  const bool grows = factor >= 1;
  const double size = grows ? factor : 1 / factor;
  const auto number = size < 9.95 ? fmt::format("{:.1f}", size) : fmt::format("{:.0f}", size);
  return grows ? number + "-fold" : "to 1/" + number;
}

/// "the FLOPs grow 121-fold", "the bytes stay"; empty where the quotient makes no sense.
std::string change_of(std::string_view what, double first, double last, bool plural) {
  if (first <= 0 || last <= 0) return "";
  const double factor = last / first;
  const auto verb = [&](const char* word) { return fmt::format("{}{}", word, plural ? "" : "s"); };
  if (factor > noticeable) return fmt::format("{} {} {}", what, verb("grow"), as_factor(factor));
  if (factor < 1 / noticeable) {
    return fmt::format("{} {} {}", what, verb("fall"), as_factor(factor));
  }
  return fmt::format("{} {} about the same", what, verb("stay"));
}

std::string from_to(const std::string& first, const std::string& last) {
  return first == last ? first : fmt::format("{} to {}", first, last);
}

/// What the ends of the sweep are like beside each other.
std::string change_of_all(const sweep& of, const sweep_point& first, const sweep_point& last) {
  std::vector<std::string> parts = {change_of("the FLOPs", static_cast<double>(*first.flops),
                                              static_cast<double>(*last.flops), true),
                                    change_of("the bytes", static_cast<double>(*first.bytes),
                                              static_cast<double>(*last.bytes), true)};
  if (first.time && last.time) {
    parts.push_back(change_of("the time", *first.time, *last.time, false));
  }
  std::erase(parts, "");
  if (parts.empty()) return "";
  const auto time = first.time && last.time
                        ? fmt::format(", time {}", from_to(format_duration(*first.time),
                                                           format_duration(*last.time)))
                        : std::string();
  return fmt::format(
      "from {}={} to {} {}; intensity {} FLOP/B{}", of.key, first.text, last.text, listed(parts),
      from_to(fmt::format("{:.3g}", *first.intensity), fmt::format("{:.3g}", *last.intensity)),
      time);
}

/// Which bound holds where; empty without a calibration, and where bounds alternate.
std::string bounds_of(const sweep& of) {
  std::vector<const sweep_point*> known;
  for (const auto& point : of.points) {
    if (point.by) known.push_back(&point);
  }
  if (known.size() < least_sweep_points || known.size() != of.points.size()) return "";
  const auto differs = [](const sweep_point* a, const sweep_point* b) { return a->by != b->by; };
  const auto turn = std::adjacent_find(known.begin(), known.end(), differs);
  const auto first = bound_by(*known.front()->by);
  if (turn == known.end()) {
    return fmt::format("{} bounds the least time of every {}", first, of.key);
  }
  if (std::adjacent_find(turn + 1, known.end(), differs) != known.end()) return "";
  return fmt::format("up to {}={} {} bounds the least time, from {} on {}", of.key, (*turn)->text,
                     first, (*(turn + 1))->text, bound_by(*(*(turn + 1))->by));
}

/// Where the time comes nearest to its least, and where it is farthest from it; a time below it is
/// no success but a sign that something does not hold.
std::string distances_of(const sweep& of) {
  const sweep_point* nearest = nullptr;
  const sweep_point* farthest = nullptr;
  for (const auto& point : of.points) {
    if (!point.ratio) continue;
    if (nearest == nullptr || *point.ratio < *nearest->ratio) nearest = &point;
    if (farthest == nullptr || *point.ratio > *farthest->ratio) farthest = &point;
  }
  if (nearest == nullptr) return "";
  if (*nearest->ratio * noticeable < 1) {
    return fmt::format(
        "{}={} took less than its least time, {:.2g} of it: data that stay in a "
        "cache, fewer FLOPs than counted, or a calibration that does not hold",
        of.key, nearest->text, *nearest->ratio);
  }
  if (*farthest->ratio < noticeable * *nearest->ratio) return "";
  return fmt::format(
      "{}={} comes nearest to its least time, {:.3g} times as long; {} takes {:.3g} "
      "times its own",
      of.key, nearest->text, *nearest->ratio, farthest->text, *farthest->ratio);
}

/// The fastest arithmetic and the slowest, as far as they are apart.
std::string rates_of(const sweep& of) {
  const sweep_point* fastest = nullptr;
  const sweep_point* slowest = nullptr;
  for (const auto& point : of.points) {
    if (!point.rate || *point.rate <= 0) continue;
    if (fastest == nullptr || *point.rate > *fastest->rate) fastest = &point;
    if (slowest == nullptr || *point.rate < *slowest->rate) slowest = &point;
  }
  if (fastest == nullptr || *fastest->rate < noticeable * *slowest->rate) return "";
  return fmt::format("most FLOPs a second with {}={}, {}; fewest with {}, {}", of.key,
                     fastest->text, format_count(*fastest->rate, "FLOP/s"), slowest->text,
                     format_count(*slowest->rate, "FLOP/s"));
}

}  // namespace

void add_sweep_findings(const finding_source& from, findings_list& to) {
  const auto found = sweep_of(from.record, from.summary);
  if (!found) return;
  const auto& points = found->points;
  const auto known = [](const sweep_point& p) { return p.intensity.has_value(); };
  const auto first = std::find_if(points.begin(), points.end(), known);
  const auto last = std::find_if(points.rbegin(), points.rend(), known);
  for (auto text : {change_of_all(*found, *first, *last), rates_of(*found), bounds_of(*found),
                    distances_of(*found)}) {
    if (!text.empty()) to.push_back(std::move(text));
  }
}

}  // namespace graphline
