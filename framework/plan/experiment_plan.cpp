#include "framework/plan/experiment_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>

#include "framework/base/utf8.hpp"
#include "framework/plan/experiment_files.hpp"
#include "framework/plan/planned_chains.hpp"
#include "framework/spec/pipeline_reader.hpp"
#include "framework/spec/settings_reader.hpp"
#include "framework/spec/settings_table.hpp"
#include "framework/stage/plugin_loader.hpp"

namespace graphline {
namespace {

/// A pipeline with the assignments of a configuration or member, and the resulting plan.
struct experiment_unit {
  const pipeline_file* file = nullptr;
  std::size_t index = 0;                      ///< index of the configuration or member
  std::vector<const assignment*> settings;    ///< a later one wins
  std::vector<const assignment*> parameters;  ///< a later one wins
  std::vector<assignment> own;                ///< a configuration's, to this member
  std::optional<int> priority;                ///< level of all stages of the plan
  bool without_priorities = false;

  plan planned;
  diagnostics found;
};

/// Returns the last value of each key. Replaced values are not checked.
std::vector<node::member> last_of_each(const std::vector<const assignment*>& list) {
  std::vector<node::member> values;
  for (const assignment* a : list) {
    std::erase_if(values, [&](const node::member& m) { return m.key.text == a->key.text; });
    values.push_back({a->key, a->value});
  }
  return values;
}

/// Reads and plans units for one machine. Adds plug-ins to `registry`. Units share the stages that
/// their settings and parameters do not change.
class unit_planner {
 public:
  unit_planner(stage_registry& registry, const plan_target& target)
      : registry_(registry), target_(target) {}

  void plan(experiment_unit& unit) {
    pipeline_spec spec = read(unit);
    for (const auto& [key, value] : last_of_each(unit.settings)) {
      read_setting(spec.run, spec.run_places, key.text, value, unit.found);
    }
    if (unit.without_priorities) spec.run.priorities = false;
    if (unit.priority) {
      for (stage_spec& stage : spec.stages) stage.priority = *unit.priority;
    }
    // Otherwise the planner would report the plug-in's kinds as unknown.
    if (!load_plugins(spec, registry_, unit.found, target_.plugins)) return;
    unit.planned = make_plan(spec, registry_, target_, prepared_, unit.found);
  }

  const plan_target& target() const noexcept { return target_; }

 private:
  /// Reads a pipeline once for all units with the same parameters from the same places.
  pipeline_spec read(experiment_unit& unit) {
    reading_options reading;
    reading.backend = target_.backend;
    reading.values = last_of_each(unit.parameters);
    std::string given;
    for (const auto& [key, value] : reading.values) {
      const place& at = value.where();
      given += fmt::format("{}: {} {}:{}:{}\n", key.text, value.in_one_line(),
                           fmt::ptr(at.source.get()), at.line, at.column);
    }
    const auto [known, is_new] = read_.try_emplace({unit.file, std::move(given)});
    auto& [spec, found] = known->second;
    if (is_new) {
      const auto [read, unread] = documents_.try_emplace(unit.file);
      auto& [document, problems] = read->second;
      if (unread) document = read_pipeline_document(unit.file->source, problems);
      found = problems;
      spec = read_pipeline(unit.file->source, document, reading, found);
    }
    for (const diagnostic& each : found.all()) unit.found.add(each);
    return spec;
  }

