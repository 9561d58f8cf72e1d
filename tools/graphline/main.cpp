#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "framework/base/crash_report.hpp"
#include "framework/base/diagnostic.hpp"
#include "framework/base/error.hpp"
#include "framework/base/file/file_trouble.hpp"
#include "framework/base/utf8.hpp"
#include "framework/base/version.hpp"
#include "framework/ranks/mpi_communicator.hpp"
#include "tools/graphline/commands.hpp"
#include "tools/graphline/interrupt.hpp"
#include "tools/graphline/terminal.hpp"

namespace graphline {
namespace {

constexpr const char* closing_help = R"(
Start here:
  graphline check PIPELINE.yaml      the plan, without running it
  graphline inspect PIPELINE.yaml    parameters, FLOPs and bytes of each layer
  graphline run PIPELINE.yaml        run it and see where the time goes
  graphline overhead PIPELINE.yaml   the cost of each timing method
  graphline compare EXPERIMENT.yaml  strategies and settings compared, with verdicts
  graphline capacity PIPELINE.yaml   the highest frame rate that it sustains
  graphline calibrate                the best rates of a device, saved for other commands
  graphline roofline PIPELINE.yaml   stages and layers compared with their roofline time
  graphline report RESULT.json       a saved result, as a page with --html FILE
  graphline diff OLD.json NEW.json   what changed between two saved results
  graphline schema pipeline          the JSON Schema of pipeline files, for editors

Exit status: 0 done; 1 the run failed; 2 the command line or a file is wrong;
3 the device is not available; 4 a --fail-if gate failed;
130 interrupted, with what was measured reported;
141 standard output was closed by its reader, such as head; files are complete.

--color is also accepted after a command. Tables fit the width of the terminal, or COLUMNS, from
40 to 200 columns; elsewhere 80.)";

/// Exit status that a shell reports for a program ended by SIGPIPE.
constexpr int reader_gone = 128 + SIGPIPE;

/// Prints an error and returns its exit status. Allocates nothing, because memory may be exhausted.
int report(std::string_view message, exit_status status) noexcept {
  print_error(message);
  return static_cast<int>(status);
}

constexpr std::string_view out_of_memory = "out of memory; make the tensors or --frames smaller";

/// Terminate handler: reports an exception that nothing can catch, for example in a library's
/// thread.
[[noreturn]] void end_here() noexcept {
  remove_unfinished_files();
  try {
    if (const auto problem = std::current_exception()) std::rethrow_exception(problem);
  } catch (const std::bad_alloc&) {
    std::_Exit(report(out_of_memory, exit_status::run_failed));
  } catch (const std::exception& problem) {
    report("a library failed where nothing can be saved, maybe out of memory:",
           exit_status::run_failed);
    std::_Exit(report(problem.what(), exit_status::run_failed));
  } catch (...) {
  }
  report("a fault in Graphline ended it; please report it with the command line",
         exit_status::run_failed);
  std::abort();
}

std::atomic<bool> has_ended{false};

/// Exit handler: reports that a library called exit(). For example, libgomp prints a reason and
/// exits if it cannot start a thread.
void report_exit_by_library() noexcept {
  if (has_ended) return;
  std::fflush(stdout);
  remove_unfinished_files();
  std::_Exit(
      report("a library ended the program, see its message above; if it could not start a "
             "thread, lower 'threads' or raise the limit of threads (ulimit -u)",
             exit_status::run_failed));
}

/// Opens standard input, output and error if they are closed. Otherwise a result file could get one
/// of these descriptors and receive printed text. Opens them read-only, so that writes fail.
void occupy_standard_descriptors() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    if (::open("/dev/null", O_RDONLY) != descriptor) std::_Exit(1);
  }
}

/// Returns true if standard output is a pipe that its reader has closed. `head` closes pipes early.
bool output_is_closed() {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&output, 1, 0) > 0 && (output.revents & POLLERR) != 0;
}

/// Returns `status`, or an error if standard output is incomplete. Scripts can then detect a table
/// that was cut off.
int status_after_output(int status) {
  const int code = std::fflush(stdout) == 0 ? 0 : errno;
  if (output_is_closed() && std::ferror(stdout) != 0) return reader_gone;
  if (status != static_cast<int>(exit_status::done)) return status;
  if (code == 0 && std::ferror(stdout) == 0) return status;
  const auto why = code == 0 ? "a part of it was lost" : errno_text(code);
  return report("cannot write to standard output: " + why, exit_status::run_failed);
}

std::vector<std::string> command_names(const CLI::App& program) {
  std::vector<std::string> names;
  for (const auto* sub :
       program.get_subcommands([](const CLI::App* c) { return !c->get_group().empty(); })) {
    names.push_back(sub->get_name());
  }
  return names;
}

std::string help_hint(const std::string& command) {
  return fmt::format("Run '{} --help' for the list.", command);
}

/// Returns the options ("--frames") and commands that may be suggested for an unknown word.
std::vector<std::string> known_words(const CLI::App& command) {
  std::vector<std::string> words;
  for (const auto* option : command.get_options()) {
    for (const auto& name : option->get_lnames()) words.push_back("--" + name);
  }
  for (auto& name : command_names(command)) words.push_back(std::move(name));
  return words;
}

