#include <signal.h>
#include <sys/prctl.h>

#include <CLI/App.hpp>
#include <cstdio>
#include <memory>
#include <optional>

#include "framework/report/store/trial_exchange.hpp"
#include "framework/run/experiment/trial_runner.hpp"
#include "tools/graphline/commands.hpp"
#include "tools/graphline/experiment_arguments.hpp"

namespace graphline {
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
