#include "framework/report/store/result_parts.hpp"

#include <cmath>
#include <utility>

#include "framework/analysis/run/disturbance.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

std::string text_of(const json& value) {
  return value.is_string() ? value.get<std::string>()
                           : value.dump(-1, ' ', false, json::error_handler_t::replace);
}

void add_facts(saved_facts& to, const json& object, const std::string& before) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object()) {
      add_facts(to, value, before + key + ".");
    } else if (!value.is_null()) {
      to.emplace_back(before + key, text_of(value));
    }
  }
}

/// What the warning says that the machine was disturbed by, if there is one.
std::string disturbance_in(const json_part& result) {
  const auto warnings = result.find("warnings");
  if (!warnings) return "";
  for (const auto& warning : warnings->items()) {
    const auto& text = warning.text();
    constexpr std::string_view beginning = "disturbed (machine noise): ";
    if (text.starts_with(beginning)) return text.substr(beginning.size());
  }
  return "";
}

/// The facts under a key, if there is one.
saved_facts facts_under(const json_part& result, const std::string& key) {
  const auto part = result.find(key);
  return part ? facts_of(*part) : saved_facts();
}

}  // namespace

saved_facts facts_of(const json_part& object) {
  if (!object.json().is_object()) object.fail("an object");
  saved_facts result;
  add_facts(result, object.json(), "");
  return result;
}

saved_origin origin_of(const json_part& result, std::string_view subject_key) {
  saved_origin origin;
  if (!subject_key.empty()) {
    if (const auto subject = result.find(subject_key)) origin.subject = subject->text();
  }
  origin.device = facts_under(result, "device");
  origin.settings = facts_under(result, "settings");
  origin.environment = facts_under(result, "environment");
  origin.disturbed = disturbance_in(result);
  for (auto fact = origin.environment.begin(); fact != origin.environment.end(); ++fact) {
    if (fact->first != "date") continue;
    origin.date = std::move(fact->second);
    origin.environment.erase(fact);
    break;
  }
  return origin;
}

source_record source_of(const json_part& from) {
  return {from.at("file").text(), from.at("text").text()};
}

std::vector<source_record> sources_of_run(const std::optional<json_part>& record) {
  const auto source = record ? record->find("source") : std::nullopt;
  return source ? std::vector{source_of(*source)} : std::vector<source_record>();
}

nanoseconds time_of(const json_part& milliseconds) {
  constexpr double longest = 9e12;  // whose nanoseconds are a whole number of 64 bits
  const double value = milliseconds.number();
  if (!(value >= 0 && value <= longest)) milliseconds.fail("a duration in milliseconds");
  return std::llround(value * 1e6);
}

std::optional<distribution> times_of(const json_part& from) {
  const auto samples = from.at("samples");
  if (!samples.json().is_array()) samples.fail("a list");
  std::vector<nanoseconds> times;
  times.reserve(samples.json().size());
  // The way to a sample is the same for all: there may be a million of them.
  for (const auto& sample : samples.json()) {
    times.push_back(time_of(json_part(sample, samples.where() + "[]")));
  }
  auto result = distribution::of(std::move(times));
  if (const auto why = from.find("why_absent"); why && result) {
    result = std::move(*result).unsettled(why->text());
  }
  return result;
}

}  // namespace graphline
