#include <fmt/format.h>
#include <fmt/ranges.h>

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

/// The words that stand for a value in the names of configurations.
std::string word_of(const assignment& a) {
  return printable(a.value.in_one_line());
}

bool sets(const configuration_spec& c, const assignment& wanted) {
  return std::ranges::any_of(c.assignments, [&](const assignment& a) {
    return a.key.text == wanted.key.text && word_of(a) == word_of(wanted);
  });
}

/// The message for units that share what a diagnostic is attributed to, at the place of it.
class attributor {
 public:
  attributor(const experiment_spec& spec, const std::vector<const experiment_unit*>& all,
             telling_once& tell)
      : spec_(spec), all_(all), tell_(tell) {}

  void attribute(const finding& f) {
    if (!spec_.together.empty()) {
      for (const experiment_unit* unit : f.units) attribute_to_member(f, *unit);
    } else if (!spec_.varied) {
      for (const experiment_unit* unit : f.units) attribute_to_listed(f, *unit);
    } else if (f.units.size() == 1) {
      attribute_to_part(f, spec_.configurations[f.units[0]->index].assignments, 1);
    } else if (const std::vector<assignment> shared = shared_by(f.units); covers(shared, f.units)) {
      attribute_to_part(f, shared, f.units.size());
    } else {
      for (const experiment_unit* unit : f.units) {
        attribute_to_part(f, spec_.configurations[unit->index].assignments, 1);
      }
    }
  }

 private:
  /// What the configurations of these units have in common.
  std::vector<assignment> shared_by(const std::vector<const experiment_unit*>& units) const {
    std::vector<assignment> shared = spec_.configurations[units.front()->index].assignments;
    for (const experiment_unit* unit : units) {
      std::erase_if(
          shared, [&](const assignment& a) { return !sets(spec_.configurations[unit->index], a); });
    }
    return shared;
  }

  /// Whether they are all that have this in common, so that it explains what they found.
  bool covers(const std::vector<assignment>& shared,
              const std::vector<const experiment_unit*>& units) const {
    const auto count = std::ranges::count_if(all_, [&](const experiment_unit* unit) {
      return std::ranges::all_of(
          shared, [&](const assignment& a) { return sets(spec_.configurations[unit->index], a); });
    });
    return static_cast<std::size_t>(count) == units.size();
  }

  void attribute_to_part(const finding& f, const std::vector<assignment>& part, std::size_t count) {
    std::vector<std::string> names;
    std::vector<std::string> pairs;
    for (const assignment& a : part) {
      names.push_back(fmt::format("{}={}", a.key.text, word_of(a)));
      pairs.push_back(fmt::format("{}: {}", a.key.text, word_of(a)));
    }
    const std::string who = fmt::format("configuration{} {}", count == 1 ? "" : "s with",
                                        quote(fmt::to_string(fmt::join(names, " ")), 200));
    const std::string remedy =
        part.size() == 1 ? fmt::format("or take {} off the values of {}", quote(word_of(part[0])),
                                       quote(part[0].key.text))
                         : fmt::format("or leave {} out by exclude: [{{{}}}]",
                                       count == 1 ? "it" : "them", fmt::join(pairs, ", "));
    say(f, part.back().value.where(), who, remedy);
  }

  void attribute_to_listed(const finding& f, const experiment_unit& unit) {
    const named& name = spec_.configurations[unit.index].name;
    say(f, name.place, "configuration " + quote(name.text, 100), "or take it off the list");
  }

  void attribute_to_member(const finding& f, const experiment_unit& unit) {
    const named& name = spec_.together[unit.index].name;
    say(f, name.place, "member " + quote(name.text, 100), "");
  }

  void say(const finding& f, const place& where, const std::string& who,
           const std::string& remedy) {
    const diagnostic& d = *f.what;
    const bool elsewhere = d.place.line > 0 && !same_place(d.place, f.units.front()->shown_run);
    std::string message = fmt::format("{}: {}", who, d.message);
    if (elsewhere) message += fmt::format(" ({}:{})", d.place.source->name(), d.place.line);
    // A warning is nothing to leave a configuration out for.
    if (d.severity == severity::error && !remedy.empty()) message += "; " + remedy;
    tell_({d.severity, where, std::move(message)});
  }

  const experiment_spec& spec_;
  const std::vector<const experiment_unit*>& all_;
  telling_once& tell_;
};

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
  attributor attributed(spec, units, tell);
  for (const finding& f : gather(units)) {
    const bool own_value = f.what->place.source == spec.source &&
                           !same_place(f.what->place, f.units.front()->shown_run);
    if (f.units.size() == units.size() || own_value) {
      tell(*f.what);
    } else {
      attributed.attribute(f);
    }
  }
}

}  // namespace graphline::planning
