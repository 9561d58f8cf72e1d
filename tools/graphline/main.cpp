#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/base/error.hpp"
#include "framework/base/file/file_trouble.hpp"
#include "framework/base/utf8.hpp"
#include "framework/base/version.hpp"
#include "tools/graphline/commands.hpp"
#include "tools/graphline/interrupt.hpp"
#include "tools/graphline/machine.hpp"
#include "tools/graphline/terminal.hpp"

namespace graphline {
namespace {

constexpr const char* closing_help = R"(
Start here:
  graphline check PIPELINE.yaml      what will happen, without running it
  graphline inspect PIPELINE.yaml    what it amounts to: parameters, FLOPs and bytes of each layer
  graphline run PIPELINE.yaml        run it and see where the time goes
  graphline overhead PIPELINE.yaml   what each timing method costs on it
  graphline compare EXPERIMENT.yaml  strategies and settings against each other
  graphline capacity PIPELINE.yaml   the highest rate of frames it can keep up with
  graphline calibrate                what the device can do at best; kept for other commands
  graphline roofline PIPELINE.yaml   how far stages and layers are from the least time they need
  graphline report RESULT.json       what a saved result shows, as a page with --html FILE
  graphline diff OLD.json NEW.json   what changed between two saved results
  graphline schema pipeline          the JSON Schema of pipeline files, for editors

Exit status: 0 done; 1 the run failed; 2 the command line or a file is wrong;
3 the device is not available; 4 a --fail-if gate failed;
130 interrupted, with what was measured reported;
141 whoever read standard output went away, as head does; files are complete all the same.

--color may stand behind a command too. Tables are as wide as the terminal, from 40 columns to
200, or as COLUMNS says; 80 elsewhere.)";

/// The exit status that a shell shows of a program which SIGPIPE ended (128 and the signal's
/// number), as most end whose reader goes away.
constexpr int reader_gone = 128 + SIGPIPE;

/// Nobody is left to hear where this cannot be written: the exit status has to do. Takes no memory,
/// of which there may be none left.
int report(std::string_view message, exit_status status) noexcept {
  if (message.find("error: ") == message.npos) print(stderr, "error: ");
  print(stderr, message);
  print(stderr, "\n");
  return static_cast<int>(status);
}

constexpr std::string_view out_of_memory = "out of memory; make the tensors or --frames smaller";

/// Where an exception can go no further, as within a library: a message.
[[noreturn]] void end_here() noexcept {
  try {
    if (const auto problem = std::current_exception()) std::rethrow_exception(problem);
  } catch (const std::bad_alloc&) {
    std::_Exit(report(out_of_memory, exit_status::run_failed));
  } catch (const std::exception& problem) {
    report("a library failed where nothing can be saved, maybe for want of memory:",
           exit_status::run_failed);
    std::_Exit(report(problem.what(), exit_status::run_failed));
  } catch (...) {
  }
  report("a fault in Graphline ended it; please report it with the command line",
         exit_status::run_failed);
  std::abort();  // a core file helps to find it
}

/// Opens what is closed of standard input, output and error, so that no file of ours gets its
/// number and with it what is printed. Not for writing: that fails, as where it is closed.
void occupy_standard_descriptors() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    if (::open("/dev/null", O_RDONLY) != descriptor) std::_Exit(1);  // nobody to be told
  }
}

/// Whether standard output is a pipe whose reader has gone, as `head` does when it has seen enough.
bool nobody_reads_output() {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&output, 1, 0) > 0 && (output.revents & POLLERR) != 0;
}

/// `status`, unless what was printed did not arrive: a script must not take half a table for all.
int delivered(int status) {
  const int code = std::fflush(stdout) == 0 ? 0 : errno;
  if (nobody_reads_output() && std::ferror(stdout) != 0) return reader_gone;
  if (status != static_cast<int>(exit_status::done)) return status;
  if (code == 0 && std::ferror(stdout) == 0) return status;
  const auto why = code == 0 ? "a part of it was lost" : reason(code);
  return report("cannot write to standard output: " + why, exit_status::run_failed);
}

/// Whether a word is an option, "--frames" or "-n", and not "-", a number or a value.
bool is_option(const std::string& word) {
  return word.starts_with("--") ||
         (word.size() > 1 && word[0] == '-' && std::isalpha(static_cast<unsigned char>(word[1])));
}

/// The names a word of the command line may have been meant as.
std::vector<std::string> known_words(const CLI::App& command, bool options) {
  std::vector<std::string> words;
  if (options) {
    for (const auto* option : command.get_options()) {
      for (const auto& name : option->get_lnames()) words.push_back("--" + name);
      for (const auto& name : option->get_snames()) words.push_back("-" + name);
    }
  } else {
    for (const auto* sub :
         command.get_subcommands([](const CLI::App* c) { return !c->get_group().empty(); })) {
      words.push_back(sub->get_name());
    }
  }
  return words;
}

