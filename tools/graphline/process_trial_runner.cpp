#include "tools/graphline/process_trial_runner.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/report/store/stored_trials.hpp"
#include "tools/graphline/commands.hpp"

extern char** environ;

namespace graphline {
namespace {

std::string system_message(int code) {
  return std::generic_category().message(code);
}

/// A started process and the end of the pipe that its standard output goes to. Killed and waited
/// for when it goes.
class child_process {
 public:
  explicit child_process(std::vector<std::string> arguments) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
      throw run_error("cannot make a pipe for a trial's process: " + system_message(errno));
    }
    output_ = ends[0];
    std::vector<char*> raw;
    for (auto& argument : arguments) raw.push_back(argument.data());
    raw.push_back(nullptr);

    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    // A group of its own: Ctrl-C is for this process, which then ends the trial's.
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    const int code =
        ::posix_spawn(&id_, "/proc/self/exe", &actions, &attributes, raw.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    if (code != 0) {
      ::close(output_);
      throw run_error("cannot start a process for a trial: " + system_message(code));
    }
  }

  ~child_process() {
    if (output_ >= 0) ::close(output_);
    if (id_ <= 0) return;
    ::kill(id_, SIGKILL);
    static_cast<void>(wait());
  }
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;

  /// All that the process writes until it closes its output. Throws `interrupted_error` when `stop`
  /// is raised before that.
  std::string read_all(const stop_request* stop) {
    std::string text;
    std::vector<char> buffer(1 << 16);
    while (true) {
      if (stop != nullptr && stop->raised()) throw interrupted_error("interrupted in a trial");
      pollfd waiting{output_, POLLIN, 0};
      const int ready = ::poll(&waiting, 1, 100);
      if (ready < 0 && errno != EINTR) {
        throw run_error("cannot wait for a trial's process: " + system_message(errno));
      }
      if (ready <= 0) continue;
      const ssize_t count = ::read(output_, buffer.data(), buffer.size());
      if (count == 0) return text;
      if (count > 0) {
        text.append(buffer.data(), static_cast<std::size_t>(count));
      } else if (errno != EINTR) {
        throw run_error("cannot read from a trial's process: " + system_message(errno));
      }
    }
  }

  /// How it ended, as `waitpid` says.
  int wait() {
    int status = 0;
    while (::waitpid(id_, &status, 0) < 0 && errno == EINTR) {
    }
    id_ = -1;
    return status;
  }

 private:
  pid_t id_ = -1;
  int output_ = -1;
};

std::string ending_of(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("was ended by signal {} ({})", WTERMSIG(status),
                       ::strsignal(WTERMSIG(status)));
  }
  return fmt::format("ended with status {}", WEXITSTATUS(status));
}

class process_trial_runner final : public trial_runner {
 public:
  process_trial_runner(const experiment_arguments& options, const experiment_plan& planned)
      : options_(options), planned_(planned) {}

  std::vector<run_record> run(std::size_t configuration, const trial_request& request,
                              const stop_request* stop) override {
    std::vector<std::string> arguments = {"graphline",
                                          "trial",
                                          options_.path(),
                                          "--device",
                                          options_.device_name(),
                                          "--configuration",
                                          fmt::to_string(configuration),
                                          "--number",
                                          fmt::to_string(request.number)};
    if (request.frames)
      arguments.insert(arguments.end(), {"--frames", fmt::to_string(*request.frames)});
    if (request.warmup)
      arguments.insert(arguments.end(), {"--warmup", fmt::to_string(*request.warmup)});
    child_process child(std::move(arguments));
    const std::string text = child.read_all(stop);
    const int status = child.wait();
    const auto& name = planned_.configurations[configuration].what.name;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      // What was wrong, the process has said on the standard error that it shares with this one.
      throw run_error(
          fmt::format("configuration '{}': the process of a trial {}", name, ending_of(status)));
    }
    trial_exchange found = trial_exchange_from(text);
    if (found.files != planned_.files) {
      throw run_error(
          "the experiment's files have changed while it runs; restore them and go on with "
          "--resume");
    }
    return std::move(found.trial.members);
  }

 private:
  const experiment_arguments& options_;
  const experiment_plan& planned_;
};

}  // namespace

std::unique_ptr<trial_runner> make_process_trial_runner(const experiment_arguments& options,
                                                        const experiment_plan& planned) {
  return std::make_unique<process_trial_runner>(options, planned);
}

namespace {

struct trial_arguments {
  experiment_arguments experiment;
  std::size_t configuration = 0;
  std::uint64_t number = 0;
  std::optional<std::int64_t> frames;
  std::optional<std::int64_t> warmup;
};

exit_status run_trial(trial_arguments& given) {
  // Nobody would take the result when the process that asked for it is gone.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const experiment_plan planned = given.experiment.make_plan(false);
  if (given.configuration >= planned.configurations.size()) {
    throw input_error("--configuration: the experiment has fewer configurations");
  }
  device_set devices = given.experiment.open_devices(planned);
  const auto runner =
      make_trial_runner(planned, std::ref(devices), given.experiment.memory_budget());
  trial_exchange exchange{planned.files, {}};
  exchange.trial.configuration = given.configuration;
  exchange.trial.members =
      runner->run(given.configuration, {given.frames, given.warmup, given.number}, nullptr);
  std::fputs(text_of(exchange).c_str(), stdout);
  return exit_status::done;
}

}  // namespace

void add_trial_command(CLI::App& program, action& chosen) {
  auto* command = add_command(program, "trial", "Run one trial for 'graphline compare'");
  command->group("");  // not for people: `processes: fresh` starts it
  auto given = std::make_shared<trial_arguments>();
  given->experiment.add_to(*command);
  command->add_option("--configuration", given->configuration, "Which, counted from 0")->required();
  command->add_option("--number", given->number, "Of the trial, counted from 0");
  command->add_option("--frames", given->frames, "Instead of the configuration's own")
      ->check(CLI::PositiveNumber);
  command->add_option("--warmup", given->warmup, "Likewise")->check(CLI::NonNegativeNumber);
  command->callback([&chosen, given] { chosen = [given] { return run_trial(*given); }; });
}

}  // namespace graphline
