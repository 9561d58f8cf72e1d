#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "framework/base/utf8.hpp"
#include "framework/plan/experiment_unit.hpp"

namespace graphline::planning {
namespace {

using told_key = std::tuple<std::string, std::size_t, std::size_t, std::string>;

told_key key_of(const diagnostic& d) {
  const std::string name = d.place.source ? d.place.source->name() : std::string();
  return {name, d.place.line, d.place.column, d.message};
}

bool same_place(const place& a, const place& b) {
  return a.source == b.source && a.line == b.line && a.column == b.column;
}

/// Something that was found, and the units that found it.
struct finding {
  const diagnostic* what = nullptr;
  std::vector<const experiment_unit*> units;
};

std::vector<finding> gather(const std::vector<const experiment_unit*>& units) {
  std::vector<finding> list;
  std::map<told_key, std::size_t> position;
  for (const experiment_unit* unit : units) {
    for (const diagnostic& d : unit->found.all()) {
      const auto [at, is_new] = position.emplace(key_of(d), list.size());
      if (is_new) list.push_back({&d, {}});
      std::vector<const experiment_unit*>& found_by = list[at->second].units;
      if (found_by.empty() || found_by.back() != unit) found_by.push_back(unit);
    }
  }
  return list;
}

/// Shows what some units found where the experiment declares the first of them, with its name and
/// how many more there are.
diagnostic attributed(const experiment_spec& spec, const finding& f) {
  const bool members = !spec.together.empty();
  const std::size_t first = f.units.front()->index;
  const named& name = members ? spec.together[first].name : spec.configurations[first].name;
  const diagnostic& d = *f.what;
  std::string message =
      fmt::format("{} {}", members ? "member" : "configuration", quote(name.text, 200));
  if (f.units.size() > 1) message += fmt::format(" and {} more", f.units.size() - 1);
  message += ": " + d.message;
  if (d.place.line > 0 && !same_place(d.place, f.units.front()->shown_run)) {
    message += fmt::format(" ({}:{})", d.place.source->name(), d.place.line);
  }
  // A warning is nothing to leave a configuration out for.
  if (d.severity == severity::error && !members) {
    message += spec.varied ? "; or leave such configurations out with 'exclude'"
                           : "; or take it off the list";
  }
  return {d.severity, name.place, std::move(message)};
}

}  // namespace

telling_once::telling_once(diagnostics& out) : out_(out) {
  for (const diagnostic& d : out.all()) told_.insert(key_of(d));
}

void telling_once::operator()(const diagnostic& d) {
  if (told_.insert(key_of(d)).second) out_.add(d);
}

void telling_once::operator()(const diagnostics& list) {
  for (const diagnostic& d : list.all()) (*this)(d);
}

void attribute_diagnostics(const experiment_spec& spec,
                           const std::vector<const experiment_unit*>& units, telling_once& tell) {
  for (const finding& f : gather(units)) {
    const bool own_value = f.what->place.source == spec.source &&
                           !same_place(f.what->place, f.units.front()->shown_run);
    tell(f.units.size() == units.size() || own_value ? *f.what : attributed(spec, f));
  }
}

}  // namespace graphline::planning
