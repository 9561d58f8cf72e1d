#include "framework/plan/experiment_unit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

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

namespace fs = std::filesystem;

std::optional<std::vector<std::string>> declared_parameters(
    const std::shared_ptr<const source_text>& source) {
  diagnostics ignored;  // reading the pipeline itself says it
  const node document = read_yaml(source, ignored);
  if (!document.is_mapping()) return std::nullopt;
  std::vector<std::string> names;
  if (const node* section = document.find("params")) {
    for (const node::member& m : section->members()) names.push_back(m.key.text);
  }
  return names;
}

/// The file's text, or null after an error where it is named, so that all else is told too.
std::shared_ptr<const source_text> read(const std::string& full, const named& path,
                                        diagnostics& out) {
  try {
    return read_source(full);
  } catch (const input_error& problem) {
    const std::string_view what = problem.what();
    out.error(path.place, fmt::format("{} cannot be read: {}", quote(path.text, 200),
                                      what.substr(0, what.find('\n'))));
    return nullptr;
  }
}

}  // namespace

experiment_files::experiment_files(const experiment_spec& spec) : directory_(spec.directory) {
  if (spec.source) note(spec.source->name(), spec.source);
}

const pipeline_file* experiment_files::open(const named& path, diagnostics& out) {
  const fs::path full = (fs::path(directory_) / path.text).lexically_normal();
  const auto known = std::ranges::find(files_, full.string(), &pipeline_file::path);
  if (known != files_.end()) return &*known;

  std::error_code ignored;
  if (!fs::exists(full, ignored)) {
    const std::string looked_for =
        full.string() == path.text ? "" : ", looked for as " + quote(full.string(), 200);
    out.error(path.place, fmt::format("there is no pipeline file {}{}{}", quote(path.text, 200),
                                      looked_for, near_file(full.string())));
    return nullptr;
  }
  auto source = read(full.string(), path, out);
  if (!source) return nullptr;
  pipeline_file& file = files_.emplace_back();
  file.path = full.string();
  file.source = std::move(source);
  file.parameters = declared_parameters(file.source);
  note(path.text, file.source);
  return &file;
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

}  // namespace

void plan_unit(experiment_unit& unit, stage_registry& registry, const plan_target& target) {
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
  place& section = spec.run_places.section;
  if (unit.run_place) section = *unit.run_place;
  if (!section) section = spec.name.place;
  unit.shown_run = section;
  // Without a plug-in its kinds are unknown, which is no mistake of the file's.
  if (!load_plugins(spec, registry, unit.found)) return;
  unit.planned = make_plan(spec, registry, target, unit.found);
}

std::optional<place> run_place_of(const std::vector<assignment>& run) {
  const auto last = std::find_if(run.rbegin(), run.rend(), [](const assignment& a) {
    return a.key.text != "frames" && a.key.text != "warmup";
  });
  return last == run.rend() ? std::nullopt : std::optional(last->key.place);
}

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
