#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/version.hpp"
#include "framework/plan/policies/policies.hpp"
#include "tools/graphline/commands.hpp"
#include "tools/graphline/common_options.hpp"
#include "tools/graphline/terminal.hpp"

namespace graphline {
namespace {

/// Returns the commands that --help lists, in order.
std::vector<const CLI::App*> commands_of(const CLI::App& program) {
  return program.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
}

/// Escapes text for a manual page: backslashes, dashes, and dots and quotes at the start of a line.
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

/// Returns the possible values of an option, separated by spaces; empty if they are unknown.
std::string choices_of(const CLI::Option& option) {
  auto names = option.get_type_name();
  if (names == "DEVICE") return "auto host cuda";
  if (option.get_single_name() == "KIND") {
    return fmt::format("{}", fmt::join(kinds_with({}).names(), " "));
  }
  if (names == "NAME" || option.get_single_name() == "NAME") {
    std::vector<std::string_view> policies;
    for (const policy_kind& kind : builtin_policies()) policies.push_back(kind.name);
    return fmt::format("{}", fmt::join(policies, " "));
  }
  if (names.find('|') == names.npos) return {};
  std::ranges::replace(names, '|', ' ');
  return names;
}

/// An option and its possible values.
struct offered_option {
  const CLI::Option* option;
  std::string choices;
};

std::vector<offered_option> options_of(const CLI::App& program, const CLI::App& command) {
  std::vector<offered_option> all;
  for (const auto* of : {&command, &program}) {
    for (const auto* option : of->get_options()) {
      const bool flag = option->get_type_size() == 0;
      if (of == &program && flag) continue;  // --help and --version need no command
      all.push_back({option, choices_of(*option)});
    }
  }
  return all;
}

/// Returns the branches of a `case` over "COMMAND:PREVIOUS WORD" for bash and zsh. Each branch sets
/// `list` to the possible values of `word`.
std::string completion_cases(const CLI::App& program) {
  std::string cases;
  for (const auto* command : commands_of(program)) {
    const auto& name = command->get_name();
    std::string options;
    std::string arguments;
    for (const auto& [option, choices] : options_of(program, *command)) {
      for (const auto& word : option->get_lnames()) {
        options += "--" + word + ' ';
        if (!choices.empty()) {
          cases += fmt::format("    {}:--{}) list='{}' ;;\n", name, word, choices);
        }
      }
      if (option->get_positional()) arguments += choices;
    }
    cases += fmt::format("    {}:*) list='{}'; [[ $word == -* ]] && list='{}' ;;\n", name,
                         arguments, options);
  }
  return cases;
}

std::string command_words(const CLI::App& program) {
  std::string words;
  for (const auto* command : commands_of(program)) words += command->get_name() + ' ';
  return words + "--help --version";
}

std::string bash_completion(const CLI::App& program) {
  return fmt::format(R"(# Without a match, bash completes file names.
_graphline() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} list=
  # Bash splits --option=value into three words.
  if [[ $word == '=' ]]; then
    word=
  elif [[ $previous == '=' ]]; then
    previous=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  case ${{COMP_WORDS[1]}}:$previous in
{}  esac
  [ "$COMP_CWORD" -ne 1 ] || list='{}'
  mapfile -t COMPREPLY < <(compgen -W "$list" -- "$word")
}}
complete -o default -F _graphline graphline
)",
                     completion_cases(program), command_words(program));
}

std::string zsh_completion(const CLI::App& program) {
  return fmt::format(R"(#compdef graphline
# Without a match, zsh completes file names.
local word=$words[CURRENT] previous=$words[CURRENT-1] list=
if [[ $word == --*=* ]]; then
  previous=${{word%%=*}} word=${{word#*=}}
  compset -P '*='
fi
case $words[2]:$previous in
{}esac
(( CURRENT > 2 )) || list='{}'
compadd -- ${{=list}} || _files
)",
                     completion_cases(program), command_words(program));
}

/// Quotes a text for fish.
std::string fish_text(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c == '\n' ? ' ' : c;
  }
  return quoted + "'";
}

std::string fish_completion(const CLI::App& program) {
  std::string text = "complete -c graphline -n __fish_use_subcommand -l help -l version\n";
  for (const auto* command : commands_of(program)) {
    const auto& name = command->get_name();
    text += fmt::format("complete -c graphline -n __fish_use_subcommand -f -a {} -d {}\n", name,
                        fish_text(command->get_description()));
    const auto here =
        fmt::format("complete -c graphline -n '__fish_seen_subcommand_from {}'", name);
    for (const auto& [option, choices] : options_of(program, *command)) {
      if (option->get_positional()) {
        if (!choices.empty()) text += fmt::format("{} -a '{}'\n", here, choices);
        continue;
      }
      std::string names;
      for (const auto& word : option->get_lnames()) names += " -l " + word;
      for (const auto& letter : option->get_snames()) names += " -s " + letter;
      if (option->get_type_size() > 0) names += " -r";  // a value follows
      if (!choices.empty()) names += fmt::format(" -f -a '{}'", choices);
      text += fmt::format("{}{} -d {}\n", here, names, fish_text(option->get_description()));
    }
  }
  return text;
}

}  // namespace

void add_manual_command(CLI::App& program, action& chosen) {
  auto* command = add_command(program, "manual", "Print the manual page or a completion script");
  command->group("");  // hidden, because `cmake --install` is its only user
  auto shell = std::make_shared<std::string>();
  command->add_option("--completion", *shell, "Print the completion script for this shell")
      ->check(one_of({"bash", "zsh", "fish"}));
  command->callback([&program, &chosen, shell] {
    chosen = [&program, shell] {
      const auto text = shell->empty()     ? manual_page(program)
                        : *shell == "zsh"  ? zsh_completion(program)
                        : *shell == "fish" ? fish_completion(program)
                                           : bash_completion(program);
      print(stdout, text);
      return exit_status::done;
    };
  });
}

}  // namespace graphline
