#include "framework/plan/data_files.hpp"

namespace graphline {

std::set<std::string> data_files(const plan& p) {
  std::set<std::string> paths;
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

}  // namespace graphline
