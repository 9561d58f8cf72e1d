#include "framework/analysis/diff/source_diff.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string_view>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/node.hpp"
#include "framework/spec/yaml_reader.hpp"

namespace graphline {

namespace {

std::optional<double> number_in(const node& scalar) {
  if (scalar.quoted()) return std::nullopt;
  const auto& text = scalar.text();
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = read.ec == std::errc{} && read.ptr == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

bool same_scalar(const node& a, const node& b) {
  if (a.text() == b.text()) return true;
  const auto number = number_in(a);
  return number && number == number_in(b);
}

bool is_empty(const node& value) {
  return value.is_null() || (value.is_mapping() && value.members().empty()) ||
         (value.is_sequence() && value.items().empty());
}

/// A list of one name may be written as the name.
const node& without_list(const node& value) {
  const bool one = value.is_sequence() && value.items().size() == 1;
  return one && value.items().front().is_scalar() ? value.items().front() : value;
}

/// The names of a list's items, where each has one of its own: stages.
std::vector<std::string> names_in(const node& list) {
  std::vector<std::string> names;
  for (const auto& item : list.items()) {
    const auto* name = item.find("name");
    if (name == nullptr || !name->is_scalar()) return {};
    names.push_back(name->text());
  }
  const std::set<std::string_view> different(names.begin(), names.end());
  return different.size() == names.size() ? names : std::vector<std::string>();
}

/// What sort of thing an item of a list is: "conv2d" of a layer with and without parameters; empty
/// of what is no such thing.
std::string_view kind_of(const node& item) {
  if (item.is_scalar()) return item.text();
  return item.is_mapping() && item.members().size() == 1
             ? std::string_view(item.members().front().key.text)
             : std::string_view();
}

const node& parameters_of(const node& item) {
  static const node none = node::mapping({});
  return item.is_mapping() && item.members().size() == 1 ? item.members().front().value : none;
}

std::string list_of(const std::vector<std::string>& names) {
  return fmt::format("[{}]", fmt::join(names, ", "));
}

/// Items of two lists that stand for each other; nothing where one has no counterpart.
struct item_pair {
  std::optional<std::size_t> before;
  std::optional<std::size_t> after;
};

class tree_diff {
 public:
  void compare(const std::string& key, const node& before, const node& after) {
    const auto& a = without_list(before);
    const auto& b = without_list(after);
    if (is_empty(a) && is_empty(b)) return;
    if ((a.is_mapping() || a.is_null()) && (b.is_mapping() || b.is_null())) {
      compare_members(key.empty() ? key : key + ".", a, b);
    } else if (a.is_scalar() && b.is_scalar()) {
      if (!same_scalar(a, b)) add(key, &a, &b);
    } else if (before.is_sequence() && after.is_sequence()) {
      compare_lists(key, before, after);
    } else {
      add(key, &a, &b);
    }
  }

  /// The members of two mappings, of which the key may be left out.
  void compare_members(const std::string& prefix, const node& a, const node& b) {
    for (const auto& member : a.members()) {
      const auto* other = b.find(member.key.text);
      if (other != nullptr) {
        compare(prefix + member.key.text, member.value, *other);
      } else {
        add(prefix + member.key.text, &member.value, nullptr);
      }
    }
    for (const auto& member : b.members()) {
      if (a.find(member.key.text) == nullptr) {
        add(prefix + member.key.text, nullptr, &member.value);
      }
    }
  }

  std::vector<fact_change> take() && { return std::move(changes_); }

 private:
  void add(std::string key, const node* before, const node* after) {
    const auto text = [](const node* value) {
      return value == nullptr ? std::nullopt : std::optional(value->in_one_line());
    };
    changes_.push_back({std::move(key), {text(before), text(after)}});
  }

  static bool same(const node& a, const node& b) {
    tree_diff found;
    found.compare("", a, b);
    return found.changes_.empty();
  }

  /// Layers: the same kind, with parameters or without.
  static bool same_kind(const node& a, const node& b) {
    return !kind_of(a).empty() && kind_of(a) == kind_of(b);
  }

  static bool same_item(const node& a, const node& b) {
    return same_kind(a, b) ? same(parameters_of(a), parameters_of(b)) : same(a, b);
  }

  void compare_lists(const std::string& key, const node& a, const node& b) {
    const auto is_scalar = [](const node& item) { return item.is_scalar(); };
    const auto names_before = names_in(a);
    const auto names_after = names_in(b);
    if (!names_before.empty() && !names_after.empty()) {
      compare_named(key, a, names_before, b, names_after);
    } else if (std::ranges::all_of(a.items(), is_scalar) &&
               std::ranges::all_of(b.items(), is_scalar)) {
      if (!std::ranges::equal(a.items(), b.items(), same_scalar)) add(key, &a, &b);
    } else {
      for (const auto& pair : aligned(a.items(), b.items())) compare_items(key, a, b, pair);
    }
  }

  void compare_named(const std::string& key, const node& a, const std::vector<std::string>& before,
                     const node& b, const std::vector<std::string>& after) {
    std::vector<std::string> kept;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const auto name = key + "." + before[i];
      const auto found = std::ranges::find(after, before[i]);
      if (found == after.end()) {
        add(name, &a.items()[i], nullptr);
      } else {
        kept.push_back(before[i]);
        compare(name, a.items()[i], b.items()[static_cast<std::size_t>(found - after.begin())]);
      }
    }
    std::vector<std::string> kept_after;
    for (std::size_t i = 0; i < after.size(); ++i) {
      if (std::ranges::find(before, after[i]) != before.end()) {
        kept_after.push_back(after[i]);
      } else {
        add(key + "." + after[i], nullptr, &b.items()[i]);
      }
    }
    if (kept != kept_after) {
      changes_.push_back({key + " (order)", {list_of(kept), list_of(kept_after)}});
    }
  }

  void compare_items(const std::string& key, const node& a, const node& b, const item_pair& pair) {
    const auto* before = pair.before ? &a.items()[*pair.before] : nullptr;
    const auto* after = pair.after ? &b.items()[*pair.after] : nullptr;
    const auto name = fmt::format("{}[{}]", key, pair.before.value_or(pair.after.value_or(0)));
    if (before == nullptr || after == nullptr) {
      add(name, before, after);
    } else if (same_kind(*before, *after)) {
      compare(fmt::format("{}.{}", name, kind_of(*before)), parameters_of(*before),
              parameters_of(*after));
    } else {
      compare(name, *before, *after);
    }
  }

  /// With as few items as can be that are changed, added or removed; only items of a kind stand for
  /// each other.
  static std::vector<item_pair> aligned(const std::vector<node>& a, const std::vector<node>& b) {
    std::size_t first = 0;
    while (first < a.size() && first < b.size() && same_item(a[first], b[first])) ++first;
    std::size_t last = 0;
    while (first + last < a.size() && first + last < b.size() &&
           same_item(a[a.size() - 1 - last], b[b.size() - 1 - last])) {
      ++last;
    }
    const std::size_t rows = a.size() - first - last;
    const std::size_t columns = b.size() - first - last;
    std::vector<item_pair> pairs;
    constexpr std::size_t most_cells = 1'000'000;
    if (rows * columns > most_cells) {
      for (std::size_t i = 0; i < std::max(rows, columns); ++i) {
        pairs.push_back({i < rows ? std::optional(first + i) : std::nullopt,
                         i < columns ? std::optional(first + i) : std::nullopt});
      }
      return pairs;
    }
    // cost[i][j]: of the items from i and j on.
    std::vector<std::vector<std::size_t>> cost(rows + 1, std::vector<std::size_t>(columns + 1));
    std::vector<std::vector<std::size_t>> paired = cost;  // of item i with item j
    for (std::size_t i = rows + 1; i-- > 0;) {
      for (std::size_t j = columns + 1; j-- > 0;) {
        if (i == rows || j == columns) {
          cost[i][j] = rows - i + columns - j;
          continue;
        }
        const auto& one = a[first + i];
        const auto& other = b[first + j];
        paired[i][j] = same_item(one, other) ? 0 : same_kind(one, other) ? 1 : 2;
        cost[i][j] =
            std::min({cost[i + 1][j] + 1, cost[i][j + 1] + 1, cost[i + 1][j + 1] + paired[i][j]});
      }
    }
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < rows || j < columns) {
      if (i < rows && j < columns && paired[i][j] < 2 &&
          cost[i][j] == cost[i + 1][j + 1] + paired[i][j]) {
        pairs.push_back({first + i++, first + j++});
      } else if (i < rows && cost[i][j] == cost[i + 1][j] + 1) {
        pairs.push_back({first + i++, std::nullopt});
      } else {
        pairs.push_back({std::nullopt, first + j++});
      }
    }
    return pairs;
  }

