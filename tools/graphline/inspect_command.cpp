#include <CLI/App.hpp>
#include <memory>
#include <string>

#include "framework/plan/cost_summary.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/render.hpp"
#include "framework/run/execute/environment.hpp"
#include "tools/graphline/commands.hpp"
#include "tools/graphline/common_options.hpp"
#include "tools/graphline/device_set.hpp"
#include "tools/graphline/result_outputs.hpp"

namespace graphline {
namespace {

struct inspect_arguments {
  pipeline_options pipeline;
  bool stages_only = false;
  result_files files;
};

exit_status inspect(inspect_arguments& given) {
  const plan p = given.pipeline.plan_to(plan_use::inspect).planned;
  auto summary = summarize_cost(p);
  if (given.stages_only) {
    for (auto& stage : summary.stages) stage.layers.clear();
  }
  const auto says = report::describe(summary);
  result_outputs outputs(given.files, given.pipeline.files_of(p));
  outputs.show(says);
  outputs.write("--json", [&](text_sink& to) { report::write_json(to, says, &summary); });
  outputs.write(says);
  outputs.finish();
  return exit_status::done;
}

struct check_arguments {
  pipeline_options pipeline;
  result_files files;
};

/// Returns the number of cores for CPU stages. Does not open the device.
int cores_of(const planned_pipeline& made) {
  std::int64_t computing = 0;
  for (const planned_device& d : made.planned.devices) {
    if (d.backend == "host") computing += host_threads(made.planned, d);
  }
  return cores_for_cpu_stages(made.planned, static_cast<int>(computing));
}

exit_status check(check_arguments& given) {
  const planned_pipeline made = given.pipeline.plan_to(plan_use::check);
  const auto says = report::describe(made.planned, made.machine, cores_of(made));
  result_outputs outputs(given.files, given.pipeline.files_of(made.planned));
  outputs.show(says);
  outputs.write("--json", [&](text_sink& to) { report::write_json(to, says); });
  if (const auto file = given.files.path("--pipeline"); !file.empty()) {
    const auto text = given.pipeline.model_pipeline(file == "-" ? "." : folder_of(file));
    outputs.write("--pipeline", [&](text_sink& to) { to.append(text); });
  }
  outputs.finish();
  return exit_status::done;
}

}  // namespace

void add_inspect_command(CLI::App& program, action& chosen) {
  auto* command = add_command(program, "inspect",
                              "Count parameters, FLOPs and bytes of each layer, without a device");
  auto given = std::make_shared<inspect_arguments>();
  given->pipeline.add_to(*command, {});
  given->pipeline.add_no_plugins_option(*command);
  command->add_flag("--stages", given->stages_only, "Show only stages, without their layers");
  given->files.add_json(*command, "Write the result (- for standard output)");
  given->files.add_html(*command);
  given->files.add(*command, "--csv", "Write one row per stage and layer");
  given->files.add_markdown(*command, "Write the table for a pull request");
  command->footer(
      "--device selects the values of the pipeline's params; the device need not be present.\n"
      "docs/costs.md has the counting rules.");
  command->callback([&chosen, given] { chosen = [given] { return inspect(*given); }; });
}

void add_check_command(CLI::App& program, action& chosen) {
  auto* command = add_command(program, "check", "Show the plan, without running it");
  auto given = std::make_shared<check_arguments>();
  given->pipeline.add_to(*command, settings_except({}));
  given->pipeline.add_no_plugins_option(*command);
  given->files.add_json(*command, "Write the plan (- for standard output)");
  given->files.add(*command, "--pipeline", "Write the pipeline that runs an ONNX model, to edit");
  command->footer("--device cuda shows the plan for a GPU, also on a machine without one.");
  command->callback([&chosen, given] { chosen = [given] { return check(*given); }; });
}

}  // namespace graphline
