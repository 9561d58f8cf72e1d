#include "framework/spec/configuration_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "framework/base/utf8.hpp"
#include "framework/spec/key_table.hpp"
#include "framework/spec/node_reading.hpp"
#include "framework/spec/settings_reader.hpp"

namespace graphline {
namespace {

constexpr std::size_t most_configurations = 10'000;

constexpr std::size_t none = static_cast<std::size_t>(-1);

/// A varied key and its values. The values are empty after an error.
struct axis {
  named key;
  std::vector<node> values;
  std::vector<std::string> words;  ///< the values as text
};

/// For each axis, the index of a value, or `none` for any value.
using selection = std::vector<std::size_t>;

/// Returns the text of a value in configuration names.
std::string word_of(const node& value) {
  return printable(value.in_one_line());
}

axis read_axis(const named& key, const node& values, diagnostics& out) {
  axis a{key, {}, {}};
  if (!check_name(key, "a setting or a parameter", out)) return a;
  if (!values.is_sequence() || values.items().empty()) {
    report_mismatch(values, key.text, "a list of at least one value, such as [1, 2]", out);
    return a;
  }
  for (const node& value : values.items()) {
    const std::string word = word_of(value);
    if (value.is_null()) {
      out.error(value.where(), fmt::format("a value of {} is missing", quote(key.text)));
    } else if (std::ranges::find(a.words, word) != a.words.end()) {
      out.error(value.where(), fmt::format("{} is there twice among the values of {}", quote(word),
                                           quote(key.text)));
    } else {
      check_value(key, value, out);
      a.values.push_back(value);
      a.words.push_back(word);
    }
  }
  return a;
}

/// Reads the axes of `vary:`. Returns empty if there are too many configurations.
std::vector<axis> read_axes(const node& vary, diagnostics& out) {
  std::vector<axis> axes;
  if (!check_mapping(vary, "vary", out)) return axes;
  if (vary.members().empty()) {
    out.error(vary.where(), "'vary' needs at least one key, such as {timing: [none, event]}");
  }
  std::size_t count = 1;
  for (const auto& [key, values] : vary.members()) {
    const std::size_t more = std::max<std::size_t>(1, values.items().size());
    count = std::min(count * more, most_configurations + 1);
  }
  if (count > most_configurations) {
    out.error(vary.where(),
              "'vary' makes more than 10,000 configurations; vary less, or in "
              "experiments of their own");
    return axes;
  }
  for (const auto& [key, values] : vary.members()) axes.push_back(read_axis(key, values, out));
  return axes;
}

/// Reads a mapping from keys of `vary:` to one value each. Empty after an error.
std::optional<selection> read_selection(const std::vector<axis>& axes, const node& n,
                                        std::string_view what, diagnostics& out) {
  if (!n.is_mapping() || n.members().empty()) {
    report_mismatch(n, what, "a mapping of at least one key of 'vary', such as {timing: none}",
                    out);
    return std::nullopt;
  }
  std::vector<std::string> keys;
  for (const axis& a : axes) keys.push_back(a.key.text);
  selection chosen(axes.size(), none);
  bool sound = true;
  for (const auto& [key, value] : n.members()) {
    const auto found = std::ranges::find(keys, key.text);
    if (found == keys.end()) {
      out.error(key.place, fmt::format("{} stands under '{}' but not under 'vary'{}",
                                       quote(key.text), what, suggestion(key.text, keys)));
      sound = false;
      continue;
    }
    const auto index = static_cast<std::size_t>(found - keys.begin());
    const std::vector<std::string>& words = axes[index].words;
    const std::string word = word_of(value);
    if (words.empty()) return std::nullopt;  // reported already
    const auto at = std::ranges::find(words, word);
    chosen[index] = static_cast<std::size_t>(at - words.begin());
    if (at != words.end()) continue;
    sound = false;
    out.error(value.where(), fmt::format("'{}' does not take {} under 'vary'{}", key.text,
                                         quote(word), suggestion(word, words)));
  }
  return sound ? std::optional(std::move(chosen)) : std::nullopt;
}

/// Returns the value index on each axis for a configuration number. The last axis varies fastest.
selection numbered(std::size_t configuration, const std::vector<axis>& axes) {
  selection values(axes.size());
  for (std::size_t a = axes.size(); a-- > 0;) {
    values[a] = configuration % axes[a].values.size();
    configuration /= axes[a].values.size();
  }
  return values;
}

/// Returns the number of the configuration `chosen`, with `none` replaced by entries of `values`.
std::size_t number_of(const selection& values, const selection& chosen,
                      const std::vector<axis>& axes) {
  std::size_t configuration = 0;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    configuration =
        configuration * axes[a].values.size() + (chosen[a] == none ? values[a] : chosen[a]);
  }
  return configuration;
}

bool matches(const selection& values, const selection& chosen) {
  return std::ranges::equal(values, chosen, [](std::size_t value, std::size_t of_chosen) {
    return of_chosen == none || of_chosen == value;
  });
}

configuration_spec spelled_out(const selection& values, const std::vector<axis>& axes) {
  configuration_spec c;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    c.assignments.push_back({axes[a].key, axes[a].values[values[a]]});
    c.name.text +=
        fmt::format("{}{}={}", a == 0 ? "" : " ", axes[a].key.text, axes[a].words[values[a]]);
  }
  c.name.place = c.assignments.back().value.where();
  return c;
}

