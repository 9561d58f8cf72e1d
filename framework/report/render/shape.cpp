#include "framework/report/render/shape.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "framework/analysis/stats/histogram.hpp"

namespace graphline {

namespace {

constexpr std::size_t most_own_bars = 8;
constexpr std::size_t most_shared_bars = 16;

std::vector<nanoseconds> values_of(const distribution& times) {
  return {times.sorted().begin(), times.sorted().end()};
}

}  // namespace

std::string bars_of(std::span<const std::size_t> counts) {
  constexpr std::string_view blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::size_t levels = std::size(blocks);
  const auto most = counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
  std::string text;
  for (const auto count : counts) {
    if (count == 0) {
      text += ' ';
      continue;
    }
    const auto level = (count * levels + most - 1) / most;  // 1 to 8
    text += blocks[level - 1];
  }
  return text;
}

std::vector<std::string> shapes_of(const std::vector<const distribution*>& samples, scale on) {
  const auto enough = [](const distribution* sample) {
    return sample != nullptr && sample->count() >= least_for_shape;
  };
  if (std::none_of(samples.begin(), samples.end(), enough)) return {};
  std::vector<nanoseconds> all;
  for (const auto* sample : samples) {
    if (!enough(sample) || on == scale::own) continue;
    all.insert(all.end(), sample->sorted().begin(), sample->sorted().end());
  }
  const auto bins = histogram_of(std::move(all), most_shared_bars);

  std::vector<std::string> shapes;
  for (const auto* sample : samples) {
    auto& shape = shapes.emplace_back();
    if (!enough(sample)) continue;
    const auto found = bins ? counted_like(*bins, sample->sorted())
                            : *histogram_of(values_of(*sample), most_own_bars);
    shape = bars_of(found.counts);
    shape.erase(shape.find_last_not_of(' ') + 1);
    if (found.beyond > 0) shape += '>';
  }
  return shapes;
}

}  // namespace graphline
