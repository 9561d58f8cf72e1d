#include <CLI/App.hpp>
#include <memory>
#include <string>

#include "framework/plan/cost_summary.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/html/html_page.hpp"
#include "framework/report/json/json_beginning.hpp"
#include "framework/report/render/render.hpp"
#include "tools/graphline/commands.hpp"
#include "tools/graphline/pipeline_options.hpp"
#include "tools/graphline/result_outputs.hpp"
#include "tools/graphline/terminal_look.hpp"

namespace graphline {
namespace {

struct inspect_arguments {
  pipeline_options pipeline;
  bool stages_only = false;
  std::string json;
  std::string html;
  std::string csv;
  std::string markdown;
};

exit_status inspect(inspect_arguments& given) {
  const plan p = given.pipeline.make_plan_without_device();
  auto summary = summarize_cost(p);
  if (given.stages_only) {
    for (auto& stage : summary.stages) stage.layers.clear();
  }
  const auto says = report::describe(summary);
  result_outputs outputs({{"--json", given.json, json_beginning},
                          {"--html", given.html, html_beginning},
                          {"--csv", given.csv, "level,stage,layer,"},
                          {"--markdown", given.markdown, "## "}},
                         given.pipeline.files_of(p));
  outputs.show(report::as_text(says, look_of(outputs.for_people())));
  outputs.write("--json", [&](text_sink& to) { report::write_json(to, says); });
  outputs.write("--html", [&](text_sink& to) { to.append(report::as_html(says)); });
  outputs.write("--csv", [&](text_sink& to) { to.append(report::as_csv(says)); });
  outputs.write("--markdown", [&](text_sink& to) { to.append(report::as_markdown(says)); });
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
  command->add_flag("--stages", given->stages_only, "Leave the layers of the stages out");
  command->add_option("--json", given->json, "Write the figures (- for standard output)")
      ->type_name("FILE");
  command->add_option("--html", given->html, "Write a page for a browser")->type_name("FILE");
  command->add_option("--csv", given->csv, "Write a row for each stage and layer")
      ->type_name("FILE");
  command->add_option("--markdown", given->markdown, "Write the table for a pull request")
      ->type_name("FILE");
  command->footer(
      "--device says whose values of the pipeline's params count; it need not be there.\n"
      "docs/costs.md says what is counted, and how.");
  command->callback([&chosen, given] { chosen = [given] { return inspect(*given); }; });
}

}  // namespace graphline
