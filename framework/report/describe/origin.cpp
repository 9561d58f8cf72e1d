#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "framework/base/utf8.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/json/json_text.hpp"
#include "framework/report/json/record_json.hpp"
#include "framework/report/render/heading.hpp"
#include "framework/spec/settings_table.hpp"

namespace graphline::report {

namespace {

decltype(named_value::value) value_of(const nlohmann::ordered_json& of) {
  if (of.is_boolean()) return of.get<bool>();
  const bool exact = !of.is_number_integer() || std::abs(of.get<double>()) < 0x1p53;
  if (of.is_number() && exact) return quantity{of.get<double>(), unit::none};
  if (of.is_number()) return of.dump();  // a seed may be too large for a double
  return of.get<std::string>();
}

/// Returns a fact. The suffix of its key may name a unit: "_ns" or "_bytes".
fact fact_of(const std::string& key, const nlohmann::ordered_json& value) {
  for (const auto& [ending, in] : {std::pair{"_ns", unit::duration}, {"_bytes", unit::bytes}}) {
    if (!key.ends_with(ending)) continue;
    return {key, key.substr(0, key.rfind('_')),
            value.is_null() ? cell() : cell(value.get<double>(), in)};
  }
  if (value.is_null()) return {key, key, {}};
  if (!value.is_array()) return {key, key, named_value{key, value_of(value)}};
  std::vector<named_value> texts;
  for (const auto& pair : value) texts.push_back({pair[0], pair[1].get<std::string>()});
  return {key, key, std::move(texts)};
}

/// Returns the members of a part of a record as facts. `fields` gives their names.
template <class Part>
std::vector<fact> facts_of_part(const Part& part) {
  std::vector<fact> list;
  const auto json = part_json(part);
  for (const auto& [key, value] : json.items()) list.push_back(fact_of(key, value));
  return list;
}

}  // namespace

std::vector<fact> settings_facts(const settings& run) {
  auto list = facts_of_part(run);
  std::erase_if(list, [](const fact& one) { return !one.value.known(); });
  each_setting([&](auto member, const setting_entry& of) {
    if (applies(member, of, run)) return;
    std::erase_if(list, [&of](const fact& one) { return one.title == of.key; });
  });
  return list;
}

std::vector<fact> settings_facts(const experiment_settings& how) {
  return facts_of_part(how);
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
  std::vector<std::string> lines = {
      subject_of(record), way_of(record.run, record.cpu_cores),
      fmt::format("{}{}{} after {} warm-up; {}", parameters, parameters.empty() ? "" : "; ",
                  counted(record.run.frames, "frame"), record.run.warmup, timing)};
  if (const auto& prediction = record.prediction) {
    lines.push_back(predicted_from(*prediction));
    if (const auto& change = prediction->device_change) {
      lines.push_back(fmt::format("on {} from {}, by {} of both", record.device.name,
                                  change->source_device,
                                  change->public_figures ? "public figures" : "calibrations"));
    }
  }
  if (record.policy && !record.policy->expected_from.empty()) {
    lines.push_back(printable(
        fmt::format("expected times from {}", fmt::join(record.policy->expected_from, ", "))));
  }
  return lines;
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
  to.parts.push_back(facts{"device", "Device", facts_of_part(device), not_in_text, true});
  to.parts.push_back(facts{"environment", "Environment", facts_of(environment), not_in_text, true});
}

void add_origin(document& to, const run_record& record, const settings& run) {
  auto settings = settings_facts(run);
  settings.push_back(parameters_fact(record.parameters));
  to.parts.push_back(facts{"settings", "Settings", std::move(settings), not_in_text, true});
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
