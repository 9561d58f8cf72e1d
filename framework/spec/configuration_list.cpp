#include "framework/spec/configuration_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

#include "framework/base/utf8.hpp"
#include "framework/spec/assignment_reader.hpp"
#include "framework/spec/configuration_grid.hpp"
#include "framework/spec/key_table.hpp"
#include "framework/spec/names.hpp"
#include "framework/spec/node_reading.hpp"
#include "framework/spec/parameter_reference.hpp"

namespace graphline {
namespace {

/// Empty where it is missing or wrong, which has been reported.
named read_configuration_name(const node& item, diagnostics& out) {
  const node* value = item.find("name");
  if (value == nullptr) {
    out.error(item.where(), "a configuration needs a 'name'");
    return {"", item.where()};
  }
  const auto text = read_text(*value, "name", out);
  if (!text) return {"", value->where()};
  named name{*text, value->where()};
  if (!check_label(name, "a configuration", out)) name.text.clear();
  return name;
}

configuration_spec read_configuration(const node& item, diagnostics& out) {
  configuration_spec configuration;
  configuration.name = read_configuration_name(item, out);
  for (const auto& [key, value] : item.members()) {
    if (find_parameter(configuration_keys(), key.text) != nullptr) continue;
    if (value.is_null()) {
      out.error(value.where(), fmt::format("the value of {} is missing", quote(key.text)));
      continue;
    }
    check_value(key, value, out);
    configuration.assignments.push_back({key, value});
  }
  return configuration;
}

void check_duplicates(const std::vector<configuration_spec>& list, diagnostics& out) {
  std::unordered_map<std::string_view, const place*> first;
  for (const configuration_spec& c : list) {
    if (c.name.text.empty()) continue;
    const auto [earlier, is_new] = first.emplace(c.name.text, &c.name.place);
    if (is_new) continue;
    out.error(c.name.place, fmt::format("a configuration named {} is there already, on line {}",
                                        quote(c.name.text), earlier->second->line));
  }
}

/// The index of the configuration that is named; the first where that is wrong.
std::size_t read_baseline(const node& value, const std::vector<configuration_spec>& list,
                          diagnostics& out) {
  if (!value.is_scalar() || is_unresolved(value)) {
    report_mismatch(value, "baseline", "the name of one of the 'configurations'", out);
    return 0;
  }
  std::vector<std::string> names;
  for (const configuration_spec& c : list) names.push_back(c.name.text);
  const auto found = std::ranges::find(names, value.text());
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  out.error(value.where(), fmt::format("there is no configuration named {}{}", quote(value.text()),
                                       suggestion(value.text(), names)));
  return 0;
}

}  // namespace

const std::vector<parameter>& configuration_keys() {
  static const std::vector<parameter> keys = {
      required(structure_key("name", "label", "Name of the configuration, in every table."))};
  return keys;
}

std::vector<configuration_spec> read_configurations(const node& section, const node* baseline,
                                                    diagnostics& out) {
  std::vector<configuration_spec> list;
  if (!section.is_sequence()) {
    report_mismatch(section, "configurations",
                    "a list such as [{name: one by one, strategy: serial}]", out);
    return list;
  }
  if (section.items().empty()) {
    out.error(section.where(), "'configurations' needs at least one configuration");
  }
  if (section.items().size() > most_configurations) {
    out.error(section.where(),
              fmt::format("'configurations' holds {}, more than 10,000", section.items().size()));
    return list;
  }
  for (const node& item : section.items()) {
    if (item.is_mapping()) {
      list.push_back(read_configuration(item, out));
    } else {
      report_mismatch(item, "configurations", "a list of mappings with a 'name'", out);
    }
  }
  check_duplicates(list, out);
  if (baseline == nullptr || list.empty()) return list;
  const std::size_t reference = read_baseline(*baseline, list, out);
  for (configuration_spec& c : list) c.reference = reference;
  return list;
}

}  // namespace graphline
