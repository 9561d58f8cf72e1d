#include "framework/spec/assignment_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "framework/base/utf8.hpp"
#include "framework/spec/node_reading.hpp"
#include "framework/spec/pipeline_spec.hpp"
#include "framework/spec/settings_reader.hpp"

namespace graphline {

std::vector<assignment> read_run_assignments(const node& section, diagnostics& out) {
  std::vector<assignment> list;
  if (section.is_null() || !check_mapping(section, "run", out)) return list;
  check_keys(section, "'run'", setting_keys(), out);
  for (const auto& [key, value] : section.members()) {
    if (!is_setting(key.text)) continue;
    check_value(key, value, out);
    list.push_back({key, value});
  }
  return list;
}

void check_value(const named& key, const node& value, diagnostics& out) {
  settings ignored;
  if (is_setting(key.text)) read_setting(ignored, key.text, value, out);
}

void check_keys_beside_run(const node& mapping, std::string_view what, std::string_view where,
                           const std::vector<std::string>& known, diagnostics& out) {
  std::vector<node::member> others;
  for (const node::member& m : mapping.members()) {
    const std::string& key = m.key.text;
    if (is_setting(key) && std::ranges::find(known, key) == known.end()) {
      out.error(m.key.place, fmt::format("'{}' is a setting of the run: {}", key, where));
    } else {
      others.push_back(m);
    }
  }
  check_keys(node::mapping(std::move(others)), what, known, out);
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
