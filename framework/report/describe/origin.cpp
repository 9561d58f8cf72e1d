#include <fmt/format.h>

#include "framework/report/describe/describe.hpp"
#include "framework/report/json/common_json.hpp"
#include "framework/report/json/json_text.hpp"
#include "framework/report/render/heading.hpp"

namespace graphline::report {

namespace {

decltype(named_value::value) value_of(const nlohmann::ordered_json& of) {
  if (of.is_boolean()) return of.get<bool>();
  if (of.is_number()) return quantity{of.get<double>(), unit::none};
  return of.get<std::string>();
}

std::vector<fact> device_facts(const device_properties& device) {
  std::vector<named_value> details;
  for (const auto& [name, text] : device.details) details.push_back({name, text});
  return {{"backend", "backend", device.backend},
          {"name", "name", device.name},
          {"memory_bytes", "memory",
           device.memory_bytes > 0 ? cell(device.memory_bytes, unit::bytes) : cell()},
          {"compute_threads", "compute threads", device.compute_threads},
          {"priority_levels", "priority levels", device.priority_levels},
          {"details", "details", std::move(details)}};
}

}  // namespace

std::vector<fact> settings_facts(const settings& run, const name_texts& given) {
  std::vector<fact> list;
  const auto json = settings_json(run, given);
  for (const auto& [key, value] : json.items()) {
    list.push_back(key == "params" ? parameters_fact(given)
                                   : fact{key, key, named_value{key, value_of(value)}});
  }
  return list;
}

std::vector<fact> facts_of(const name_texts& pairs) {
  std::vector<fact> list;
  for (const auto& [name, text] : pairs) list.push_back({name, name, text});
  return list;
}

fact parameters_fact(const name_texts& given) {
  std::vector<named_value> values;
  for (const auto& [name, value] : given) values.push_back({name, value_of(typed(value))});
  return {"params", "params", std::move(values)};
}

std::vector<std::string> heading_of(const run_record& record, std::string_view timing) {
  const auto parameters = parameters_of(record.parameters);
  return {subject_of(record), way_of(record.run, record.cpu_cores),
          fmt::format("{}{}{} after {} warm-up; {}", parameters, parameters.empty() ? "" : "; ",
                      counted(record.run.frames, "frame"), record.run.warmup, timing)};
}

void add_failures(document& to, const run_record& record, const std::string& which) {
  const auto ended = [&](std::string_view key) {
    return finding{key, finding_severity::failure}
        .with("done", std::to_string(record.frames.size()))
        .with("frames", counted(record.run.frames, "frame"))
        .with("under", which);
  };
  if (record.failure) to.findings.push_back(ended("failed").with("failure", *record.failure));
  if (record.interrupted) to.findings.push_back(ended("interrupted"));
}

void add_machine(document& to, const device_properties& device, const name_texts& environment) {
  to.parts.push_back(facts{"device", "Device", device_facts(device), not_in_text, true});
  to.parts.push_back(facts{"environment", "Environment", facts_of(environment), not_in_text, true});
}

void add_origin(document& to, const run_record& record, const settings& run) {
  to.parts.push_back(
      facts{"settings", "Settings", settings_facts(run, record.parameters), not_in_text, true});
  add_machine(to, record.device, record.environment);
  if (!record.files.empty()) {
    to.parts.push_back(facts{"files", "Checksums", facts_of(record.files), not_in_text, true});
  }
  if (const auto& source = record.source) {
    to.parts.push_back(
        facts{"sources", "Files", {{source->file, source->file, source->text}}, in_page, true});
  }
}

}  // namespace graphline::report
