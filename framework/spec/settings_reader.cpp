#include "framework/spec/settings_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>

#include "framework/base/text_file.hpp"
#include "framework/base/utf8.hpp"
#include "framework/spec/key_table.hpp"
#include "framework/spec/node_reading.hpp"
#include "framework/spec/settings_table.hpp"

namespace graphline {
namespace {

const std::vector<setting<settings>>& all_settings() {
  static const auto table = [] {
    std::vector<setting<settings>> list;
    each_setting([&]<class Held>(Held settings::*member, const setting_entry& of) {
      // For an optional member, `setting_of` needs the key's type.
      constexpr bool rate = std::is_same_v<Held, std::optional<double>>;
      constexpr bool file = std::is_same_v<Held, std::optional<std::string>>;
      list.push_back(setting_of(member, {.name = of.key,
                                         .type = rate   ? parameter_type::number
                                                 : file ? parameter_type::path
                                                        : parameter_type::duration,
                                         .help = of.help,
                                         .unit = rate ? "frames a second" : "",
                                         .minimum = of.minimum,
                                         .maximum = of.maximum}));
    });
    return list;
  }();
  return table;
}

/// Returns the folder of the file that gives a value.
std::string folder_of(const place& at) {
  return at.source ? graphline::folder_of(at.source->name()) : ".";
}

}  // namespace

const std::vector<parameter>& run_keys() {
  static const std::vector<parameter> keys = keys_of(all_settings());
  return keys;
}

const std::vector<std::string>& setting_keys() {
  static const std::vector<std::string> keys = names_of(run_keys());
  return keys;
}

bool is_setting(const std::string& key) {
  return find_parameter(run_keys(), key) != nullptr;
}

void read_setting(settings& run, const std::string& key, const node& value, diagnostics& out) {
  const auto found = std::ranges::find(
      all_settings(), key, [](const auto& s) -> const auto& { return s.key.name; });
  if (found == all_settings().end()) {
    out.error(value.where(), fmt::format("unknown setting {}{}", quote(key),
                                         suggestion(key, setting_keys(), setting_keys().size())));
  } else if (const auto read = read_value(found->key, value, folder_of(value.where()), out)) {
    found->store(run, *read);
  }
}

void read_setting(settings& run, settings_places& places, const std::string& key, const node& value,
                  diagnostics& out) {
  const std::size_t before = out.all().size();
  read_setting(run, key, value, out);
  if (out.all().size() == before) {
    places.each[key] = value.where();
  } else {
    places.unread.insert(key);
  }
}

namespace {

/// Returns the settings of a `run:` section and reports other keys.
std::vector<assignment> assignments_in(const node& section, diagnostics& out) {
  std::vector<assignment> list;
  if (section.is_null() || !check_mapping(section, "run", out)) return list;
  check_keys(section, "'run'", setting_keys(), out);
  for (const auto& [key, value] : section.members()) {
    if (is_setting(key.text)) list.push_back({key, value});
  }
  return list;
}

}  // namespace

void read_settings(settings& run, settings_places& places, const node& section, diagnostics& out) {
  places.section = section.where();
  for (const auto& [key, value] : assignments_in(section, out)) {
    read_setting(run, places, key.text, value, out);
  }
}

std::vector<assignment> read_run_assignments(const node& section, diagnostics& out) {
  std::vector<assignment> list = assignments_in(section, out);
  for (const auto& [key, value] : list) check_value(key, value, out);
  return list;
}

void check_value(const named& key, const node& value, diagnostics& out) {
  settings ignored;
  if (is_setting(key.text)) read_setting(ignored, key.text, value, out);
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

}  // namespace graphline
