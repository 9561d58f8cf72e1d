#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/version.hpp"
#include "tools/graphline/commands.hpp"
#include "tools/graphline/terminal.hpp"

namespace graphline {
namespace {

/// Those that people use, in their order.
std::vector<const CLI::App*> commands_of(const CLI::App& program) {
  return program.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
}

/// A text of --help in the language of manual pages, which gives a meaning to backslashes, to
/// dashes, and to dots and quotes where a line begins.
std::string roff(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool first = i == 0 || text[i - 1] == '\n';
    if (first && (text[i] == '.' || text[i] == '\'')) result += "\\&";
    if (text[i] == '\\' || text[i] == '-') result += '\\';
    result += text[i] == '\\' ? 'e' : text[i];
  }
  return result;
}

std::string roff_options(const CLI::App& command) {
  const CLI::Formatter formatter;
  std::string text;
  for (const auto* option : command.get_options()) {
    text += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(option->get_name(true, true)),
                        roff(formatter.make_option_opts(option)), roff(option->get_description()));
  }
  return text;
}

std::string manual_page(const CLI::App& program) {
  auto text = fmt::format(
      ".TH GRAPHLINE 1 \"\" \"graphline {}\" \"User Commands\"\n"
      ".SH NAME\ngraphline \\- run AI pipelines and see where the time goes\n"
      ".SH SYNOPSIS\n.B graphline\n.I COMMAND\n.RI [ OPTION ]...\n"
      ".SH DESCRIPTION\n{}\n.SH OPTIONS\n{}.SH COMMANDS\n",
      version(), roff(program.get_description()), roff_options(program));
  for (const auto* command : commands_of(program)) {
    text += fmt::format(".SS {}\n{}\n{}.PP\n{}\n", command->get_name(),
                        roff(command->get_description()), roff_options(*command),
                        roff(command->get_footer()));
  }
  return text + ".SH NOTES\n.EX\n" + roff(program.get_footer()) + "\n.EE\n";
}

/// What may follow an option, as in "auto|always|never"; nothing where that is "FILE".
std::string choices_of(const CLI::Option& option) {
  auto names = option.get_type_name();
  if (names.find('|') == names.npos) return {};
  std::ranges::replace(names, '|', ' ');
  return names;
}

std::string bash_completion(const CLI::App& program) {
  std::string commands;
  std::string cases;
  for (const auto* command : commands_of(program)) {
    const auto& name = command->get_name();
    commands += name + ' ';
    std::string options;
    std::string arguments;
    for (const auto* of : {command, &program}) {
      for (const auto* option : of->get_options()) {
        const bool flag = option->get_type_size() == 0;
        if (of == &program && flag) continue;  // --help and --version stand alone
        const auto choices = choices_of(*option);
        for (const auto& word : option->get_lnames()) {
          options += "--" + word + ' ';
          if (!choices.empty()) {
            cases += fmt::format("    {}:--{}) words='{}' ;;\n", name, word, choices);
          }
        }
        if (option->get_positional()) arguments += choices;
      }
    }
    cases += fmt::format("    {}:*) words='{}'; [[ $word == -* ]] && words='{}' ;;\n", name,
                         arguments, options);
  }
  return fmt::format(R"(# Where nothing of Graphline's fits, bash goes on with the names of files.
_graphline() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words=
  case ${{COMP_WORDS[1]}}:${{COMP_WORDS[COMP_CWORD - 1]}} in
{}  esac
  [ "$COMP_CWORD" -ne 1 ] || words='{}--help --version'
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}}
complete -o default -F _graphline graphline
)",
                     cases, commands);
}

}  // namespace

void add_manual_command(CLI::App& program, action& chosen) {
  auto* command = add_command(program, "manual", "Print what installing puts beside the program");
  command->group("");  // not for people: `cmake --install` asks for it
  auto completion = std::make_shared<bool>(false);
  command->add_flag("--bash", *completion, "The completion script for bash, not the manual page");
  command->callback([&program, &chosen, completion] {
    chosen = [&program, completion] {
      print(stdout, *completion ? bash_completion(program) : manual_page(program));
      return exit_status::done;
    };
  });
}

}  // namespace graphline
