#include "framework/report/render/chart_data.hpp"

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

}  // namespace

json chart_data(const chart& of) {
  return std::visit([](const auto& drawn) { return data_of(drawn); }, of.drawn);
}

}  // namespace graphline::report
