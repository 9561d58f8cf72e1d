#include "framework/analysis/experiment/capacity_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "framework/base/units.hpp"

namespace graphline {
namespace {

std::string in_words(nanoseconds ns) {
  return format_duration(static_cast<double>(ns));
}

/// "52.1 ms (95 % interval 50.0 ms to 55.1 ms)".
std::string with_interval(const bound_check& times) {
  if (!times.value) return "unknown, with too many frames dropped or not waited for";
  if (times.low && times.high) {
    return fmt::format("{} (95 % interval {} to {})", in_words(*times.value), in_words(*times.low),
                       in_words(*times.high));
  }
  if (times.low)
    return fmt::format("{} (at least {})", in_words(*times.value), in_words(*times.low));
  return in_words(*times.value);
}

std::string estimate_sentence(const capacity_estimate& found, const capacity_settings& how) {
  auto text = fmt::format("{} stays within {} up to {}", percentile_name(how.percentile),
                          in_words(how.bound), rate_text(*found.rate));
  if (found.low && found.high) {
    text += fmt::format(" (95 % interval {} to {})", rate_text(*found.low), rate_text(*found.high));
  }
  return text + fmt::format(", from {} runs together, {} frames", found.runs, found.frames);
}

/// When the interval is not as narrow as asked for. Its width falls with the square root of the
/// number of frames.
std::optional<std::string> width_sentence(const capacity_estimate& found,
                                          const capacity_settings& how) {
  if (!found.enough) return "too few runs were made for this interval to be relied on";
  const auto width = found.width();
  if (!width) return "the interval has one end only: rates on both sides of it were not found";
  if (*width <= how.within) return std::nullopt;
  const double more = *width / how.within;
  auto text =
      fmt::format("the interval is {:.1f} % wide, not {:.1f} %", 100 * *width, 100 * how.within);
  if (how.arrival == arrival::poisson) {
    text += fmt::format("; --frames {:.0f} would make it about that narrow",
                        std::ceil(static_cast<double>(how.frames) * more * more));
  }
  return text;
}

std::optional<std::string> disturbed_sentence(const capacity_estimate& found) {
  if (found.unsteady) {
    return "in more than two fifths of the runs, frames took longer for themselves: all count, "
           "but the machine may have been disturbed";
  }
  const auto left_out = std::count(found.disturbed.begin(), found.disturbed.end(), true);
  if (left_out == 0) return std::nullopt;
  return fmt::format(
      "{} left out and repeated: in {}, frames took longer for themselves than in "
      "the others (machine noise)",
      left_out == 1 ? "1 disturbed run was" : fmt::format("{} disturbed runs were", left_out),
      left_out == 1 ? "it" : "them");
}

/// "; the highest rate that held is 62.50 frame/s"; where none held in all of its runs, the highest
/// that held in some. Empty for none.
std::string highest_that_held(const std::vector<probe_summary>& probes) {
  const probe_summary* found = nullptr;
  const auto in_all = [](const probe_summary& probe) { return probe.held == probe.runs.size(); };
  for (const auto& probe : probes) {
    if (probe.held == 0) continue;
    const auto order = [&](const probe_summary& p) { return std::pair(in_all(p), p.rate); };
    if (found == nullptr || order(probe) > order(*found)) found = &probe;
  }
  if (found == nullptr) return "";
  if (in_all(*found)) {
    return fmt::format("; the highest rate that held is {}", rate_text(found->rate));
  }
  return fmt::format("; {} held in {} of {} runs", rate_text(found->rate), found->held,
                     found->runs.size());
}

/// Without an estimate.
std::string nothing_found(const capacity_summary& summary, const capacity_settings& how) {
  const auto name = percentile_name(how.percentile);
  if (summary.alone.verdict == bound_verdict::fails) {
    return fmt::format(
        "no rate can keep {} within {}: of frames with no other beside them and no queue before "
        "them it is {}, {} of {} frames late{}",
        name, in_words(how.bound), with_interval(summary.alone), summary.alone.late,
        summary.alone.frames, highest_that_held(summary.probes));
  }
  const auto holds = [](const auto& probe) { return probe.held == probe.runs.size(); };
  const auto by_rate = [](const auto& a, const auto& b) { return a.rate < b.rate; };
  const auto& probes = summary.probes;
  if (probes.empty()) return "no rate was judged";
  const auto lowest = std::min_element(probes.begin(), probes.end(), by_rate);
  const auto highest = std::max_element(probes.begin(), probes.end(), by_rate);
  if (std::none_of(probes.begin(), probes.end(), holds)) {
    return fmt::format(
        "no rate was found at which {} is within {}; the lowest that was judged is {}{}", name,
        in_words(how.bound), rate_text(lowest->rate), highest_that_held(probes));
  }
  if (std::all_of(probes.begin(), probes.end(), holds)) {
    return fmt::format("{} is within {} at every rate that was judged, up to {}", name,
                       in_words(how.bound), rate_text(highest->rate));
  }
  return "the search ended before there were runs to estimate the capacity from" +
         highest_that_held(probes);
}

}  // namespace

std::string rate_text(double frames_a_second) {
  const auto before = static_cast<int>(std::floor(std::log10(std::max(frames_a_second, 1e-6))));
  return fmt::format("{:.{}f} frame/s", frames_a_second, std::clamp(3 - before, 0, 9));
}

std::vector<std::string> findings_of(const capacity_summary& summary,
                                     const capacity_settings& how) {
  const auto& estimate = summary.estimate;
  if (!estimate.rate) return {nothing_found(summary, how)};
  std::vector<std::string> found = {estimate_sentence(estimate, how)};
  if (auto width = width_sentence(estimate, how)) found.push_back(std::move(*width));
  if (auto disturbed = disturbed_sentence(estimate)) found.push_back(std::move(*disturbed));
  if (summary.closed_loop) {
    found.push_back(fmt::format("this is {:.0f} % of the {} of frames that are all due at once",
                                100 * *estimate.rate / *summary.closed_loop,
                                rate_text(*summary.closed_loop)));
  }
  const auto needed = summary.closed_loop ? frames_for_queue(how, *summary.closed_loop) : 0;
  if (how.frames < needed) {
    found.push_back(
        fmt::format("the rate may be too high: under a bound that is long against a frame, a queue "
                    "takes longer than {} frames to build up; --frames {} would show it",
                    how.frames, needed));
  }
  return found;
}

}  // namespace graphline
