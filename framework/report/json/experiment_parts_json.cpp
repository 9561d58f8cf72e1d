#include "framework/report/json/experiment_parts_json.hpp"

#include <fmt/format.h>

#include "framework/base/error.hpp"
#include "framework/report/json/record_json.hpp"

namespace graphline {

namespace {

void write_member(compact_json& to, std::string_view name, const configuration_member& member) {
  to.key(name).open('{').member("configuration", member.configuration);
  to.member("member", member.member).close('}');
}

configuration_member member_from(const json_part& from) {
  return {from.at("configuration").whole<std::size_t>(), from.at("member").whole<std::size_t>()};
}

/// A part of a whole: more than 0 and less than 1.
double part_from(const json_part& from) {
  const double part = from.number();
  if (!(part > 0 && part < 1)) from.fail("a number between 0 and 1");
  return part;
}

}  // namespace

void write_how(compact_json& to, const experiment_settings& how) {
  to.open('{').member("trials", how.trials).member("time_limit_ns", how.time_limit);
  to.member("narrow_to", how.narrow_to).member("margin", how.margin).member("tail", how.tail);
  to.member("seed", how.seed).member("fresh_processes", how.fresh_processes);
  to.member("repeat_affected", how.repeat_affected).close('}');
}

experiment_settings how_from(const json_part& from) {
  experiment_settings how;
  how.trials = from.at("trials").whole<std::int64_t>();
  if (const auto limit = from.find("time_limit_ns")) how.time_limit = limit->whole<nanoseconds>();
  if (const auto narrow_to = from.find("narrow_to")) how.narrow_to = narrow_to->number();
  how.margin = part_from(from.at("margin"));
  how.tail = part_from(from.at("tail"));
  how.seed = from.at("seed").whole<std::uint64_t>();
  how.fresh_processes = from.at("fresh_processes").boolean();
  how.repeat_affected = from.at("repeat_affected").boolean();
  return how;
}

void write_pairs(compact_json& to, const std::vector<compared_pair>& pairs) {
  to.open('[');
  for (const auto& pair : pairs) {
    to.open('{');
    write_member(to, "what", pair.what);
    write_member(to, "reference", pair.reference);
    to.close('}');
  }
  to.close(']');
}

std::vector<compared_pair> pairs_from(const json_part& from) {
  std::vector<compared_pair> pairs;
  for (const auto& pair : from.items()) {
    pairs.push_back({member_from(pair.at("what")), member_from(pair.at("reference"))});
  }
  return pairs;
}

experiment_configuration configuration_from(const json_part& from) {
  experiment_configuration result;
  result.name = from.at("name").text();
  if (const auto assigned = from.find("assigned")) {
    result.assignments = assigned->pairs();
  } else {  // results of earlier versions, in which "0.10" is 0.1
    const auto assignments = from.at("assignments");
    if (!assignments.json().is_object()) assignments.fail("an object");
    for (const auto& [key, value] : assignments.json().items()) {
      result.assignments.emplace_back(key,
                                      value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
  for (const auto& member : from.at("members").items()) {
    result.members.push_back(member.at("name").text());
  }
  if (result.members.empty()) from.at("members").fail("a list of one pipeline at least");
  return result;
}

trial_record trial_of(const std::vector<std::size_t>& members, const json_part& from) {
  auto trial = trial_from(from);
  if (trial.configuration >= members.size()) {
    from.at("configuration").fail("one of the configurations");
  }
  if (const auto wanted = members[trial.configuration]; trial.members.size() != wanted) {
    throw input_error(fmt::format("{}.members has {} entries, where the configuration has {}",
                                  from.where(), trial.members.size(), wanted));
  }
  return trial;
}

}  // namespace graphline
