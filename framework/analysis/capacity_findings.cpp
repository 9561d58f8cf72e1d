#include "framework/analysis/capacity_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
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

std::string count_of_late(const bound_check& times) {
  return fmt::format("{} of {} frames late", times.late, times.frames);
}

std::string best_sentence(const probe_summary& best, const capacity_settings& how, bool confirmed) {
  auto text =
      fmt::format("at {}, {} is within {}: {}", rate_text(best.rate),
                  percentile_name(how.percentile), in_words(how.bound), with_interval(best.times));
  if (best.verdict == bound_verdict::open) {
    text += fmt::format(", by the count alone: {}, which these frames do not show with 95 %",
                        count_of_late(best.times));
  }
  text += confirmed ? "; confirmed by runs of their own" : "; no longer run has confirmed it";
  return text;
}

std::string worse_sentence(const probe_summary& worse, const capacity_settings& how) {
  auto text = fmt::format("at {} it is not: ", rate_text(worse.rate));
  if (worse.growing == worse.runs && worse.times.verdict != bound_verdict::fails) {
    return text + "the queue grew over the whole of each run";
  }
  if (worse.cut_off) {
    return text + "frames came faster than they were done, and the run was cut off";
  }
  text += fmt::format("{} is {}", percentile_name(how.percentile), with_interval(worse.times));
  if (worse.verdict == bound_verdict::open) {
    text += fmt::format(", by the count alone: {}", count_of_late(worse.times));
  }
  return text;
}

std::string alone_sentence(const bound_check& alone, const capacity_settings& how) {
  return fmt::format(
      "no rate can keep {} within {}: of frames with no other beside them and no queue before them "
      "it is {}, {}",
      percentile_name(how.percentile), in_words(how.bound), with_interval(alone),
      count_of_late(alone));
}

/// The highest rate that held or the lowest that failed, among those that `counts` admits.
template <class Counts>
std::optional<double> extreme_rate(const capacity_summary& summary, bool held, Counts counts) {
  std::optional<double> found;
  for (const auto& probe : summary.probes) {
    if (probe.held != held || !counts(probe.rate)) continue;
    if (!found || (held ? probe.rate > *found : probe.rate < *found)) found = probe.rate;
  }
  return found;
}

/// What runs say against each other, when one failed at no higher a rate than another held, and
/// where the highest rate can lie with all of them: above each rate that held below those, and
/// below each that failed above them.
std::optional<std::string> contradiction_sentence(const capacity_summary& summary) {
  const auto any = [](double) { return true; };
  const auto failed = extreme_rate(summary, false, any);
  const auto held = extreme_rate(summary, true, any);
  if (!failed || !held || *failed > *held) return std::nullopt;
  std::string text = "the runs contradict each other: ";
  if (*failed == *held) {
    text += fmt::format("at {} it held once and failed once", rate_text(*held));
  } else {
    text += fmt::format("it failed at {} and held at {}", rate_text(*failed), rate_text(*held));
  }
  const auto low = extreme_rate(summary, true, [&](double rate) { return rate < *failed; });
  const auto high = extreme_rate(summary, false, [&](double rate) { return rate > *held; });
  text += "; with all of them, the highest lies ";
  if (low && high) {
    text += fmt::format("between {} and {}", rate_text(*low), rate_text(*high));
  } else if (low) {
    text += fmt::format("above {}", rate_text(*low));
  } else if (high) {
    text += fmt::format("below {}", rate_text(*high));
  } else {
    text += "anywhere";
  }
  return text + "; more --frames bring these together";
}

/// Where the highest rate lies as far as the verdicts carry it, when one of those about it is open.
std::optional<std::string> carried_sentence(const capacity_summary& summary) {
  const probe_summary* holds = nullptr;
  const probe_summary* fails = nullptr;
  for (const auto& probe : summary.probes) {
    if (probe.verdict == bound_verdict::holds && (!holds || probe.rate > holds->rate)) {
      holds = &probe;
    }
    if (probe.verdict == bound_verdict::fails && (!fails || probe.rate < fails->rate)) {
      fails = &probe;
    }
  }
  const auto open = [&](const std::optional<std::size_t>& i) {
    return !i || summary.probes[*i].verdict == bound_verdict::open;
  };
  const bool clear = !open(summary.best) && !open(summary.worse);
  if (clear || !holds || !fails || holds->rate >= fails->rate) return std::nullopt;
  return fmt::format(
      "with 95 % at each rate, the highest lies between {} and {}; more --frames "
      "bring these together",
      rate_text(holds->rate), rate_text(fails->rate));
}

/// Without a rate that held.
std::string nothing_held(const capacity_summary& summary, const capacity_settings& how) {
  if (summary.alone.verdict == bound_verdict::fails) return alone_sentence(summary.alone, how);
  if (!summary.worse) return "no rate was judged";
  return fmt::format("no rate was found at which {} is within {}; the lowest that was judged is {}",
                     percentile_name(how.percentile), in_words(how.bound),
                     rate_text(summary.probes[*summary.worse].rate));
}

}  // namespace

std::string rate_text(double frames_a_second) {
  const auto before = static_cast<int>(std::floor(std::log10(std::max(frames_a_second, 1e-6))));
  return fmt::format("{:.{}f} frame/s", frames_a_second, std::clamp(3 - before, 0, 9));
}

std::vector<std::string> findings_of(const capacity_summary& summary,
                                     const capacity_settings& how) {
  std::vector<std::string> found;
  if (!summary.best) {
    found.push_back(nothing_held(summary, how));
    return found;
  }
  const auto& best = summary.probes[*summary.best];
  found.push_back(best_sentence(best, how, summary.confirmed));
  if (summary.worse) {
    found.push_back(worse_sentence(summary.probes[*summary.worse], how));
  } else {
    found.push_back("no higher rate was found at which it is not");
  }
  if (auto contradiction = contradiction_sentence(summary)) {
    found.push_back(std::move(*contradiction));
  } else if (auto carried = carried_sentence(summary)) {
    found.push_back(std::move(*carried));
  }
  if (summary.closed_loop) {
    found.push_back(fmt::format("this is {:.0f} % of the {} of frames that are all due at once",
                                100 * best.rate / *summary.closed_loop,
                                rate_text(*summary.closed_loop)));
  }
  constexpr double worth_telling = 2;
  if (best.times.clustering >= worth_telling) {
    found.push_back(fmt::format(
        "late frames come together: {} frames say as much as {:.0f} independent ones, and are "
        "judged as so many",
        best.times.frames, static_cast<double>(best.times.frames) / best.times.clustering));
  }
  const auto needed = summary.closed_loop ? frames_for_queue(how, *summary.closed_loop) : 0;
  if (how.frames < needed) {
    found.push_back(
        fmt::format("the rate may be too high by several percent: under a bound that is long "
                    "against a frame, a "
                    "queue takes longer than {} frames to build up; --frames {} would show it",
                    how.frames, needed));
  }
  return found;
}

}  // namespace graphline