  stage_registry& registry_;
  const plan_target& target_;
  prepared_stages prepared_;
  std::map<std::pair<const pipeline_file*, std::string>, std::pair<pipeline_spec, diagnostics>>
      read_;
  std::map<const pipeline_file*, std::pair<node, diagnostics>> documents_;
};

/// Adds the values of a `params:` section. Reports names that the pipeline does not declare.
void add_parameters(const std::vector<assignment>& params, experiment_unit& unit,
                    diagnostics& out) {
  for (const assignment& a : params) {
    if (unit.file->has_parameter(a.key.text)) {
      unit.parameters.push_back(&a);
    } else {
      out.error(a.key.place,
                fmt::format("the pipeline in {} has no parameter {}{}", quote(unit.file->path, 200),
                            quote(a.key.text), suggestion(a.key.text, unit.file->parameters)));
    }
  }
}

/// Adds a configuration's assignments. Reports keys that are neither a setting nor a parameter, and
/// keys that are both.
void add_assignments(const std::vector<assignment>& assignments, experiment_unit& unit,
                     diagnostics& out) {
  std::vector<std::string> known = setting_keys();
  known.insert(known.end(), unit.file->parameters.begin(), unit.file->parameters.end());
  for (const assignment& a : assignments) {
    const bool setting = is_setting(a.key.text);
    if (setting != unit.file->has_parameter(a.key.text)) {
      (setting ? unit.settings : unit.parameters).push_back(&a);
    } else if (setting) {
      out.error(a.key.place,
                fmt::format("{} is a setting, and also a parameter of the pipeline in {}; rename "
                            "the parameter, so that it is clear what varies",
                            quote(a.key.text), quote(unit.file->path, 200)));
    } else {
      out.error(a.key.place,
                fmt::format("{} is neither a setting nor a parameter of the pipeline in {}{}",
                            quote(a.key.text), quote(unit.file->path, 200),
                            suggestion(a.key.text, known, known.size())));
    }
  }
}

using diagnostic_key = std::tuple<const source_text*, std::size_t, std::size_t, std::string>;

diagnostic_key key_of(const diagnostic& d) {
  return {d.place.source.get(), d.place.line, d.place.column, d.message};
}

/// A diagnostic and the units that have it.
struct found_in {
  const diagnostic* what = nullptr;
  std::vector<const experiment_unit*> units;
};

std::vector<found_in> gather(const std::vector<const experiment_unit*>& units) {
  std::vector<found_in> list;
  std::map<diagnostic_key, std::size_t> position;
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

diagnostic attributed(const experiment_spec& spec, const found_in& f) {
  const bool members = !spec.together.empty();
  const std::size_t first = f.units.front()->index;
  const named& name = members ? spec.together[first].name : spec.configurations[first].name;
  const diagnostic& d = *f.what;
  std::string message =
      fmt::format("{} {}", members ? "member" : "configuration", quote(name.text, 200));
  if (f.units.size() > 1) message += fmt::format(" and {} more", f.units.size() - 1);
  message += ": " + d.message;
  const bool here = d.place.source == spec.source;
  if (!here && d.place.line > 0) {
    message += fmt::format(" ({}:{})", d.place.source->name(), d.place.line);
  }
  // Warnings are no reason to exclude a configuration.
  if (d.severity == severity::error && !members) {
    message += spec.varied ? "; or leave such configurations out with 'exclude'"
                           : "; or take it off the list";
  }
  return {d.severity, here ? d.place : name.place, std::move(message)};
}

/// Reports diagnostics that `out` does not contain yet. If only some units have a diagnostic, the
/// message names the first of these units. The message is placed in the experiment's file: at the
/// diagnostic's own place if it lies in that file, otherwise at the declaration of the unit.
void attribute_diagnostics(const experiment_spec& spec,
                           const std::vector<const experiment_unit*>& units, diagnostics& out) {
  std::set<diagnostic_key> reported;
  for (const diagnostic& d : out.all()) reported.insert(key_of(d));
  for (const found_in& f : gather(units)) {
    if (reported.contains(key_of(*f.what))) continue;
    out.add(f.units.size() == units.size() ? *f.what : attributed(spec, f));
  }
}

/// Makes one unit for each configuration. If the reader rejected them all, makes one unit without
/// assignments, so that errors in the pipeline are also reported.
std::vector<experiment_unit> configuration_units(const experiment_spec& spec,
                                                 const pipeline_file& file, diagnostics& out) {
  std::vector<experiment_unit> units(std::max<std::size_t>(1, spec.configurations.size()));
  for (std::size_t c = 0; c < units.size(); ++c) {
    experiment_unit& unit = units[c];
    unit.file = &file;
    unit.index = c;
    for (const assignment& a : spec.run) unit.settings.push_back(&a);
    add_parameters(spec.params, unit, unit.found);
    if (!spec.configurations.empty()) {
      add_assignments(spec.configurations[c].assignments, unit, out);
    }
  }
  return units;
}

/// Returns keys and values as text.
std::vector<std::pair<std::string, std::string>> assignment_texts(
    const std::vector<assignment>& list) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const assignment& a : list) {
    pairs.emplace_back(printable(a.key.text), printable(a.value.in_one_line()));
  }
  return pairs;
}

planned_configuration finished(const configuration_spec& spec, experiment_unit& unit) {
  planned_configuration result;
  result.what.name = spec.name.text;
  result.what.assignments = assignment_texts(spec.assignments);
  result.what.members = {unit.planned.pipeline};
  result.members.push_back(std::move(unit.planned));
  return result;
}

/// Adds the configurations of one pipeline.
void plan_configurations(const experiment_spec& spec, experiment_files& files,
                         unit_planner& planner, diagnostics& out, experiment_plan& result,
                         refused_configurations* refused) {
  if (spec.pipeline.text.empty()) return;  // reported by the reader
  const pipeline_file* file = files.open(spec.pipeline, out);
  if (file == nullptr) return;

  std::vector<experiment_unit> units = configuration_units(spec, *file, out);
  std::vector<const experiment_unit*> all;
  for (experiment_unit& unit : units) {
    planner.plan(unit);
    if (refused != nullptr && unit.index > 0 && unit.found.has_errors()) {
      refused->emplace(unit.index, unit.found);
    }
    if (refused == nullptr || unit.index == 0) all.push_back(&unit);
  }
  attribute_diagnostics(spec, all, out);

  for (std::size_t c = 0; c < spec.configurations.size(); ++c) {
    if (refused != nullptr && refused->contains(c)) continue;
    const configuration_spec& declared = spec.configurations[c];
    result.configurations.push_back(finished(declared, units[c]));
    if (declared.reference != c) result.pairs.push_back({{c, 0}, {declared.reference, 0}});
  }
}

/// Splits MEMBER.KEY. The member is empty for a key of all members.
std::pair<std::string_view, std::string_view> split_key(const experiment_spec& spec,
                                                        std::string_view key) {
  for (const member_spec& member : spec.together) {
    const std::string_view name = member.name.text;
    if (key.size() > name.size() && key.starts_with(name) && key[name.size()] == '.') {
      return {name, key.substr(name.size() + 1)};
    }
  }
  return {"", key};
}

/// Returns a configuration's assignments to one member, with keys as in its file. A parameter
/// without a member is of all members that declare it.
std::vector<assignment> assignments_to(const experiment_spec& spec, std::size_t member,
                                       const configuration_spec& configuration,
                                       const pipeline_file& file) {
  std::vector<assignment> list;
  for (const assignment& a : configuration.assignments) {
    const auto [name, key] = split_key(spec, a.key.text);
    if (!name.empty() && name != spec.together[member].name.text) continue;
    if (name.empty() && !is_setting(a.key.text) && !file.has_parameter(a.key.text)) continue;
    list.push_back({{std::string(key), a.key.place}, a.value});
  }
  return list;
}

/// Makes one unit for each member that has a file.
/// @param configuration Assignments to all members and to single ones; null for none.
std::vector<experiment_unit> member_units(const experiment_spec& spec, experiment_files& files,
                                          const configuration_spec* configuration,
                                          diagnostics& out) {
  std::vector<experiment_unit> units;
  for (std::size_t m = 0; m < spec.together.size(); ++m) {
    const member_spec& member = spec.together[m];
    if (member.pipeline.text.empty()) continue;  // reported by the reader
    const pipeline_file* file = files.open(member.pipeline, out);
    if (file == nullptr) continue;
    experiment_unit& unit = units.emplace_back();
    unit.file = file;
    unit.index = m;
    for (const assignment& a : spec.run) unit.settings.push_back(&a);
    for (const assignment& a : member.run) unit.settings.push_back(&a);
    add_parameters(member.params, unit, out);
    if (configuration != nullptr) {
      unit.own = assignments_to(spec, m, *configuration, *file);
      add_assignments(unit.own, unit, out);
    }
    unit.priority = member.priority;
  }
  return units;
}

/// Reports keys of a configuration that no member has.
void check_keys_of_members(const experiment_spec& spec, const configuration_spec& configuration,
                           experiment_files& files, diagnostics& out) {
  for (const assignment& a : configuration.assignments) {
    const auto [name, key] = split_key(spec, a.key.text);
    if (!name.empty() || is_setting(a.key.text)) continue;
    const bool known = std::ranges::any_of(spec.together, [&](const member_spec& member) {
      const pipeline_file* file = files.open(member.pipeline, out);
      return file != nullptr && file->has_parameter(a.key.text);
    });
    if (known) continue;
    out.error(a.key.place,
              fmt::format("{} is neither a setting nor a parameter of a member's pipeline; a key "
                          "of one member is MEMBER.KEY, such as {}.rate",
                          quote(a.key.text), spec.together[0].name.text));
  }
}

/// Reports what keeps the members from sharing. Threads that share a spinlock need one priority.
void check_sharing(const experiment_spec& spec, const std::vector<experiment_unit>& units,
                   diagnostics& out) {
  if (spec.how.share == sharing::none || units.empty()) return;
  const auto name_of = [&](const experiment_unit& unit) { return spec.together[unit.index].name; };
  const auto needs = [&](const experiment_unit& unit, const std::string& what) {
    out.error(name_of(unit).place,
              fmt::format("share: {} needs {}", to_word(spec.how.share), what));
  };
  const settings& first = units.front().planned.run;
  for (const experiment_unit& unit : units) {
    const settings& run = unit.planned.run;
    if (!has_workers(run)) {
      needs(unit, fmt::format("strategy: overlap, with graphs: stage or off, in all members; this "
                              "one has strategy: {} and graphs: {}",
                              to_word(run.strategy), to_word(run.graphs)));
    }
    const auto must_equal = [&](const char* key, auto settings::*member) {
      if (run.*member == first.*member) return;
      needs(unit, fmt::format("the same {0} in all members; this one has {0}: {1}, and {2} has "
                              "{0}: {3}; set {0} for all under 'run'",
                              key, written(run.*member), quote(name_of(units.front()).text),
                              written(first.*member)));
    };
    const auto declares = [](const planned_device& a, const planned_device& b) {
      return a.name == b.name && a.request == b.request && a.threads == b.threads;
    };
    if (!std::ranges::equal(unit.planned.devices, units.front().planned.devices, declares)) {
      needs(unit, fmt::format("the same devices in all members; this one declares others than {}",
                              quote(name_of(units.front()).text)));
    }
    const auto by_setting = [](const planned_device& device) {
      return device.backend == "host" && device.threads == 0;
    };
    if (spec.how.share != sharing::cpu && std::ranges::any_of(unit.planned.devices, by_setting)) {
      must_equal("threads", &settings::threads);
    }
    must_equal("policy", &settings::policy);
    must_equal("window", &settings::window);
    must_equal("realtime", &settings::realtime);
  }
  const policy_kind* policy = units.front().planned.policy.kind;
  const bool deadline = std::ranges::any_of(units, has_deadline<plan>, &experiment_unit::planned);
  if (policy != nullptr && policy->needs_deadline && !deadline) {
    needs(units.front(), "a member with a deadline, such as 20ms, for policy: " + policy->name);
  }
  if (spec.how.share != sharing::cpu && first.window == 0) {
    needs(units.front(), "a window, such as window: 1 under 'run' of the experiment");
  }
}

/// Reports members that would end before the horizon.
void check_horizon(const experiment_spec& spec, const std::vector<experiment_unit>& units,
                   diagnostics& out) {
  if (!spec.how.horizon) return;
  for (const experiment_unit& unit : units) {
    if (unit.found.has_errors()) continue;
    const named& name = spec.together[unit.index].name;
    const settings& run = unit.planned.run;
    if (run.max_time) {
      out.error(name.place, fmt::format("member {} has a 'max_time', which cannot be combined with "
                                        "'horizon'; remove one of the two",
                                        quote(name.text)));
    }
    if (!unit.planned.arrivals) continue;
    const arrival_trace& trace = *unit.planned.arrivals;
    double last = static_cast<double>(trace.due.back());
    if (run.rate && trace.mean_gap > 0) {
      last *= 1e9 * static_cast<double>(run.burst) / (*run.rate * trace.mean_gap);
    }
    last += static_cast<double>(run.phase.value_or(0));
    if (last >= static_cast<double>(*spec.how.horizon)) continue;
    out.error(name.place, fmt::format("the trace of member {} ends after {:.4g} s, before the "
                                      "horizon of {:.4g} s; shorten 'horizon' or extend the trace",
                                      quote(name.text), last / 1e9,
                                      static_cast<double>(*spec.how.horizon) / 1e9));
  }
}

/// Returns true if `priorities: off` would change anything.
bool priorities_differ(const std::vector<experiment_unit>& units) {
  std::set<priority> used;
  for (const experiment_unit& unit : units) {
    for (const planned_stream& stream : unit.planned.streams) used.insert(stream.priority);
  }
  return used.size() > 1;
}

planned_configuration all_together(const experiment_spec& spec, std::string name,
                                   const std::vector<experiment_unit>& units) {
  planned_configuration all;
  all.what.name = std::move(name);
  for (const experiment_unit& unit : units) {
    all.what.members.push_back(spec.together[unit.index].name.text);
    all.members.push_back(unit.planned);
  }
  return all;
}

/// Plans members and reports their diagnostics.
std::vector<experiment_unit> planned_members(const experiment_spec& spec, experiment_files& files,
                                             const configuration_spec* configuration,
                                             unit_planner& planner, diagnostics& out) {
  std::vector<experiment_unit> units = member_units(spec, files, configuration, out);
  for (experiment_unit& unit : units) planner.plan(unit);
  std::vector<const experiment_unit*> all;
  for (const experiment_unit& unit : units) all.push_back(&unit);
  attribute_diagnostics(spec, all, out);
  const auto failed = [](const experiment_unit& unit) { return unit.found.has_errors(); };
  if (units.size() == spec.together.size() && std::ranges::none_of(units, failed)) {
    check_sharing(spec, units, out);
  }
  check_horizon(spec, units, out);
  std::vector<const plan*> plans;
  for (const experiment_unit& unit : units) plans.push_back(&unit.planned);
  warn_of_polling(plans, planner.target().cpus, spec.name.place, out);
  return units;
}

/// Diagnostics of several configurations, each of which is reported once.
class merged_diagnostics {
 public:
  void add(const std::string& configuration, const diagnostics& found) {
    for (const diagnostic& d : found.all()) {
      found_.try_emplace(key_of(d), d, std::vector<std::string>{})
          .first->second.second.push_back(configuration);
    }
  }