/// What CLI11 says of a command line, in our words.
std::string reworded(const std::string& message) {
  if (const auto twice = message.find(": At Most 1 required"); twice != message.npos) {
    return message.substr(0, twice) + " was given more than once";
  }
  constexpr std::string_view lacking = ": 1 required ";
  constexpr std::string_view ending = " missing";
  if (const auto none = message.find(lacking); none != message.npos && message.ends_with(ending)) {
    const auto value = message.substr(none + lacking.size());
    return fmt::format("{} needs a value: {}", message.substr(0, none),
                       value.substr(0, value.size() - ending.size()));
  }
  if (message.starts_with("The following argument")) {
    auto words = message.substr(message.find(": ") + 2);
    // Of an option before the command CLI11 puts its value first.
    if (const auto option = words.find(" -"); option != words.npos) words.erase(0, option + 1);
    return quote(words, 200) + " was not expected";
  }
  return message;
}

/// A variable of a script that is not set looks like this: neither an option that was left out nor
/// a value.
void refuse_empty_values(const CLI::App& command) {
  for (const auto* option : command.get_options()) {
    for (const auto& value : option->results()) {
      if (value.empty()) throw input_error(option->get_name() + " was given an empty text");
    }
  }
  for (const auto* chosen : command.get_subcommands()) refuse_empty_values(*chosen);
}

/// A command line that CLI11 refused: its message, with the nearest known word.
int report_usage(const CLI::App& program, const CLI::ParseError& problem, int argc, char** argv) {
  const CLI::App* command = &program;
  if (!program.get_subcommands().empty()) command = program.get_subcommands().front();
  std::string message = reworded(problem.what());
  for (int i = 1; i < argc; ++i) {
    const std::string word(argv[i]);
    const bool option = is_option(word);
    const bool letter = option && !word.starts_with("--");
    const std::string name = letter ? word.substr(0, 2) : word.substr(0, word.find('='));
    if (!option && (command != &program || i != 1)) continue;
    auto words = known_words(*command, option);
    if (option && command != &program) {
      for (auto& known : known_words(program, option)) words.push_back(std::move(known));
    }
    if (std::find(words.begin(), words.end(), name) != words.end()) continue;
    message = fmt::format("unknown {} '{}'{}", option ? "option" : "command", name,
                          suggestion(name, words));
    break;
  }
  print(stderr,
        fmt::format("error: {}\nRun '{} --help' for the list.\n", message,
                    command == &program ? "graphline" : "graphline " + command->get_name()));
  return static_cast<int>(exit_status::bad_input);
}

int run_command(int argc, char** argv) {
  CLI::App program("Graphline: declare an AI pipeline in YAML, run it, see where the time goes.",
                   "graphline");
  program.set_version_flag("-V,--version", "graphline " + std::string(version()));
  program.require_subcommand(1);
  action chosen;
  add_color_option(program);  // before the commands, which take over that it may stand behind them
  add_run_command(program, chosen);
  add_check_command(program, chosen);
  add_inspect_command(program, chosen);
  add_compare_command(program, chosen);
  add_overhead_command(program, chosen);
  add_capacity_command(program, chosen);
  add_calibrate_command(program, chosen);
  add_roofline_command(program, chosen);
  add_report_command(program, chosen);
  add_diff_command(program, chosen);
  add_devices_command(program, chosen);
  add_schema_command(program, chosen);
  add_stages_command(program, chosen);
  add_manual_command(program, chosen);
  program.footer(closing_help);  // not earlier: commands would inherit it

  if (argc == 1) {
    print(stdout, program.help());
    return static_cast<int>(exit_status::bad_input);
  }
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    return program.exit(asked);  // --help and --version
  } catch (const CLI::ParseError& problem) {
    return report_usage(program, problem, argc, argv);
  }
  refuse_empty_values(program);
  end_on_interrupt();  // commands that measure take it over
  return static_cast<int>(chosen());
}

int run_program(int argc, char** argv) {
  try {
    return run_command(argc, argv);
  } catch (const output_closed&) {
    return reader_gone;
  } catch (const error& e) {
    return report(e.what(), e.status());
  } catch (const std::bad_alloc&) {
    return report(out_of_memory, exit_status::run_failed);
  } catch (const std::exception& e) {
    if (std::ferror(stdout) != 0 && nobody_reads_output()) return reader_gone;
    return report(reason_of(e), exit_status::run_failed);
  }
}

}  // namespace

CLI::App* add_command(CLI::App& program, const std::string& name, const std::string& headline) {
  return program.add_subcommand(name, headline);
}

}  // namespace graphline

int main(int argc, char** argv) {
  graphline::occupy_standard_descriptors();  // before anything is opened
  std::set_terminate(graphline::end_here);
  // A reader that goes away shows as a failed write and not as a death that leaves files unwritten.
  std::signal(SIGPIPE, SIG_IGN);
  graphline::remember_command_line(argv);
  return graphline::delivered(graphline::run_program(argc, argv));
}
