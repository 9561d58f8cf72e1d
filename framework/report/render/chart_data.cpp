#include <iterator>

#include "framework/report/render/render.hpp"

// A chart's data has the names of its members, but for what stands below.

template <class T>
struct nlohmann::adl_serializer<std::optional<T>> {
  static void to_json(ordered_json& to, const std::optional<T>& value) {
    to = graphline::or_null(value);
  }
};

#define GRAPHLINE_MEMBERS(type, ...)                                                          \
  static void to_json(nlohmann::ordered_json& nlohmann_json_j, const type& nlohmann_json_t) { \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_TO, __VA_ARGS__))                  \
  }

namespace graphline {

GRAPHLINE_MEMBERS(histogram, begin, width, counts, below, beyond)

static void to_json(nlohmann::ordered_json& to, const verdict& of) {
  to = to_word(of);
}

static void to_json(nlohmann::ordered_json& to, const timeline_lane& of) {
  to = {{"kind", to_word(of.what)}, {"name", of.name}};
}

namespace report {

using json = nlohmann::ordered_json;

static void to_json(json& to, const roofline_chart::ceiling& of) {
  to = {{"name", of.name},
        {"rate", of.rate},
        {"ridge_point", of.ridge_point},
        {"text", to_text({of.rate, unit::flops_per_second})}};
}

GRAPHLINE_MEMBERS(roofline_chart::point, stage, part, group, intensity, rate, share, words)
GRAPHLINE_MEMBERS(frames_chart::series, name, what, frames, times)
GRAPHLINE_MEMBERS(frames_chart, frames, list, deadline)
GRAPHLINE_MEMBERS(distributions_chart::sample, name, what, color, bins, marks)
GRAPHLINE_MEMBERS(distributions_chart, list, deadline)
GRAPHLINE_MEMBERS(timeline_chart::stage, name, parts)
GRAPHLINE_MEMBERS(timeline_chart, stages, lanes, total, median, deadline, clock_error, frames)
GRAPHLINE_MEMBERS(sweep_chart::line, name, values)
GRAPHLINE_MEMBERS(sweep_chart::panel, title, lines)
GRAPHLINE_MEMBERS(sweep_chart, parameter, at, texts, panels)
GRAPHLINE_MEMBERS(trials_chart::trial, of, block, begun, median)
GRAPHLINE_MEMBERS(trials_chart, names, trials, disturbed)

GRAPHLINE_MEMBERS(comparisons_chart::comparison, metric, name, reference, change, low, high,
                  verdict, words)
GRAPHLINE_MEMBERS(comparisons_chart, list, margin)

static void to_json(json& to, const roofline_chart& of) {
  to = {{"bandwidth", of.bandwidth},
        {"memory", to_text({of.bandwidth, unit::bytes_per_second})},
        {"ceilings", of.ceilings},
        {"points", of.points},
        {"without", of.without}};
}

}  // namespace report

nlohmann::ordered_json report::chart_data(const chart& of) {
  // In the order of the variant: by these a page's script finds how to draw one.
  constexpr const char* kinds[] = {"roofline",    "frames", "distributions", "timeline",
                                   "comparisons", "sweep",  "trials"};
  static_assert(std::size(kinds) == std::variant_size_v<decltype(chart::drawn)>);
  auto data = std::visit([](const auto& drawn) { return nlohmann::ordered_json(drawn); }, of.drawn);
  data["kind"] = kinds[of.drawn.index()];
  if (!std::holds_alternative<timeline_chart>(of.drawn)) return data;
  // In the order of their values, by which frames name them.
  for (const auto& [word, what] : timeline_span_words) data["kinds"].push_back(word);
  for (const auto& [word, what] : time_category_words) data["categories"].push_back(word);
  return data;
}

}  // namespace graphline
