#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "framework/analysis/finding.hpp"
#include "framework/report/render/terminal_style.hpp"

namespace CLI {
class App;
}

namespace graphline {

/// Adds --color, which all commands take.
void add_color_option(CLI::App& program);

/// Prints text for people; every line of the program goes through here. What a terminal would act
/// on instead of showing it, and bytes that are no UTF-8, stand as "?": names come from anywhere.
/// Takes no memory and never throws; what could not be written, `std::ferror` tells.
void print(std::FILE* stream, std::string_view text) noexcept;

/// On standard error, a line each: failures and warnings, where no table has them.
void print_findings(const std::vector<finding>& findings);

/// Whether a stream is a terminal on which lines can be drawn again.
bool is_terminal(std::FILE* stream);

/// What can be shown on a stream, by the command line, the environment and the terminal:
/// - color: as --color says, else on a terminal, unless NO_COLOR is set and not empty or TERM is
///   missing or "dumb"
/// - width: COLUMNS, else the terminal's, else 80; between 40 and 200
terminal_style style_of(std::FILE* stream);

}  // namespace graphline