  /// @param configurations Number of those that were added.
  void report(std::size_t configurations, diagnostics& out) const {
    for (auto [key, entry] : found_) {
      auto& [d, in] = entry;
      if (in.size() < configurations) {
        const auto more = in.size() > 1 ? fmt::format(" and {} more", in.size() - 1) : "";
        d.message = fmt::format("configuration {}{}: {}", quote(in[0], 200), more, d.message);
      }
      out.add(std::move(d));
    }
  }

 private:
  std::map<diagnostic_key, std::pair<diagnostic, std::vector<std::string>>> found_;
};

/// Adds the declared configurations of pipelines that run concurrently. Each member is compared
/// with itself in the reference.
void plan_varied_together(const experiment_spec& spec, experiment_files& files,
                          unit_planner& planner, diagnostics& out, experiment_plan& result) {
  merged_diagnostics merged;
  for (const configuration_spec& declared : spec.configurations) {
    diagnostics found;
    check_keys_of_members(spec, declared, files, found);
    const auto units = planned_members(spec, files, &declared, planner, found);
    auto& configuration =
        result.configurations.emplace_back(all_together(spec, declared.name.text, units));
    if (units.size() == spec.together.size()) {
      result.chains = planned_chains(spec.chains, configuration, found);
    }
    merged.add(declared.name.text, found);
    configuration.what.assignments = assignment_texts(declared.assignments);
  }
  merged.report(result.configurations.size(), out);
  for (std::size_t c = 0; c < spec.configurations.size(); ++c) {
    const std::size_t reference = spec.configurations[c].reference;
    for (std::size_t m = 0; reference != c && m < spec.together.size(); ++m) {
      result.pairs.push_back({{c, m}, {reference, m}});
    }
  }
}

/// Adds the configurations and the pairs to compare for pipelines that run concurrently.
void plan_together(const experiment_spec& spec, experiment_files& files, unit_planner& planner,
                   diagnostics& out, experiment_plan& result) {
  if (!spec.configurations.empty()) {
    return plan_varied_together(spec, files, planner, out, result);
  }
  std::vector<experiment_unit> units = planned_members(spec, files, nullptr, planner, out);

  const std::size_t members = units.size();
  for (const experiment_unit& unit : units) {
    const std::string& name = spec.together[unit.index].name.text;
    result.configurations.push_back({{name + " alone", {}, {name}}, {unit.planned}});
  }
  result.configurations.push_back(all_together(spec, "together", units));
  if (units.size() == spec.together.size()) {
    result.chains = planned_chains(spec.chains, result.configurations.back(), out);
  }
  for (std::size_t m = 0; m < members; ++m) result.pairs.push_back({{members, m}, {m, 0}});
  if (!priorities_differ(units)) return;

  for (experiment_unit& unit : units) {
    unit.without_priorities = true;
    unit.found = {};  // already reported
    planner.plan(unit);
    for (planned_stage& stage : unit.planned.stages) stage.level = 0;
  }
  result.configurations.push_back(all_together(spec, "together without priorities", units));
  for (std::size_t m = 0; m < members; ++m) {
    result.pairs.push_back({{members, m}, {members + 1, m}});
  }
}

}  // namespace

experiment_plan plan_experiment(const experiment_spec& spec, stage_registry& registry,
                                const plan_target& target, diagnostics& out,
                                refused_configurations* refused) {
  experiment_plan result;
  result.name = spec.name.text;
  result.description = spec.description;
  result.how = spec.how;

  experiment_files files(spec);
  plan_target on = target;
  on.shares_policy = spec.how.share != sharing::none;
  for (const configuration_spec& configuration : spec.configurations) {
    for (const assignment& a : configuration.assignments) {
      const auto key = split_key(spec, a.key.text).second;
      on.varies_policy |= key == "policy" || key == "strategy";
    }
  }
  unit_planner planner{registry, on};
  if (spec.together.empty()) {
    plan_configurations(spec, files, planner, out, result, refused);
  } else {
    plan_together(spec, files, planner, out, result);
  }
  result.files = files.checksums();
  result.sources = files.sources();
  result.files.emplace_back("device", target.backend);
  return result;
}

}  // namespace graphline
