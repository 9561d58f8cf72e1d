#include "framework/analysis/diff/result_diff.hpp"

#include <algorithm>
#include <utility>

#include "framework/analysis/diff/source_diff.hpp"
#include "framework/base/error.hpp"

namespace graphline {

namespace {

/// The first of `entries` whose `name` is the one given, or null.
template <class T>
const T* find(const std::vector<T>& entries, const std::string T::*name,
              const std::string& wanted) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const T& entry) { return entry.*name == wanted; });
  return found == entries.end() ? nullptr : &*found;
}

}  // namespace

std::optional<double> figure_change::relative() const noexcept {
  if (!before || !after || !(*before > 0)) return std::nullopt;
  return *after / *before - 1;
}

std::vector<fact_change> differences(const saved_facts& before, const saved_facts& after) {
  using fact = saved_facts::value_type;
  std::vector<fact_change> result;
  for (const auto& [name, text] : before) {
    const auto* other = find(after, &fact::first, name);
    if (other == nullptr) {
      result.push_back({name, {text, {}}});
    } else if (other->second != text) {
      result.push_back({name, {text, other->second}});
    }
  }
  for (const auto& [name, text] : after) {
    if (find(before, &fact::first, name) == nullptr) result.push_back({name, {{}, text}});
  }
  return result;
}

origin_diff compare(const saved_origin& before, const saved_origin& after) {
  origin_diff result{.origins = {before, after},
                     .device = differences(before.device, after.device),
                     .settings = differences(before.settings, after.settings),
                     .environment = differences(before.environment, after.environment),
                     .source = {},
                     .source_unknown = {}};
  if (!result.has_source()) return result;
  for (const auto* origin : {&before, &after}) {
    if (!origin->sources->empty()) continue;
    result.source_unknown = origin->file + " does not hold the text that it was made from";
    return result;
  }
  try {
    result.source = differences(*before.sources, *after.sources);
  } catch (const input_error& problem) {
    const std::string message = problem.what();
    result.source_unknown = message.substr(0, message.find('\n'));
  }
  return result;
}

}  // namespace graphline
