#include "framework/report/render/shape.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
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

std::string bars_of(std::span<const std::size_t> counts, const terminal_style& as) {
  constexpr std::string_view blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::string_view ascii[] = {".", ":", "-", "=", "+", "*", "#", "@"};
  constexpr std::size_t levels = std::size(blocks);
  static_assert(std::size(ascii) == levels);
  const auto most = counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
  std::string text;
  for (const auto count : counts) {
    if (count == 0) {
      text += ' ';
      continue;
    }
    const auto level = (count * levels + most - 1) / most;  // 1 to 8
    text += as.blocks ? blocks[level - 1] : ascii[level - 1];
  }
  return text;
}

std::vector<std::string> shapes_of(const std::vector<const distribution*>& samples, scale on,
                                   const terminal_style& as) {
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

  std::vector<std::optional<histogram>> found(samples.size());
  bool any_below = false;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (!enough(samples[i])) continue;
    found[i] = bins ? counted_like(*bins, samples[i]->sorted())
                    : histogram_of(values_of(*samples[i]), most_own_bars);
    any_below = any_below || found[i]->below > 0;
  }
  std::vector<std::string> shapes(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (!found[i]) continue;
    if (any_below) shapes[i] = found[i]->below > 0 ? "<" : " ";
    shapes[i] += bars_of(found[i]->counts, as);
    if (found[i]->beyond > 0) {
      shapes[i] += '>';
    } else {
      shapes[i].erase(shapes[i].find_last_not_of(' ') + 1);
    }
  }
  return shapes;
}

}  // namespace graphline
