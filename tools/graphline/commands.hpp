#pragma once

#include <functional>
#include <string>

#include "framework/base/error.hpp"

namespace CLI {
class App;
}

namespace graphline {

using action = std::function<exit_status()>;

/// Adds a subcommand. It is defined in main.cpp, because <CLI/CLI.hpp> takes seconds to compile.
/// Files that add options to a command need <CLI/App.hpp> only.
CLI::App* add_command(CLI::App& program, const std::string& name, const std::string& headline);

/// Adds a subcommand. Sets `chosen` to its action if the command line selects it.
using command_adder = void(CLI::App& program, action& chosen);
command_adder add_run_command;
command_adder add_check_command;
command_adder add_inspect_command;
command_adder add_compare_command;
command_adder add_overhead_command;
command_adder add_capacity_command;
command_adder add_predict_command;
command_adder add_search_command;
command_adder add_calibrate_command;
command_adder add_roofline_command;
command_adder add_report_command;
command_adder add_diff_command;
command_adder add_devices_command;
command_adder add_schema_command;
command_adder add_stages_command;
command_adder add_policies_command;
command_adder add_manual_command;

/// In the order of --help.
inline constexpr command_adder* all_commands[] = {
    add_run_command,       add_check_command,    add_inspect_command, add_compare_command,
    add_overhead_command,  add_capacity_command, add_predict_command, add_search_command,
    add_calibrate_command, add_roofline_command, add_report_command,  add_diff_command,
    add_devices_command,   add_schema_command,   add_stages_command,  add_policies_command,
    add_manual_command};

}  // namespace graphline
