#include "framework/plan/experiment_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "framework/base/utf8.hpp"
#include "framework/spec/settings_reader.hpp"

namespace graphline::planning {

bool experiment_keys::is_parameter(const named& key) const {
  const auto& known = file_.parameters;
  return known && std::ranges::find(*known, key.text) != known->end();
}

void experiment_keys::check_parameters(const std::vector<assignment>& params,
                                       diagnostics& out) const {
  if (!file_.parameters) return;
  for (const assignment& a : params) {
    if (is_parameter(a.key)) continue;
    const std::string remedy = is_setting(a.key.text) ? "; it is a setting: write it under 'run'"
                                                      : suggestion(a.key.text, *file_.parameters);
    out.error(a.key.place, fmt::format("the pipeline in {} has no parameter {}{}",
                                       quote(file_.path, 200), quote(a.key.text), remedy));
  }
}

void experiment_keys::check(const std::vector<assignment>& assignments, diagnostics& out) const {
  if (!file_.parameters) return;
  std::vector<std::string> known = setting_keys();
  known.insert(known.end(), file_.parameters->begin(), file_.parameters->end());
  for (const assignment& a : assignments) {
    if (is_setting(a.key.text) && is_parameter(a.key)) {
      out.error(a.key.place,
                fmt::format("{} is a setting, and also a parameter of the pipeline in {}; rename "
                            "the parameter, so that it is clear what varies",
                            quote(a.key.text), quote(file_.path, 200)));
    } else if (!is_setting(a.key.text) && !is_parameter(a.key)) {
      out.error(a.key.place,
                fmt::format("{} is neither a setting nor a parameter of the pipeline in {}{}",
                            quote(a.key.text), quote(file_.path, 200),
                            suggestion(a.key.text, known, known.size())));
    }
  }
}

void experiment_keys::distribute(const std::vector<assignment>& assignments,
                                 experiment_unit& unit) const {
  for (const assignment& a : assignments) {
    if (is_setting(a.key.text) == is_parameter(a.key)) continue;
    (is_setting(a.key.text) ? unit.settings : unit.parameters).push_back(&a);
  }
}

void experiment_keys::add_parameters(const std::vector<assignment>& params,
                                     experiment_unit& unit) const {
  for (const assignment& a : params) {
    if (is_parameter(a.key)) unit.parameters.push_back(&a);
  }
}

}  // namespace graphline::planning
