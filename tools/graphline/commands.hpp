#pragma once

#include <functional>
#include <string>

#include "framework/base/error.hpp"

namespace CLI {
class App;
}

namespace graphline {

/// What a chosen subcommand does after the command line has been read.
using action = std::function<exit_status()>;

/// Adds a subcommand. Only main.cpp makes any: the code that this draws in from CLI11 takes seconds
/// to compile, and a file that only gives a command its options does without when it includes
/// <CLI/App.hpp>.
CLI::App* add_command(CLI::App& program, const std::string& name, const std::string& headline);

// Each adds its subcommand to the program; choosing it on the command line sets `chosen`.
void add_run_command(CLI::App& program, action& chosen);
void add_check_command(CLI::App& program, action& chosen);
void add_compare_command(CLI::App& program, action& chosen);
void add_overhead_command(CLI::App& program, action& chosen);
void add_calibrate_command(CLI::App& program, action& chosen);
void add_capacity_command(CLI::App& program, action& chosen);
void add_diff_command(CLI::App& program, action& chosen);
void add_inspect_command(CLI::App& program, action& chosen);
void add_manual_command(CLI::App& program, action& chosen);
void add_report_command(CLI::App& program, action& chosen);
void add_devices_command(CLI::App& program, action& chosen);
void add_roofline_command(CLI::App& program, action& chosen);
void add_schema_command(CLI::App& program, action& chosen);
void add_stages_command(CLI::App& program, action& chosen);

}  // namespace graphline