  std::vector<fact_change> changes_;
};

/// What was written, without what the settings of a result say in its place.
node read(const source_record& source) {
  diagnostics problems;
  const auto all = read_yaml(std::make_shared<source_text>(source.file, source.text), problems);
  problems.throw_if_errors();
  if (!all.is_mapping()) return all;
  const bool pipeline = all.find("experiment") == nullptr;
  std::vector<node::member> kept;
  for (const auto& member : all.members()) {
    const auto& key = member.key.text;
    if (key.starts_with("x-") || (pipeline && (key == "run" || key == "params"))) continue;
    kept.push_back(member);
  }
  return node::mapping(std::move(kept));
}

std::string_view file_name(const std::string& path) {
  return std::string_view(path).substr(path.rfind('/') + 1);  // npos + 1 is 0: all of it
}

/// The counterpart of a file that is not the first.
const source_record* find(const std::vector<source_record>& in, const std::string& file) {
  for (std::size_t i = 1; i < in.size(); ++i) {
    if (file_name(in[i].file) == file_name(file)) return &in[i];
  }
  return nullptr;
}

void compare_files(const source_record& before, const source_record& after, bool first,
                   std::vector<fact_change>& to) {
  tree_diff found;
  found.compare("", read(before), read(after));
  for (auto& change : std::move(found).take()) {
    if (!first) change.name = fmt::format("{}: {}", file_name(before.file), change.name);
    to.push_back(std::move(change));
  }
}

}  // namespace

std::vector<fact_change> differences(const std::vector<source_record>& before,
                                     const std::vector<source_record>& after) {
  std::vector<fact_change> changes;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto* other = i > 0 ? find(after, before[i].file) : after.empty() ? nullptr : &after[0];
    if (other != nullptr) {
      compare_files(before[i], *other, i == 0, changes);
    } else {
      changes.push_back({std::string(file_name(before[i].file)), {before[i].file, std::nullopt}});
    }
  }
  for (std::size_t i = 1; i < after.size(); ++i) {
    if (find(before, after[i].file) != nullptr) continue;
    changes.push_back({std::string(file_name(after[i].file)), {std::nullopt, after[i].file}});
  }
  return changes;
}

}  // namespace graphline
