#include "framework/spec/assignment_reader.hpp"

#include <algorithm>

#include "framework/base/utf8.hpp"
#include "framework/spec/node_reading.hpp"
#include "framework/spec/pipeline_spec.hpp"
#include "framework/spec/settings_reader.hpp"

namespace graphline {

std::vector<assignment> read_run_assignments(const node& section, diagnostics& out) {
  std::vector<assignment> list;
  if (section.is_null() || !check_mapping(section, "run", out)) return list;
  check_keys(section, "'run'", setting_keys(), out);
  settings ignored;
  for (const auto& [key, value] : section.members()) {
    if (std::ranges::find(setting_keys(), key.text) == setting_keys().end()) continue;
    read_setting(ignored, key.text, value, out);
    list.push_back({key, value});
  }
  return list;
}

std::vector<assignment> read_parameter_assignments(const node& section, diagnostics& out) {
  std::vector<assignment> list;
  if (section.is_null() || !check_mapping(section, "params", out)) return list;
  for (const auto& [key, value] : section.members()) {
    if (value.is_null()) {
      out.error(value.where(), "the value of parameter " + quote(key.text) + " is missing");
      continue;
    }
    list.push_back({key, value});
  }
  return list;
}

const assignment* find_assignment(const std::vector<assignment>& list, std::string_view key) {
  const auto found =
      std::ranges::find_if(list, [&](const assignment& entry) { return entry.key.text == key; });
  return found == list.end() ? nullptr : &*found;
}

}  // namespace graphline
