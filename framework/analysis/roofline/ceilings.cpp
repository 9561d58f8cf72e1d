#include "framework/analysis/roofline/ceilings.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "framework/analysis/stats/distribution.hpp"

namespace graphline {
namespace {

using named_values = std::vector<std::pair<std::string, std::string>>;

/// Days after which a calibration is stale.
constexpr std::int64_t old_after_days = 90;

/// Entries of an environment that do not affect device performance.
constexpr std::array<std::string_view, 7> without_part = {
    "date", "host name", "system", "cores", "compiler", "commit", "oneTBB"};

const std::string* value_of(const named_values& values, std::string_view name) {
  const auto found = std::ranges::find(values, name, &named_values::value_type::first);
  return found == values.end() ? nullptr : &found->second;
}

void compare(const named_values& then, const named_values& now, std::vector<std::string>& reasons) {
  for (const auto& [name, before] : then) {
    if (std::ranges::find(without_part, name) != without_part.end()) continue;
    const std::string* const after = value_of(now, name);
    if (after == nullptr || *after == before) continue;
    reasons.push_back(fmt::format("{} was {}, is {}", name, before, *after));
  }
}

/// Parses an environment's date to seconds since 1970; empty if the text is not a date.
std::optional<std::int64_t> seconds_of(const std::string* date) {
  if (date == nullptr) return std::nullopt;
  std::tm parts{};
  const char* const end = ::strptime(date->c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return std::int64_t{::timegm(&parts)};
}

ceiling_figure figure_of(const ceiling_record& c, const distribution& times) {
  const bool duration = unit_of(c.what) == unit::duration;
  const auto at = [&](double p) {
    const auto time = times.sorted()[rank_of(p, times.count())];
    const auto ns = static_cast<double>(std::max<nanoseconds>(time, 1));
    return duration ? ns / c.amount : c.amount * 1e9 / ns;
  };
  return {c.what, c.arithmetic, at(0.5), at(0.9), at(0.1)};
}

constexpr word<ceiling> labels[] = {{"memory, read", ceiling::read},
                                    {"memory, written", ceiling::write},
                                    {"memory, copied", ceiling::copy},
                                    {"host to device, pinned", ceiling::host_to_device_pinned},
                                    {"device to host, pinned", ceiling::device_to_host_pinned},
                                    {"host to device, pageable", ceiling::host_to_device_pageable},
                                    {"device to host, pageable", ceiling::device_to_host_pageable},
                                    {"convolution", ceiling::convolution},
                                    {"matrix product", ceiling::matmul},
                                    {"launch a graph", ceiling::launch},
                                    {"record an event", ceiling::event},
                                    {"wait when idle", ceiling::synchronize},
                                    {"launch and see the end", ceiling::round_trip}};

const ceiling_figure* find(const std::vector<ceiling_figure>& in, ceiling what,
                           precision arithmetic = precision::float32) {
  const bool by_precision = unit_of(what) == unit::flops_per_second;
  for (const auto& figure : in) {
    if (figure.what != what || figure.value <= 0 || figure.best <= 0) continue;
    if (!by_precision || figure.arithmetic == arithmetic) return &figure;
  }
  return nullptr;
}

/// Returns the ceiling with the higher value, and sets `best` to the larger of both. A measured
/// time contradicts the calibration only if it beats both ceilings.
std::optional<ceiling_figure> higher(const ceiling_figure* a, const ceiling_figure* b) {
  if (a == nullptr || b == nullptr) {
    const auto* one = a == nullptr ? b : a;
    return one == nullptr ? std::nullopt : std::optional(*one);
  }
  auto result = a->value >= b->value ? *a : *b;
  result.best = std::max(a->best, b->best);
  return result;
}

}  // namespace

std::string label_of(ceiling what, precision arithmetic) {
  const auto words = std::ranges::find(labels, what, &word<ceiling>::second)->first;
  if (unit_of(what) != unit::flops_per_second) return std::string(words);
  return fmt::format("{}, {}", words, to_word(arithmetic));
}

std::string origin_of_figures(const calibration_record& record) {
  const std::string* const origin = value_of(record.environment, "figures");
  return origin == nullptr ? std::string() : *origin;
}

std::vector<ceiling_figure> figures_of(const calibration_record& record) {
  std::vector<ceiling_figure> figures;
  for (const ceiling_record& c : record.ceilings) {
    const auto times = distribution::of(c.times);
    if (times && c.amount > 0) figures.push_back(figure_of(c, *times));
  }
  return figures;
}

double spread_of(const ceiling_figure& figure) {
  if (unit_of(figure.what) == unit::duration) {
    return (figure.worst - figure.best) / figure.value;
  }
  return figure.value / figure.worst - figure.value / figure.best;
}

std::vector<std::string> wide_spreads(const std::vector<ceiling_figure>& figures) {
  std::vector<std::string> wide;
  for (const auto& figure : figures) {
    if (unit_of(figure.what) == unit::duration) continue;
    const double spread = spread_of(figure);
    if (spread <= wide_spread) continue;
    wide.push_back(
        fmt::format("{} ({:.0f} %)", label_of(figure.what, figure.arithmetic), 100 * spread));
  }
  return wide;
}

std::vector<std::string> stale_reasons(const calibration_record& record,
                                       const device_properties& device,
                                       const named_values& environment) {
  std::vector<std::string> reasons;
  const device_properties& then = record.device;
  compare({{"the backend", then.backend}, {"the device", then.name}},
          {{"the backend", device.backend}, {"the device", device.name}}, reasons);
  compare({{"the number of compute threads", std::to_string(then.compute_threads)}},
          {{"the number of compute threads", std::to_string(device.compute_threads)}}, reasons);
  compare(then.details, device.details, reasons);
  compare(record.environment, environment, reasons);
  const auto measured = seconds_of(value_of(record.environment, "date"));
  const auto now = seconds_of(value_of(environment, "date"));
  if (measured && now) {
    const std::int64_t days = (*now - *measured) / (24 * 60 * 60);
    if (days > old_after_days) reasons.push_back(fmt::format("it is {} days old", days));
  }
  return reasons;
}

device_ceilings::device_ceilings(const std::vector<ceiling_figure>& measured)
    : bandwidth(higher(find(measured, ceiling::read), find(measured, ceiling::copy))),
      to_device(find(measured, ceiling::host_to_device_pinned)),
      to_host(find(measured, ceiling::device_to_host_pinned)),
      read_(find(measured, ceiling::read)),
      write_(find(measured, ceiling::write)),
      copy_(find(measured, ceiling::copy)) {
  for (const auto& [name, arithmetic] : precision_words) {
    const auto rate = higher(find(measured, ceiling::convolution, arithmetic),
                             find(measured, ceiling::matmul, arithmetic));
    if (!rate || !bandwidth) continue;
    compute.push_back({arithmetic, *rate, rate->value / bandwidth->value});
  }
}

memory_times device_ceilings::time_to_move(double read, double written) const {
  const auto at = [&](double ceiling_figure::*level) {
    const double copy = (copy_ != nullptr ? *copy_ : *bandwidth).*level;
    // Half of the bytes of a copy are read and half are written. Read-only or write-only bandwidth
    // must therefore be at least half the copy bandwidth.
    const auto alone = [&](const ceiling_figure* one) {
      return std::max((one != nullptr ? *one : *bandwidth).*level, copy / 2);
    };
    const double both = std::min(read, written);
    return 1e9 *
           (2 * both / copy + (read - both) / alone(read_) + (written - both) / alone(write_));
  };
  return {at(&ceiling_figure::value), at(&ceiling_figure::best)};
}

const ceiling_figure* device_ceilings::rate(precision arithmetic) const {
  for (const auto& ceiling : compute) {
    if (ceiling.arithmetic == arithmetic) return &ceiling.rate;
  }
  return nullptr;
}

}  // namespace graphline
