#include "framework/report/store/result_parts.hpp"
#include "framework/report/store/saved_readers.hpp"

namespace graphline {

namespace {

std::optional<double> time_under(const json_part& stage, std::string_view key) {
  const auto time = stage.find(key);
  return time ? std::optional(static_cast<double>(time_of(*time))) : std::nullopt;
}

saved_floor stage_of(const json_part& from) {
  saved_floor stage;
  stage.name = from.at("name").text();
  stage.measured = time_under(from, "measured");
  stage.least = time_under(from, "least");
  if (const auto ratio = from.find("ratio")) stage.ratio = ratio->number();
  return stage;
}

}  // namespace

saved_roofline saved_roofline_of(const json_part& result) {
  saved_roofline roofline;
  roofline.origin = origin_of(result, "pipeline");
  const auto record = result.find("record");
  roofline.origin.sources = sources_of_run(record ? record->find("stages") : std::nullopt);
  if (const auto calibration = result.find("calibration")) {
    roofline.origin.settings.emplace_back("calibration", calibration->at("date").text());
  }
  if (const auto stages = result.find("stages")) {
    for (const auto& stage : stages->items()) roofline.stages.push_back(stage_of(stage));
  }
  roofline.interrupted = result.at("interrupted").boolean();
  if (const auto failure = result.find("failure")) roofline.failure = failure->text();
  return roofline;
}

}  // namespace graphline
