#include "framework/run/pipeline/run_pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "framework/base/error.hpp"
#include "framework/base/machine.hpp"
#include "framework/device/builtin/builtin_devices.hpp"
#include "framework/plan/experiment_plan.hpp"
#include "framework/run/pipeline/open_devices.hpp"
#include "framework/spec/yaml_reader.hpp"

namespace graphline {
namespace {

/// Returns the backend of a device, which may be absent.
/// @throws input_error for an unknown name
std::string backend_of(const std::string& device_name) {
  try {
    return builtin_devices().resolve({device_name, 0}).backend;
  } catch (const no_device_error&) {
    return device_name.substr(0, device_name.find(':'));
  }
}

std::string on_one_line(const diagnostic& said) {
  const place& at = said.place;
  if (!at) return said.message;
  if (at.on_command_line()) return fmt::format("{}: {}", at.source->name(), said.message);
  return fmt::format("{}:{}:{}: {}", at.source->name(), at.line, at.column, said.message);
}

planned_pipeline make_planned(const pipeline_source& from, stage_registry& stages,
                              const planning_options& options, const std::string& params_of,
                              const plan_target& machine) {
  diagnostics found;
  pipeline_spec spec = from.read({.backend = params_of, .set = options.set}, found);
  if (options.adjust) options.adjust(spec, found);
  // Otherwise planning would report the kinds of a plug-in that failed to load as unknown.
  if (!load_plugins(spec, stages, found, options.plugins)) found.throw_if_errors();
  plan planned = make_plan(spec, stages, machine, found);
  found.throw_if_errors();
  return {std::move(planned), machine, std::move(found)};
}

}  // namespace

pipeline_spec pipeline_source::read(const reading_options& options, diagnostics& out) const {
  if (const auto* spec = std::get_if<pipeline_spec>(&from_)) {
    for (const auto& [name, text] : options.set) {
      out.error({}, fmt::format("cannot set '{}' to '{}': a pipeline made in C++ has no params",
                                name, text));
    }
    return *spec;
  }
  const auto* path = std::get_if<std::string>(&from_);
  return read_pipeline(path != nullptr ? read_source(*path, named_by::user)
                                       : std::get<std::shared_ptr<const source_text>>(from_),
                       options, out);
}

planned_pipeline plan_pipeline(const pipeline_source& from, stage_registry& stages,
                               const planning_options& options, plan_use use) {
  const plan_target no_machine{.backend = ""};
  plan_target machine;
  if (use == plan_use::inspect) {
    return make_planned(from, stages, options, backend_of(options.device), no_machine);
  }
  try {
    machine = target_of(options.device, use);
    machine.chosen = options.device != "auto" && !options.is_default;
  } catch (const no_device_error&) {
    // Reports the missing device only if the pipeline has no errors.
    make_planned(from, stages, options, backend_of(options.device), no_machine);
    throw;
  }
  return make_planned(from, stages, options, machine.backend, machine);
}

run_record run_pipeline(const pipeline_source& from, const planning_options& planning,
                        const run_options& options, stage_registry stages) {
  auto [planned, machine, warnings] = plan_pipeline(from, stages, planning);
  planned.files = checksums_of(data_files(planned));
  const open_devices devices(planned, planning.device);
  run_record record = session(std::move(planned), devices.group(), options.stop).run(options);
  for (auto at = record.warnings.begin(); const diagnostic& warning : warnings.all()) {
    at = std::next(record.warnings.insert(at, on_one_line(warning)));
  }
  return record;
}

plan_target target_of(const std::string& device_name, plan_use use) {
  plan_target result;
  result.with_device = [use](const std::string& name) { return target_of(name, use); };
  result.why_apart = [](const std::string& device, const std::string& other) {
    return builtin_devices().why_apart(device, other);
  };
  result.cpus = affinity_cpus();
  result.host_memory_bytes = total_memory().value_or(0);
  try {
    const device_properties on = builtin_devices().resolve({device_name, 0});
    result.backend = on.backend;
    result.selects = on.selects;
  } catch (const no_device_error&) {
    result.backend = backend_of(device_name);
    result.present = false;
    const auto& backends = builtin_devices().backends();
    const bool known =
        std::ranges::find(backends, result.backend, &backend::name) != backends.end();
    if (use == plan_use::run || !known) throw;
  }
  if (result.backend == "host") result.device_memory_bytes = result.host_memory_bytes;
  return result;
}

}  // namespace graphline
