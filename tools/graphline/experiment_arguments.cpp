#include "tools/graphline/experiment_arguments.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <cstdint>
#include <utility>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/device/builtin/builtin_devices.hpp"
#include "framework/plan/data_files.hpp"
#include "framework/spec/experiment_reader.hpp"
#include "framework/spec/pipeline_reader.hpp"
#include "tools/graphline/terminal_look.hpp"

namespace graphline {

void experiment_arguments::add_to(CLI::App& command) {
  command.add_option("EXPERIMENT.yaml", path_, "What to compare")->required();
  command.add_option("--device", device_, "auto, host, cuda or cuda:N")
      ->type_name("DEVICE")
      ->capture_default_str();
}

experiment_plan experiment_arguments::make_plan(bool show_warnings) {
  const plan_target machine = target_of(device_);
  diagnostics found;
  const experiment_spec spec = read_experiment(read_source(path_), found);
  // Planned all the same where something is wrong, so that everything is told at once.
  experiment_plan planned = plan_experiment(spec, stages_, machine, found);
  found.throw_if_errors();
  for (auto& data : data_checksums(planned)) planned.files.push_back(std::move(data));
  if (show_warnings && !found.all().empty()) print(stderr, fmt::format("{}\n", found.render()));
  return planned;
}

device_set experiment_arguments::open_devices(const experiment_plan& planned) const {
  std::vector<const plan*> plans;
  for (const auto& configuration : planned.configurations) {
    for (const plan& p : configuration.members) plans.push_back(&p);
  }
  return {device_, plans};
}

std::uint64_t experiment_arguments::memory_budget() const {
  // Half of it: pinned memory, libraries and whatever else the machine does need some too.
  for (const auto& backend : builtin_devices().backends()) {
    if (backend.name != builtin_devices().resolve({device_, 0})) continue;
    std::string reason;
    const auto found = backend.list(reason);
    if (!found.empty()) return found.front().memory_bytes / 2;
  }
  return 0;
}

}  // namespace graphline
