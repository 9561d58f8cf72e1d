#include "framework/report/json/sweep_json.hpp"

#include "framework/report/json/common_json.hpp"
#include "framework/report/json/json_text.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

}  // namespace

json sweep_json(const sweep& of, const experiment_record& record) {
  json points = json::array();
  for (const auto& point : of.points) {
    points.push_back({{"configuration", record.configurations[point.configuration].name},
                      {"value", point.value},
                      {"flops", or_null(point.flops)},
                      {"bytes", or_null(point.bytes)},
                      {"intensity", or_null(point.intensity)},
                      {"time", ms_or_null(point.time)},
                      {"flops_per_second", or_null(point.rate)},
                      {"least", ms_or_null(point.least)},
                      {"bound", point.by ? json(to_word(*point.by)) : json()},
                      {"ratio", or_null(point.ratio)}});
  }
  return {{"parameter", of.key},
          {"time_is", of.what ? json(key_of(*of.what)) : json("end_to_end")},
          {"unit", "ms"},
          {"points", std::move(points)}};
}

}  // namespace graphline
