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

/// Configurations of an experiment, at most.
constexpr std::size_t most_configurations = 10'000;

constexpr std::size_t none = static_cast<std::size_t>(-1);

/// A key that varies, with the values it takes; none where they could not be read.
struct axis {
  named key;
  std::vector<node> values;
  std::vector<std::string> words;  ///< the values as text
};

/// Some of a configuration: per axis the index of a value, or `none` for any of them.
using partial = std::vector<std::size_t>;

/// A value as it appears in names.
std::string word_of(const node& value) {
  return printable(value.in_one_line());
}

axis read_axis(const named& key, const node& values, diagnostics& out) {
  axis a{key, {}, {}};
  if (!check_name(key, "a setting or a parameter", out)) return a;
  if (!values.is_sequence()) {
    const std::string proposal = values.is_scalar() && is_name(values.text())
                                     ? fmt::format("such as [{}]", values.text())
                                     : "such as [1, 2]";
    report_mismatch(values, key.text, "a list of values under 'vary', " + proposal, out);
    return a;
  }
  if (values.items().empty()) {
    out.error(values.where(), fmt::format("{} has no values to take", quote(key.text)));
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

/// The axes, spelled out: configurations by their number, in which the last axis counts fastest.
class grid {
 public:
  grid(const node& vary, diagnostics& out) : out_(out) {
    if (!check_mapping(vary, "vary", out)) return;
    if (vary.members().empty()) {
      out.error(vary.where(), "'vary' needs at least one key, such as {timing: [none, event]}");
      return;
    }
    size_ = 1;
    for (const auto& [key, values] : vary.members()) {
      // Not looked at value by value, which for a list of any length would take long.
      if (values.is_sequence() && values.items().size() > most_configurations) {
        size_ = most_configurations + 1;
        axes_.push_back({key, {}, {}});
        continue;
      }
      axes_.push_back(read_axis(key, values, out));
      size_ = std::min(size_ * axes_.back().values.size(), most_configurations + 1);
    }
    if (size_ <= most_configurations) return;
    out.error(vary.where(),
              fmt::format("'vary' makes more than 10,000 configurations; vary less, or in "
                          "experiments of their own"));
    size_ = 0;
  }

  /// Configurations before any is excluded; 0 when they cannot be told.
  std::size_t size() const { return size_; }

  /// Reads some keys with a value each. Nothing after an error, or without keys to hold them to.
  std::optional<partial> read_partial(const node& n, const std::string& what) {
    if (axes_.empty()) return std::nullopt;
    if (!n.is_mapping()) {
      report_mismatch(n, what, fmt::format("a mapping such as {}", example()), out_);
      return std::nullopt;
    }
    if (n.members().empty()) {
      out_.error(n.where(), fmt::format("'{}' needs at least one key of 'vary'", what));
      return std::nullopt;
    }
    std::vector<std::string> keys;
    for (const axis& a : axes_) keys.push_back(a.key.text);
    partial p(axes_.size(), none);
    bool sound = true;
    for (const auto& [key, value] : n.members()) {
      const auto found = std::ranges::find(keys, key.text);
      if (found == keys.end()) {
        out_.error(key.place, fmt::format("{} stands under '{}' but not under 'vary'{}",
                                          quote(key.text), what, suggestion(key.text, keys)));
        sound = false;
        continue;
      }
      const auto index = static_cast<std::size_t>(found - keys.begin());
      p[index] = read_value(axes_[index], value);
      sound = sound && p[index] != none;
    }
    return sound ? std::optional(std::move(p)) : std::nullopt;
  }

  bool matches(std::size_t configuration, const partial& p) const {
    for (std::size_t a = axes_.size(); a-- > 0;) {
      const std::size_t count = axes_[a].values.size();
      if (p[a] != none && p[a] != configuration % count) return false;
      configuration /= count;
    }
    return true;
  }

  /// The configuration with the values of `p`, and its own where `p` leaves them open.
  std::size_t replaced(std::size_t configuration, const partial& p) const {
    std::size_t result = 0;
    std::size_t stride = 1;
    for (std::size_t a = axes_.size(); a-- > 0;) {
      const std::size_t count = axes_[a].values.size();
      result += stride * (p[a] != none ? p[a] : configuration % count);
      configuration /= count;
      stride *= count;
    }
    return result;
  }

  /// By default: the first value of every key.
  partial first() const { return partial(axes_.size(), 0); }

  configuration_spec spelled_out(std::size_t configuration) const {
    configuration_spec c;
    std::size_t stride = size_;
    for (const axis& a : axes_) {
      stride /= a.values.size();
      const std::size_t value = configuration / stride % a.values.size();
      c.assignments.push_back({a.key, a.values[value]});
      c.name.text +=
          fmt::format("{}{}={}", c.name.text.empty() ? "" : " ", a.key.text, a.words[value]);
    }
    c.name.place = c.assignments.back().value.where();
    return c;
  }

 private:
  std::string example() const {
    for (const axis& a : axes_) {
      if (!a.words.empty()) return fmt::format("{{{}: {}}}", a.key.text, a.words[0]);
    }
    return "{timing: none}";
  }

  /// The index of a value, or `none`; one that a wrong axis would have is let pass.
  std::size_t read_value(const axis& a, const node& value) {
    if (a.words.empty()) return none;
    const std::string word = word_of(value);
    const auto found = std::ranges::find(a.words, word);
    if (found != a.words.end()) return static_cast<std::size_t>(found - a.words.begin());
    out_.error(value.where(), fmt::format("'{}' does not take {} under 'vary'{}", a.key.text,
                                          value.is_scalar() ? quote(word) : value.describe(),
                                          suggestion(word, a.words)));
    return none;
  }

  diagnostics& out_;
  std::vector<axis> axes_;
  std::size_t size_ = 0;
};

/// For each configuration the member of `exclude:` that leaves it out, or null.
std::vector<const node*> read_exclusions(grid& all, const node* exclude, diagnostics& out) {
  std::vector<const node*> excluded(all.size(), nullptr);
  if (exclude == nullptr) return excluded;
  if (!exclude->is_sequence()) {
    report_mismatch(*exclude, "exclude",
                    "a list of mappings, such as [{timing: sync, in_flight: 2}]", out);
    return excluded;
  }
  for (const node& item : exclude->items()) {
    const auto p = all.read_partial(item, "exclude");
    if (!p || all.size() == 0) continue;
    for (std::size_t c = 0; c < excluded.size(); ++c) {
      if (all.matches(c, *p)) excluded[c] = &item;
    }
  }
  return excluded;
}

/// Refuses a member of `exclude:` that takes away what others are compared with.
void check_references(const grid& all, const partial& baseline,
                      const std::vector<const node*>& excluded, diagnostics& out) {
  std::vector<bool> told(excluded.size());
  for (std::size_t c = 0; c < excluded.size(); ++c) {
    const std::size_t reference = all.replaced(c, baseline);
    if (excluded[c] != nullptr || excluded[reference] == nullptr || told[reference]) continue;
    told[reference] = true;
    out.error(excluded[reference]->where(),
              fmt::format("this excludes {}, with which {} is compared; exclude it too, or choose "
                          "another 'baseline'",
                          quote(all.spelled_out(reference).name.text, 100),
                          quote(all.spelled_out(c).name.text, 100)));
  }
}

}  // namespace

std::vector<configuration_spec> read_grid(const node& vary, const node* baseline,
                                          const node* exclude, diagnostics& out) {
  grid all(vary, out);
  const auto compared_with =
      baseline == nullptr ? std::optional(all.first()) : all.read_partial(*baseline, "baseline");
  const std::vector<const node*> excluded = read_exclusions(all, exclude, out);

  std::vector<configuration_spec> list;
  std::vector<std::size_t> position(excluded.size(), none);
  for (std::size_t c = 0; c < excluded.size(); ++c) {
    if (excluded[c] != nullptr) continue;
    position[c] = list.size();
    list.push_back(all.spelled_out(c));
  }
  if (list.empty()) {
    if (all.size() > 0) out.error(exclude->where(), "'exclude' leaves no configuration");
    return list;
  }
  if (!compared_with) return list;
  check_references(all, *compared_with, excluded, out);
  for (std::size_t c = 0; c < excluded.size(); ++c) {
    if (position[c] == none) continue;
    const std::size_t reference = position[all.replaced(c, *compared_with)];
    list[position[c]].reference = reference == none ? 0 : reference;
  }
  return list;
}

namespace {

/// Empty where it is missing or wrong, which has been reported.
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
  check_distinct(list, "configuration", "", out);
  if (baseline == nullptr || list.empty()) return list;
  const std::size_t reference = read_baseline(*baseline, list, out);
  for (configuration_spec& c : list) c.reference = reference;
  return list;
}

}  // namespace graphline
