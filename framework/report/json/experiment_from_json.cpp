#include "framework/report/json/experiment_json.hpp"
#include "framework/report/json/experiment_parts_json.hpp"
#include "framework/report/json/record_json.hpp"

namespace graphline {

namespace {

/// Reports look up what pairs name.
void check_pair(const json_part& from, const configuration_member& which,
                const std::vector<std::size_t>& members) {
  if (which.configuration >= members.size() || which.member >= members[which.configuration]) {
    from.fail("pairs of pipelines that the experiment has");
  }
}

}  // namespace

experiment_record experiment_from(const json_part& from) {
  experiment_record record;
  record.name = from.at("name").text();
  record.description = from.at("description").text();
  record.how = how_from(from.at("settings"));
  record.files = from.at("files").pairs();
  if (const auto sources = from.find("sources")) {  // not in results of earlier versions
    for (const auto& source : sources->items()) {
      record.sources.push_back({source.at("file").text(), source.at("text").text()});
    }
  }
  std::vector<std::size_t> members;
  for (const auto& configuration : from.at("configurations").items()) {
    record.configurations.push_back(configuration_from(configuration));
    members.push_back(record.configurations.back().members.size());
  }
  record.pairs = pairs_from(from.at("pairs"));
  for (const auto& pair : record.pairs) {
    check_pair(from.at("pairs"), pair.what, members);
    check_pair(from.at("pairs"), pair.reference, members);
  }
  if (const auto kept = from.find("calibration")) record.calibration = calibration_from(*kept);
  for (const auto& trial : from.at("trials").items()) {
    record.trials.push_back(trial_of(members, trial));
  }
  record.stopped = from.at("stopped").text();
  record.interrupted = from.at("interrupted").boolean();
  if (const auto failure = from.find("failure")) record.failure = failure->text();
  return record;
}

}  // namespace graphline
