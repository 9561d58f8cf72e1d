#include "framework/report/saved/trial_exchange.hpp"

#include <nlohmann/json.hpp>

#include "framework/base/error.hpp"
#include "framework/report/json/record_json.hpp"

namespace graphline {

using json = nlohmann::ordered_json;

std::string text_of(const trial_exchange& trial) {
  json members = json::array();
  for (const auto& record : trial.members) members.push_back(record_json(record));
  const json line = {{"files", trial.files}, {"members", std::move(members)}};
  return line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

trial_exchange trial_exchange_from(std::string_view text) {
  try {
    const json line = json::parse(text);
    trial_exchange trial;
    trial.files = line.at("files").get<decltype(trial.files)>();
    for (const auto& member : line.at("members")) trial.members.push_back(run_from_json(member));
    return trial;
  } catch (const json::exception& e) {
    throw run_error(std::string("a trial's process did not hand back a trial: ") + e.what());
  }
}

}  // namespace graphline
