#include <fmt/format.h>

#include <CLI/App.hpp>
#include <cstdio>
#include <memory>

#include "framework/report/terminal/plan_report.hpp"
#include "tools/graphline/commands.hpp"
#include "tools/graphline/pipeline_options.hpp"
#include "tools/graphline/terminal_look.hpp"

namespace graphline {

void add_check_command(CLI::App& program, action& chosen) {
  auto* command = add_command(program, "check", "Show what will happen, without running it");
  auto options = std::make_shared<pipeline_options>();
  options->add_to(*command, settings_but({}));
  options->add_no_plugins_option(*command);
  command->callback([&chosen, options] {
    chosen = [options] {
      print(stdout, describe_plan(options->make_plan(), options->target(), look_of(stdout)));
      return exit_status::done;
    };
  });
}

}  // namespace graphline