std::vector<selection> read_exclusions(const std::vector<axis>& axes, const node& exclude,
                                       diagnostics& out) {
  std::vector<selection> list;
  if (!exclude.is_sequence()) {
    report_mismatch(exclude, "exclude",
                    "a list of mappings, such as [{timing: sync, in_flight: 2}]", out);
  }
  for (const node& item : exclude.items()) {
    if (auto excluded = read_selection(axes, item, "exclude", out)) {
      list.push_back(std::move(*excluded));
    }
  }
  return list;
}

}  // namespace

std::vector<configuration_spec> read_grid(const node& vary, const node* baseline,
                                          const node* exclude, diagnostics& out) {
  std::vector<configuration_spec> list;
  const std::vector<axis> axes = read_axes(vary, out);
  if (axes.empty()) return list;
  auto compared_with = std::optional(selection(axes.size(), 0));
  if (baseline != nullptr) compared_with = read_selection(axes, *baseline, "baseline", out);
  std::vector<selection> excluded;
  if (exclude != nullptr) excluded = read_exclusions(axes, *exclude, out);

  std::size_t count = 1;
  for (const axis& a : axes) count *= a.values.size();
  std::vector<std::size_t> position(count, none);  // index in `list` by configuration number
  for (std::size_t c = 0; c < count; ++c) {
    const selection values = numbered(c, axes);
    if (std::ranges::any_of(excluded, [&](const auto& e) { return matches(values, e); })) continue;
    position[c] = list.size();
    list.push_back(spelled_out(values, axes));
  }
  if (list.empty() && count > 0) out.error(exclude->where(), "'exclude' leaves no configuration");
  if (!compared_with) return list;
  for (std::size_t c = 0; c < count; ++c) {
    if (position[c] == none) continue;
    const std::size_t reference = number_of(numbered(c, axes), *compared_with, axes);
    if (position[reference] == none) {
      out.error(
          exclude->where(),
          fmt::format("this excludes {}, with which {} is compared; exclude it too, or choose "
                      "another 'baseline'",
                      quote(spelled_out(numbered(reference, axes), axes).name.text, 100),
                      quote(list[position[c]].name.text, 100)));
      break;
    }
    list[position[c]].reference = position[reference];
  }
  return list;
}

namespace {

/// Reads the name of a configuration. Empty after an error.
named read_configuration_name(const node& item, diagnostics& out) {
  const node* value = item.find("name");
  if (value == nullptr) {
    out.error(item.where(), "a configuration needs a 'name'");
    return {"", item.where()};
  }
  return read_name(*value, "name", "a configuration", check_label, out);
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

/// Returns the index of the configuration that `value` names; 0 after an error.
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
  for (const node& item : section.items()) {
    if (item.is_mapping()) {
      list.push_back(read_configuration(item, out));
    } else {
      report_mismatch(item, "configurations", "a list of mappings with a 'name'", out);
    }
  }
  check_distinct(list, "configuration", out);
  if (baseline == nullptr || list.empty()) return list;
  const std::size_t reference = read_baseline(*baseline, list, out);
  for (configuration_spec& c : list) c.reference = reference;
  return list;
}

}  // namespace graphline
