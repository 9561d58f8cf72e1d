#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>

#include "framework/analysis/experiment/overhead.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/json/overhead_json.hpp"
#include "framework/report/terminal/overhead_table.hpp"
#include "framework/run/experiment/overhead_experiment.hpp"
#include "tools/graphline/commands.hpp"
#include "tools/graphline/interrupt.hpp"
#include "tools/graphline/number_check.hpp"
#include "tools/graphline/pipeline_options.hpp"
#include "tools/graphline/progress_line.hpp"
#include "tools/graphline/result_outputs.hpp"
#include "tools/graphline/terminal_look.hpp"

namespace graphline {
namespace {

struct overhead_arguments {
  pipeline_options pipeline;
  std::int64_t trials = overhead_options().blocks;
  std::int64_t frames = 0;
  std::string json;
  bool quiet = false;
};

/// On standard error, whatever becomes of the table: trials that failed; and warnings where no
/// table has them.
void tell_trouble(const overhead_record& record, bool no_table) {
  for (const auto& trial : record.trials) {
    if (!trial.record.failure) continue;
    print(stderr, fmt::format("error: under timing {}: {}\n", to_word(trial.record.run.timing),
                              printable(*trial.record.failure)));
  }
  if (no_table) print_warnings(summarize(record).warnings);
}

exit_status measure_overhead(overhead_arguments& given) {
  const stop_request& stop = stop_on_interrupt();
  plan p = given.pipeline.make_plan();
  const auto device = given.pipeline.open_device(p);
  const auto expected =
      given.frames > 0 ? expected_overhead_json_bytes(given.trials, given.frames) : 0;
  result_outputs outputs({{"--json", given.json, json_beginning, expected}},
                         given.pipeline.files_of(p));

  session s(std::move(p), *device, &stop);
  progress_line line(given.quiet);
  overhead_options options;
  options.blocks = given.trials;
  options.frames_per_trial = given.frames;
  options.order_seed = s.planned().run.seed;
  options.stop = &stop;
  options.on_progress = [&line](const progress& at) {
    line.show("comparing timing methods", at.done, at.total, "trials");
  };
  const overhead_record record = run_overhead(s, options);
  line.erase();
  end_before_first("a trial was done", record.interrupted && record.trials.empty());

  if (!given.quiet) outputs.show(overhead_table(record, look_of(outputs.for_people())));
  tell_trouble(record, given.quiet);
  outputs.write("--json", [&](text_sink& to) { to.append(overhead_json(record)); });
  outputs.finish();
  if (!record.trials.empty() && record.trials.back().record.failure) {
    return exit_status::run_failed;
  }
  return record.interrupted ? exit_status::interrupted : exit_status::done;
}

}  // namespace

void add_overhead_command(CLI::App& program, action& chosen) {
  auto* command =
      program.add_subcommand("overhead", "Show what each timing method costs on a pipeline");
  auto given = std::make_shared<overhead_arguments>();
  given->pipeline.add_to(*command,
                         {"strategy", "graphs", "in_flight", "wait", "priorities", "warmup", "seed",
                          "threads", "arrival", "rate", "queue", "when_full"});
  command->add_option("--trials", given->trials, "Trials of each method, in random order")
      ->type_name("N")
      ->check(whole_number_from(1, 10000))
      ->capture_default_str();
  command
      ->add_option("-n,--frames", given->frames,
                   "Frames of a trial (default: about a quarter of a second of them, 3 to 45)")
      ->type_name("N")
      ->check(whole_number_from(1, 1'000'000));
  command->add_option("--json", given->json, "Write the result (- for standard output)")
      ->type_name("FILE");
  add_quiet_option(*command, given->quiet);
  command->callback([&chosen, given] { chosen = [given] { return measure_overhead(*given); }; });
}

}  // namespace graphline