/// Refuses empty values, which often come from unset variables in scripts.
void refuse_empty_values(const CLI::App& command) {
  for (const auto* option : command.get_options()) {
    for (const auto& value : option->results()) {
      if (value.empty()) throw input_error(option->get_name() + " was given an empty text");
    }
  }
  for (const auto* chosen : command.get_subcommands()) refuse_empty_values(*chosen);
}

/// Reports a command line that CLI11 refused. Prints the first unknown word and the nearest known
/// word; without an unknown word, prints CLI11's message.
int report_usage(const CLI::App& program, const CLI::ParseError& problem, int argc, char** argv) {
  const bool chosen = !program.get_subcommands().empty();
  const CLI::App* command = chosen ? program.get_subcommands().front() : &program;
  auto known = known_words(*command);
  if (chosen) {
    for (const auto& word : known_words(program)) known.push_back(word);
  }
  std::string message = problem.what();
  for (int i = 1; i < argc; ++i) {
    const std::string word(argv[i]);
    const std::string name = word.substr(0, word.find('='));
    const bool option = word.starts_with("--");
    if (!option && (chosen || i > 1)) continue;
    if (std::ranges::find(known, name) != known.end()) continue;
    message = fmt::format("unknown {} {}{}", option ? "option" : "command", quote(name),
                          suggestion(name, known));
    break;
  }
  const auto asked = chosen ? "graphline " + command->get_name() : "graphline";
  print(stderr, fmt::format("error: {}\n{}\n", message, help_hint(asked)));
  return static_cast<int>(exit_status::bad_input);
}

/// Adds `help`: `graphline help run` is the same as `graphline run --help`.
void add_help_command(CLI::App& program, action& chosen) {
  auto* command = add_command(program, "help", "Show what a command does and its options");
  auto of = std::make_shared<std::string>();
  command->add_option("COMMAND", *of, "A command, such as run");
  command->callback([&program, &chosen, of] {
    chosen = [&program, of] {
      const auto known = command_names(program);
      if (!of->empty() && std::ranges::find(known, *of) == known.end()) {
        throw input_error(fmt::format("unknown command {}{}\n{}", quote(*of),
                                      suggestion(*of, known), help_hint("graphline")));
      }
      const CLI::App* asked = of->empty() ? &program : program.get_subcommand(*of);
      // asked->help() would print the help of the chosen command, which is `help`.
      const std::string name = of->empty() ? "graphline" : "graphline " + *of;
      print(stdout, asked->get_formatter()->make_help(asked, name, CLI::AppFormatMode::Normal));
      return exit_status::done;
    };
  });
}

/// Returns true if the chosen command may open a device.
bool opens_device(const CLI::App& program) {
  return program.get_subcommands().front()->get_option_no_throw("--device") != nullptr;
}

/// Makes idle OpenMP threads of the `host` device sleep, because spinning would take cores from CPU
/// stages. libgomp reads its policy when it is loaded, so the program executes itself again with
/// OMP_WAIT_POLICY=PASSIVE, unless a policy is set. Call before anything is opened, printed or
/// read, since a pipeline may come from a pipe.
void make_openmp_passive(char** command_line) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  ::setenv("OMP_WAIT_POLICY", "PASSIVE", 1);
  std::error_code unknown;
  // The link is resolved, because the process would otherwise be named `exe`.
  const auto program = std::filesystem::read_symlink("/proc/self/exe", unknown);
  ::execv(program.c_str(), command_line);
  // If execv fails, for example without /proc, idle threads spin. Results stay the same.
}

int run_command(int argc, char** argv) {
  CLI::App program("Graphline: declare an AI pipeline in YAML, run it, see where the time goes.",
                   "graphline");
  program.set_version_flag("-V,--version", "graphline " + std::string(version()));
  program.require_subcommand(1);
  action chosen;
  add_color_option(program);  // first, because commands inherit `fallthrough`
  for (auto* add : all_commands) add(program, chosen);
  add_help_command(program, chosen);
  program.footer(closing_help);  // last, because commands would inherit the footer

  if (argc == 1) {
    print(stdout, program.help());
    return static_cast<int>(exit_status::bad_input);
  }
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    return program.exit(asked);  // the command line was --help or --version
  } catch (const CLI::ParseError& problem) {
    return report_usage(program, problem, argc, argv);
  }
  if (const auto name = program.get_subcommands().front()->get_name();
      name != "run" && name != "compare" && ranks_of_job() > 1) {
    if (!leads_job()) return static_cast<int>(exit_status::done);
    throw input_error(
        fmt::format("only 'run' and 'compare' work on several ranks; start 'graphline {}' without "
                    "MPI's launcher",
                    name));
  }
  if (opens_device(program)) make_openmp_passive(argv);
  refuse_empty_values(program);
  end_on_interrupt();  // commands that measure replace this
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
    if (std::ferror(stdout) != 0 && output_is_closed()) return reader_gone;
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
  // If a reader closes its pipe, or a file reaches the limit of the shell (ulimit -f), the write
  // fails and the program can still write its other files.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  graphline::report_crashes();
  std::atexit(graphline::report_exit_by_library);
  const int status = graphline::status_after_output(graphline::run_program(argc, argv));
  graphline::has_ended = true;
  return status;
}
