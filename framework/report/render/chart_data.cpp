#include "framework/report/render/chart_data.hpp"

#include <cmath>

#include "framework/report/json/json_text.hpp"

namespace graphline::report {

namespace {

using json = nlohmann::ordered_json;

json data_of(const roofline_chart& of) {
  json ceilings = json::array();
  for (const auto& one : of.ceilings) {
    ceilings.push_back({{"name", one.name},
                        {"text", to_text({one.rate, unit::flops_per_second})},
                        {"rate", one.rate},
                        {"ridge", one.ridge_point}});
  }
  json points = json::array();
  for (const auto& p : of.points) {
    points.push_back({{"stage", p.stage},
                      {"part", p.part},
                      {"group", p.group},
                      {"intensity", p.intensity},
                      {"rate", p.rate},
                      {"bound", or_null(p.bound_rate)},
                      {"ratio", p.ratio ? json(to_text({*p.ratio, unit::ratio})) : json("")},
                      {"share", or_null(p.share)},
                      {"words", p.words}});
  }
  return {{"kind", "roofline"},
          {"memory",
           {{"rate", of.bandwidth}, {"text", to_text({of.bandwidth, unit::bytes_per_second})}}},
          {"ceilings", std::move(ceilings)},
          {"points", std::move(points)},
          {"without", of.without}};
}

json data_of(const frames_chart::series& of) {
  return {{"name", of.name}, {"what", of.what}, {"frames", of.frames}, {"times", of.times}};
}

json data_of(const frames_chart& of) {
  json series = json::array();
  for (const auto& one : of.list) series.push_back(data_of(one));
  json rows = json::array();
  for (const auto& s : of.stretches) {
    rows.push_back({s.first, s.last, s.shortest, s.median, s.longest, s.longest_at});
  }
  json data = {{"kind", "frames"},
               {"frames", of.frames},
               {"series", std::move(series)},
               {"rows", std::move(rows)},
               {"deadline", or_null(of.deadline)}};
  if (of.median) {
    data["median"] = data_of(*of.median);
    data["median"]["reach"] = of.reach;
  }
  if (of.dropped_in_all > 0) data["dropped"] = {{"count", of.dropped_in_all}, {"at", of.dropped}};
  return data;
}

json data_of(const distributions_chart& of) {
  json list = json::array();
  for (const auto& one : of.list) {
    json times = json::array();
    json counts = json::array();
    for (const auto& step : one.steps) {
      times.push_back(step.time);
      counts.push_back(step.count);
    }
    list.push_back({{"name", one.name},
                    {"what", one.what},
                    {"color", one.color},
                    {"count", one.steps.back().count},
                    {"histogram",
                     {{"begin", one.bins.begin},
                      {"width", one.bins.width},
                      {"counts", one.bins.counts},
                      {"below", one.bins.below},
                      {"beyond", one.bins.beyond}}},
                    {"times", std::move(times)},
                    {"counts", std::move(counts)},
                    {"marks", one.marks}});
  }
  return {{"kind", "distributions"}, {"of", std::move(list)}, {"deadline", or_null(of.deadline)}};
}

json data_of(const timeline_chart& of) {
  json stages = json::array();
  for (const auto& one : of.stages) {
    stages.push_back({{"name", one.name}, {"parts", one.parts}, {"waits", one.waits}});
  }
  json lanes = json::array();
  for (const auto& lane : of.lanes) {
    lanes.push_back({{"kind", to_word(lane.what)}, {"name", lane.name}});
  }
  // In the order of their values, by which spans and pieces name them.
  json kinds = json::array();
  for (const auto& [word, what] : timeline_span_words) kinds.push_back(word);
  json categories = json::array();
  for (const auto& [word, what] : time_category_words) categories.push_back(word);
  return {{"kind", "timeline"},
          {"stages", std::move(stages)},
          {"lanes", std::move(lanes)},
          {"total", of.total},
          {"median", of.median},
          {"median_time", of.median_time},
          {"slowest", of.slowest},
          {"asked", of.asked},
          {"slow", of.slow},
          {"typical", of.typical},
          {"missed", of.missed},
          {"deadline", or_null(of.deadline)},
          {"clock_error", of.clock_error},
          {"kinds", std::move(kinds)},
          {"categories", std::move(categories)},
          {"spans", of.spans},
          {"pieces", of.pieces},
          {"frames", of.frames}};
}

/// A thousandth of a nanosecond or of a row is as much as a picture shows, and a shorter page.
double rounded(double value) {
  return std::round(value * 1000) / 1000;
}

json data_of(const critical_path_chart& of) {
  const auto& path = of.of;
  json rows = json::array();
  for (const auto& row : path.rows) {
    rows.push_back({{"what", to_word(row.what)},
                    {"stage", or_null(row.stage)},
                    {"all", rounded(row.all)},
                    {"typical", rounded(row.typical)},
                    {"slowest", rounded(row.slowest)}});
  }
  json groups = json::array();
  const auto add = [&](const char* key, const char* title, std::size_t frames, double whole) {
    groups.push_back(
        {{"key", key}, {"title", title}, {"frames", frames}, {"end_to_end", rounded(whole)}});
  };
  add("all", of.frames > 1 ? "mean" : "the frame", of.frames, path.end_to_end.all);
  if (of.frames > 1) {
    add("typical", "typical", path.typical_frames.size(), path.end_to_end.typical);
    add("slowest", "slowest", path.slowest_frames.size(), path.end_to_end.slowest);
  }
  json stages = json::array();
  for (std::size_t i = 0; i < of.stages.size(); ++i) {
    stages.push_back({{"name", of.stages[i].first}, {"color", of.stages[i].second}});
    if (path.stages.empty()) continue;
    stages.back()["on_path"] = rounded(path.stages[i].on_path);
    stages.back()["off_path"] = rounded(path.stages[i].off_path);
    stages.back()["share_of_frames"] = path.stages[i].share_of_frames;
  }
  return {{"kind", "critical_path"},
          {"rows", std::move(rows)},
          {"groups", std::move(groups)},
          {"stages", std::move(stages)},
          {"running", path.running},
          {"bound", or_null(path.bound)},
          {"bound_of_any", or_null(path.bound_of_any)}};
}

json data_of(const pipeline_chart& of) {
  json stages = json::array();
  for (const auto& one : of.stages) {
    stages.push_back({{"name", one.name},
                      {"kind", one.kind},
                      {"color", one.color},
                      {"where", one.where},
                      {"priority", one.priority},
                      {"measure", one.measure},
                      {"mean", or_null(one.mean)},
                      {"share", or_null(one.share)}});
  }
  json nodes = json::array();
  for (const auto& node : of.nodes) {
    nodes.push_back(
        {{"what", node.what}, {"of", node.of}, {"layer", node.layer}, {"row", rounded(node.row)}});
  }
  json edges = json::array();
  for (const auto& edge : of.edges) {
    json bends = json::array();
    for (const auto& [layer, row] : edge.bends) bends.push_back({layer, rounded(row)});
    edges.push_back({{"from", edge.from},
                     {"to", edge.to},
                     {"tensors", edge.tensors},
                     {"how", edge.how},
                     {"bends", std::move(bends)}});
  }
  return {{"kind", "pipeline"},        {"stages", std::move(stages)}, {"tensors", of.tensors},
          {"nodes", std::move(nodes)}, {"edges", std::move(edges)},   {"layers", of.layers},
          {"rows", rounded(of.rows)},  {"critical", of.critical}};
}

json data_of(const comparisons_chart& of) {
  json list = json::array();
  for (const auto& one : of.list) {
    list.push_back({{"metric", one.metric},
                    {"name", one.name},
                    {"reference", one.reference},
                    {"change", one.change},
                    {"low", or_null(one.low)},
                    {"high", or_null(one.high)},
                    {"good", one.verdict == verdict::faster},
                    {"bad", one.verdict == verdict::slower},
                    {"words", one.words}});
  }
  return {{"kind", "comparisons"}, {"margin", of.margin}, {"list", std::move(list)}};
}

json data_of(const sweep_chart& of) {
  json panels = json::array();
  for (const auto& panel : of.panels) {
    json lines = json::array();
    for (const auto& line : panel.lines) {
      json values = json::array();
      for (const auto& value : line.values) values.push_back(or_null(value));
      lines.push_back({{"name", line.name}, {"values", std::move(values)}});
    }
    panels.push_back({{"title", panel.title}, {"lines", std::move(lines)}});
  }
  return {{"kind", "sweep"},
          {"parameter", of.parameter},
          {"at", of.at},
          {"texts", of.texts},
          {"panels", std::move(panels)}};
}

json data_of(const trials_chart& of) {
  json trials = json::array();
  for (const auto& one : of.trials) {
    trials.push_back({one.of, one.block, one.begun, one.median});
  }
  return {{"kind", "trials"},
          {"names", of.names},
          {"trials", std::move(trials)},
          {"disturbed", of.disturbed}};
}

json data_of(const cumulative_chart& of) {
  json list = json::array();
  for (const auto& one : of.list) {
    json steps = json::array();
    for (const auto& [time, count] : one.steps) steps.push_back({time, count});
    list.push_back({{"name", one.name}, {"count", one.count}, {"steps", std::move(steps)}});
  }
  return {{"kind", "cumulative"}, {"list", std::move(list)}};
}

}  // namespace

json chart_data(const chart& of) {
  return std::visit([](const auto& drawn) { return data_of(drawn); }, of.drawn);
}

}  // namespace graphline::report
