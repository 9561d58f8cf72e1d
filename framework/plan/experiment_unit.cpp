#include "framework/plan/experiment_unit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "framework/base/error.hpp"
#include "framework/base/random.hpp"
#include "framework/base/text_file.hpp"
#include "framework/base/utf8.hpp"
#include "framework/spec/pipeline_reader.hpp"
#include "framework/spec/settings_reader.hpp"
#include "framework/spec/yaml_reader.hpp"
#include "framework/stage/plugin_loader.hpp"

namespace graphline::planning {
namespace {

/// The names of a pipeline's `params:` section. Throws an `unreadable_file` that quotes nothing of
/// the file where it is no pipeline.
std::vector<std::string> declared_parameters(const std::shared_ptr<const source_text>& source) {
  diagnostics found;
  const node document = read_yaml(source, found);
  if (document.find("pipeline") == nullptr) {
    const place at = found.all().empty() ? place{} : found.all().front().place;
    throw unreadable_file(
        source->name(),
        fmt::format("it is not a pipeline: {}; 'graphline check {}' shows more",
                    at.line > 0
                        ? fmt::format("it cannot be read at line {}, column {}", at.line, at.column)
                        : "it has no key 'pipeline'",
                    source->name()));
  }
  std::vector<std::string> names;
  if (const node* section = document.find("params")) {
    for (const node::member& m : section->members()) names.push_back(m.key.text);
  }
  return names;
}

}  // namespace

experiment_files::experiment_files(const experiment_spec& spec) : directory_(spec.directory) {
  if (spec.source) note(spec.source->name(), spec.source);
}

const pipeline_file* experiment_files::open(const named& path, diagnostics& out) {
  const auto full = (std::filesystem::path(directory_) / path.text).lexically_normal().string();
  const auto known = std::ranges::find(files_, full, &pipeline_file::path);
  if (known != files_.end()) return &*known;
  try {
    const auto source = read_source(full);
    pipeline_file read{full, source, declared_parameters(source)};
    note(path.text, source);
    return &files_.emplace_back(std::move(read));
  } catch (const unreadable_file& problem) {
    out.error(path.place,
              fmt::format("{} cannot be read: {}", quote(path.text, 200), problem.reason()));
    return nullptr;
  }
}

void experiment_files::note(const std::string& path, std::shared_ptr<const source_text> source) {
  checksums_.emplace_back(path, fmt::format("{:016x}", seed_from(source->text())));
  sources_.push_back(std::move(source));
}

namespace {

/// The values that hold: a mistake in one that another takes the place of is none.
std::vector<node::member> last_of_each(const std::vector<const assignment*>& list) {
  std::vector<node::member> values;
  for (const assignment* a : list) {
    std::erase_if(values, [&](const node::member& m) { return m.key.text == a->key.text; });
    values.push_back({a->key, a->value});
  }
  return values;
}

bool has_parameter(const pipeline_file& file, const std::string& name) {
  return std::ranges::find(file.parameters, name) != file.parameters.end();
}

}  // namespace

void plan_unit(experiment_unit& unit, stage_registry& registry, const plan_target& target,
               prepared_stages& prepared) {
  reading_options reading;
  reading.backend = target.backend;
  reading.values = last_of_each(unit.parameters);
  pipeline_spec spec = read_pipeline(unit.file->source, reading, unit.found);
  for (const auto& [key, value] : last_of_each(unit.settings)) {
    read_setting(spec.run, spec.run_places, key.text, value, unit.found);
  }
  if (unit.without_priorities) spec.run.priorities = false;
  if (unit.priority) {
    for (stage_spec& stage : spec.stages) stage.priority = *unit.priority;
  }
  // Without a plug-in its kinds are unknown, which is no mistake of the file's.
  if (!load_plugins(spec, registry, unit.found, target.plugins)) return;
  unit.planned = make_plan(spec, registry, target, prepared, unit.found);
}

void add_parameters(const std::vector<assignment>& params, experiment_unit& unit,
                    diagnostics& out) {
  for (const assignment& a : params) {
    if (has_parameter(*unit.file, a.key.text)) {
      unit.parameters.push_back(&a);
    } else {
      out.error(a.key.place,
                fmt::format("the pipeline in {} has no parameter {}{}", quote(unit.file->path, 200),
                            quote(a.key.text), suggestion(a.key.text, unit.file->parameters)));
    }
  }
}

void add_assignments(const std::vector<assignment>& assignments, experiment_unit& unit,
                     diagnostics& out) {
  std::vector<std::string> known = setting_keys();
  known.insert(known.end(), unit.file->parameters.begin(), unit.file->parameters.end());
  for (const assignment& a : assignments) {
    const bool setting = is_setting(a.key.text);
    if (setting != has_parameter(*unit.file, a.key.text)) {
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

namespace {

using told_key = std::tuple<const source_text*, std::size_t, std::size_t, std::string>;

told_key key_of(const diagnostic& d) {
  return {d.place.source.get(), d.place.line, d.place.column, d.message};
}

/// Something that was found, and the units that found it.
struct told_by {
  const diagnostic* what = nullptr;
  std::vector<const experiment_unit*> units;
};

std::vector<told_by> gather(const std::vector<const experiment_unit*>& units) {
  std::vector<told_by> list;
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

diagnostic attributed(const experiment_spec& spec, const told_by& f) {
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
  // A warning is nothing to leave a configuration out for.
  if (d.severity == severity::error && !members) {
    message += spec.varied ? "; or leave such configurations out with 'exclude'"
                           : "; or take it off the list";
  }
  return {d.severity, here ? d.place : name.place, std::move(message)};
}

}  // namespace

void attribute_diagnostics(const experiment_spec& spec,
                           const std::vector<const experiment_unit*>& units, diagnostics& out) {
  std::set<told_key> told;
  for (const diagnostic& d : out.all()) told.insert(key_of(d));
  for (const told_by& f : gather(units)) {
    if (told.contains(key_of(*f.what))) continue;
    out.add(f.units.size() == units.size() ? *f.what : attributed(spec, f));
  }
}

}  // namespace graphline::planning
