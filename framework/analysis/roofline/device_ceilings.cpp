#include "framework/analysis/roofline/device_ceilings.hpp"

#include <algorithm>

namespace graphline {

namespace {

const ceiling_figure* find(const std::vector<ceiling_figure>& in, ceiling what,
                           precision arithmetic = precision::float32) {
  const bool by_precision = unit_of(what) == ceiling_unit::rate;
  for (const auto& figure : in) {
    if (figure.what != what || figure.value <= 0 || figure.best <= 0) continue;
    if (!by_precision || figure.arithmetic == arithmetic) return &figure;
  }
  return nullptr;
}

/// The higher of two ceilings, with the better best of both: a time below that of either says that
/// neither holds.
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
    // A copy reads half of its bytes and writes the other half: each can go that fast at least.
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
