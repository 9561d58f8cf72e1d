#include "framework/plan/experiment_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>
#include <system_error>

#include "framework/base/random.hpp"
#include "framework/base/utf8.hpp"
#include "framework/plan/experiment_unit.hpp"

namespace graphline {
namespace planning {
namespace {

/// One unit for each configuration; one with what all have in common where there is none, since its
/// reader found mistakes in them, so that the pipeline's own are told too.
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

planned_configuration finished(const configuration_spec& spec, experiment_unit& unit) {
  planned_configuration result;
  result.what.name = spec.name.text;
  for (const assignment& a : spec.assignments) {
    result.what.assignments.emplace_back(printable(a.key.text), printable(a.value.in_one_line()));
  }
  result.what.members = {unit.planned.pipeline};
  result.members.push_back(std::move(unit.planned));
  return result;
}

/// Adds the configurations of one pipeline.
void plan_configurations(const experiment_spec& spec, experiment_files& files,
                         stage_registry& registry, const plan_target& target, diagnostics& out,
                         experiment_plan& result) {
  if (spec.pipeline.text.empty()) return;  // the reader has said so
  const pipeline_file* file = files.open(spec.pipeline, out);
  if (file == nullptr) return;

  prepared_stages prepared;
  std::vector<experiment_unit> units = configuration_units(spec, *file, out);
  std::vector<const experiment_unit*> all;
  for (experiment_unit& unit : units) {
    plan_unit(unit, registry, target, prepared);
    all.push_back(&unit);
  }
  attribute_diagnostics(spec, all, out);

  for (std::size_t c = 0; c < spec.configurations.size(); ++c) {
    const configuration_spec& declared = spec.configurations[c];
    result.configurations.push_back(finished(declared, units[c]));
    if (declared.reference != c) result.pairs.push_back({{c, 0}, {declared.reference, 0}});
  }
}

/// The members that have a file, as units to plan.
std::vector<experiment_unit> member_units(const experiment_spec& spec, experiment_files& files,
                                          diagnostics& out) {
  std::vector<experiment_unit> units;
  for (std::size_t m = 0; m < spec.together.size(); ++m) {
    const member_spec& member = spec.together[m];
    if (member.pipeline.text.empty()) continue;  // the reader has said so
    const pipeline_file* file = files.open(member.pipeline, out);
    if (file == nullptr) continue;
    experiment_unit& unit = units.emplace_back();
    unit.file = file;
    unit.index = m;
    for (const assignment& a : member.run) unit.settings.push_back(&a);
    add_parameters(member.params, unit, out);
    unit.priority = member.priority;
  }
  return units;
}

/// Whether there is anything that `priorities: off` would change.
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

/// Adds the configurations and pairs of pipelines that run at once.
void plan_together(const experiment_spec& spec, experiment_files& files, stage_registry& registry,
                   const plan_target& target, diagnostics& out, experiment_plan& result) {
  prepared_stages prepared;
  std::vector<experiment_unit> units = member_units(spec, files, out);
  for (experiment_unit& unit : units) plan_unit(unit, registry, target, prepared);
  std::vector<const experiment_unit*> all;
  for (const experiment_unit& unit : units) all.push_back(&unit);
  attribute_diagnostics(spec, all, out);

  const std::size_t members = units.size();
  for (const experiment_unit& unit : units) {
    const std::string& name = spec.together[unit.index].name.text;
    result.configurations.push_back({{name + " alone", {}, {name}}, {unit.planned}});
  }
  result.configurations.push_back(all_together(spec, "together", units));
  for (std::size_t m = 0; m < members; ++m) result.pairs.push_back({{members, m}, {m, 0}});
  if (!priorities_differ(units)) return;

  for (experiment_unit& unit : units) {
    unit.without_priorities = true;
    unit.found = {};  // nothing that was not found with priorities
    plan_unit(unit, registry, target, prepared);
  }
  result.configurations.push_back(all_together(spec, "together without priorities", units));
  for (std::size_t m = 0; m < members; ++m) {
    result.pairs.push_back({{members, m}, {members + 1, m}});
  }
}

}  // namespace
}  // namespace planning

experiment_plan plan_experiment(const experiment_spec& spec, stage_registry& registry,
                                const plan_target& target, diagnostics& out) {
  experiment_plan result;
  result.name = spec.name.text;
  result.description = spec.description;
  result.how = spec.how;

  planning::experiment_files files(spec);
  if (spec.together.empty()) {
    planning::plan_configurations(spec, files, registry, target, out, result);
  } else {
    planning::plan_together(spec, files, registry, target, out, result);
  }
  result.files = files.checksums();
  result.sources = files.sources();
  result.files.emplace_back("device", target.backend);
  return result;
}

std::set<std::string> data_files(const plan& p) {
  std::set<std::string> paths;
  for (const planned_tensor& tensor : p.tensors) {
    if (!tensor.file.empty()) paths.insert(tensor.file);
  }
  for (const planned_stage& stage : p.stages) {
    if (!stage.kind->origin.empty()) paths.insert(stage.kind->origin);
    for (const parameter& of : stage.kind->parameters) {
      if (of.type != parameter_type::path || !stage.config.arguments.has(of.name)) continue;
      paths.insert(stage.config.arguments.text(of.name));
    }
  }
  return paths;
}

std::set<std::string> data_files(const experiment_plan& planned) {
  std::set<std::string> paths;
  for (const auto& configuration : planned.configurations) {
    for (const plan& member : configuration.members) paths.merge(data_files(member));
  }
  return paths;
}

namespace {

namespace fs = std::filesystem;

std::string in_digits(std::uint64_t checksum) {
  return fmt::format("{:016x}", checksum);
}

/// Block by block, since weights may be larger than what should be held of them.
std::string checksum_of_file(const fs::path& path) {
  std::error_code unknown;  // what a plug-in's stage reads may be a device
  if (!fs::is_regular_file(path, unknown)) return "not there";
  std::ifstream file(path, std::ios::binary);
  if (!file) return "not there";
  std::uint64_t checksum = 0;
  std::string block(std::size_t{1} << 20, '\0');
  do {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    const auto count = static_cast<std::size_t>(file.gcount());
    checksum = mix_seed(checksum, seed_from(std::string_view(block).substr(0, count)));
  } while (file);
  return in_digits(checksum);
}

std::string checksum_of_folder(const fs::path& path) {
  std::set<std::string> entries;
  std::error_code problem;
  for (fs::directory_iterator at(path, problem), end; !problem && at != end;
       at.increment(problem)) {
    std::error_code no_size;  // of a folder in it
    const auto size = at->file_size(no_size);
    entries.insert(fmt::format("{} {}", at->path().filename().string(), no_size ? 0 : size));
  }
  if (problem) return "not there";
  std::uint64_t checksum = 0;
  for (const auto& entry : entries) checksum = mix_seed(checksum, seed_from(entry));
  return in_digits(checksum);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> checksums_of(const std::set<std::string>& paths) {
  std::vector<std::pair<std::string, std::string>> checksums;
  for (const auto& path : paths) {
    std::error_code ignored;
    checksums.emplace_back(
        path, fs::is_directory(path, ignored) ? checksum_of_folder(path) : checksum_of_file(path));
  }
  return checksums;
}

}  // namespace graphline
