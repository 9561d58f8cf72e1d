#include <iterator>
#include <string_view>
#include <utility>

#include "framework/analysis/run/attribution.hpp"
#include "framework/analysis/run/timeline.hpp"
#include "framework/report/render/render.hpp"

// In the JSON of a chart, keys are the names of members, except in the functions `to_json` below.

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
GRAPHLINE_MEMBERS(sweep_chart::line, name, values, points)
GRAPHLINE_MEMBERS(sweep_chart::panel, title, lines)
GRAPHLINE_MEMBERS(sweep_chart, parameter, at, texts, panels, names)
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

/// Meaning of each category, in the order of `time_category`.
static constexpr std::string_view category_meanings[] = {
    "due, and no slot is free",
    "due, and waits for other frames of its batch",
    "a CPU stage runs",
    "the host enqueues a device stage or launches the frame's graph",
    "a device stage runs",
    "a copy runs on the device",
    "enqueued; the stream or the device is busy or has not started it",
    "inputs are ready, and no host thread has taken it up; at a frame's end: all work is done, and "
    "the host thread is busy with other frames",
    "the same stage still works on the previous frame",
    "the data of another rank had not arrived",
    "the device is done, and the host is not yet aware of it",
    "what the timing method does not measure"};
static_assert(std::size(category_meanings) == std::size(time_category_words));

/// Name and category of each kind of span; a mark has none. Frames refer to a kind by its index in
/// this list.
static constexpr std::pair<std::string_view, std::optional<time_category>> span_kinds[] = {
    {"CPU stage", time_category::cpu},
    {"enqueue", time_category::launch},
    {"device stage between two waits of the host", time_category::device},
    {"held up by other work of the device", time_category::device},
    {"device stage", time_category::device},
    {"copy", time_category::copy},
    {"part of a device stage", time_category::device},
    {"skipped", std::nullopt},
    {"no rows", std::nullopt}};
static_assert(std::size(span_kinds) == std::size(timeline_span_words));

nlohmann::ordered_json report::chart_data(const chart& of) {
  // In the order of the variant. The page's scripts use these names.
  constexpr const char* kinds[] = {"roofline",    "frames", "distributions", "timeline",
                                   "comparisons", "sweep",  "trials"};
  static_assert(std::size(kinds) == std::variant_size_v<decltype(chart::drawn)>);
  auto data = std::visit([](const auto& drawn) { return nlohmann::ordered_json(drawn); }, of.drawn);
  data["kind"] = kinds[of.drawn.index()];
  if (!std::holds_alternative<timeline_chart>(of.drawn)) return data;
  for (const auto& [name, category] : span_kinds) {
    const auto kind = static_cast<timeline_span::kind>(data["kinds"].size());
    data["kinds"].push_back({{"kind", to_word(kind)},
                             {"name", name},
                             {"category", category ? to_word(*category) : "skipped"}});
  }
  for (const auto& [word, what] : time_category_words) {
    data["categories"].push_back({{"category", word},
                                  {"name", in_words(what)},
                                  {"help", category_meanings[static_cast<std::size_t>(what)]}});
  }
  data["categories"].push_back({{"category", "skipped"},
                                {"name", "not run"},
                                {"help", "the host decided that the frame does not run a stage"}});
  return data;
}

}  // namespace graphline
