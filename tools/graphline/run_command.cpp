#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/file/locked_file.hpp"
#include "framework/base/json_reader.hpp"
#include "framework/base/machine.hpp"
#include "framework/base/random.hpp"
#include "framework/base/text_file.hpp"
#include "framework/base/utf8.hpp"
#include "framework/base/version.hpp"
#include "framework/campaign/predict/predictor.hpp"
#include "framework/campaign/ranks/rank_job.hpp"
#include "framework/device/builtin/builtin_devices.hpp"
#include "framework/plan/policies/policies.hpp"
#include "framework/ranks/mpi_communicator.hpp"
#include "framework/report/json/json_text.hpp"
#include "framework/report/json/record_json.hpp"
#include "framework/report/render/heading.hpp"
#include "framework/run/execute/session.hpp"
#include "framework/run/execute/tensor_data.hpp"
#include "tools/graphline/commands.hpp"
#include "tools/graphline/common_options.hpp"
#include "tools/graphline/interrupt.hpp"
#include "tools/graphline/known_calibration.hpp"
#include "tools/graphline/rank_support.hpp"
#include "tools/graphline/result_outputs.hpp"
#include "tools/graphline/run_results.hpp"
#include "tools/graphline/terminal.hpp"

namespace graphline {
namespace {

struct run_arguments {
  pipeline_options pipeline;
  run_results results;
  std::vector<std::string> sources;
  std::string tensors;
  std::string reference;
  bool kernels = false;
  bool each_frame = false;
};

void make_folder(const std::string& tensors) {
  std::error_code problem;
  std::filesystem::create_directories(tensors, problem);
  if (problem) {
    throw input_error(
        fmt::format("--save-tensors {}: cannot make the folder: {}", tensors, problem.message()));
  }
  if (::access(tensors.c_str(), W_OK | X_OK) != 0) {
    throw input_error(fmt::format("--save-tensors {}: cannot write there: {}", tensors,
                                  std::generic_category().message(errno)));
  }
}

/// Refuses result files that would replace a tensor file.
void keep_tensors_apart(const run_arguments& given) {
  namespace fs = std::filesystem;
  for (const auto& [option, path] : given.results.files.all()) {
    std::error_code none;  // set if the folder is missing
    const auto target = resolve_links(path);
    if (fs::path(target).extension() != ".npy") continue;
    if (!fs::equivalent(folder_of(target), given.tensors, none)) continue;
    throw input_error(fmt::format("{} {}: --save-tensors writes there; name another file", option,
                                  quote(path, 200)));
  }
}

result_outputs open_outputs(run_arguments& given, const plan& p) {
  result_outputs outputs(given.results.files, given.pipeline.files_of(p, given.sources));
  if (!given.tensors.empty()) {
    make_folder(given.tensors);
    keep_tensors_apart(given);
  }
  return outputs;
}

/// Ends the program after a second interrupt. Reports the complete frames, if there are any. Runs
/// in the thread of `run_watch`, because the current stage may never return.
[[noreturn]] void end_without_stage(run_arguments& given, result_outputs& outputs, session& s) {
  auto record = s.abandon_run();
  if (!record) end_by_interrupt();
  auto status = exit_status::interrupted;
  try {
    add_calibrations(*record);
    status = given.results.report(outputs, *record, true);
  } catch (const std::exception& e) {
    print_error(reason_of(e));
    status = exit_status::run_failed;
  }
  std::fflush(stdout);
  std::_Exit(static_cast<int>(status));
}

/// Takes the policy's expected times from the results that --from names; returns warnings.
/// @throws input_error if the policy uses none, or a result does not fit the plan
std::vector<std::string> take_expected_times(const std::vector<std::string>& files, const plan& p,
                                             const device_group& on, run_options& to) {
  if (files.empty()) return {};
  if (p.policy.kind == nullptr || !p.policy.kind->needs_times) {
    std::vector<std::string_view> users;
    for (const policy_kind& kind : builtin_policies()) {
      if (kind.needs_times) users.push_back(kind.name);
    }
    throw input_error(fmt::format(
        "--from: policy {} uses no expected times with strategy={}, graphs={}; omit --from, or use "
        "strategy=overlap, graphs=stage and one of the policies {}",
        quote(p.run.policy, 200), to_word(p.run.strategy), to_word(p.run.graphs),
        fmt::join(users, ", ")));
  }
  const auto sources = read_sources(files, "--from");
  to.expected = source_times(p, sources, {}).expected();
  to.expected_from = files;
  auto warnings = changed_sources(p, sources);
  std::ranges::copy(disturbed_sources(sources), std::back_inserter(warnings));
  for (const auto& [name, run] : sources) {
    for (const planned_stage& stage : p.stages) {
      const auto known = std::ranges::find(run.stages, stage.name, &stage_record::name);
      if (stage.on == side::cpu || known == run.stages.end() || known->on == side::cpu) continue;
      const device_properties& there = device_of(run, *known);
      if (runs_alike(there, on[stage.device].properties())) continue;
      warnings.push_back(fmt::format("{} was measured on {}; its stage times are used as they are",
                                     name, device_of(there)));
      break;
    }
  }
  return warnings;
}

/// Checks that each output has a reference. Outputs whose rows differ by frame are compared in
/// shape after the run.
void check_reference(const std::string& folder, const plan& p) {
  for (const auto& tensor : p.tensors) {
    if (folder.empty() || !tensor.output()) continue;
    const npy_file file(reference_file(folder, tensor.name));
    if (p.stages[tensor.producer].decided_per_frame()) continue;
    require_shape(file, tensor.name, tensor.type.shape);
  }
}

/// A run that is ready to begin.
struct prepared_run {
  open_devices devices;
  run_options options;
  std::vector<std::string> warnings;
  result_outputs outputs;
  session prepared;
};

/// @throws What opening the device and `session` throw
prepared_run prepare(run_arguments& given, const stop_request& stop, plan p, bool is_part = false) {
  given.results.gates.refuse([&](const gate& of) {
    // Another rank may have the stage, and rank 0 has the deadline.
    if (is_part && (!of.stage.empty() || of.metric == "late")) return std::string();
    return of.metric == "error" && given.reference.empty()
               ? std::string("the outputs have no reference, which --reference DIR names")
               : why_never_judged(of, p);
  });
  auto devices = given.pipeline.open_devices_of(p);
  run_options options{.reference = given.reference};
  check_reference(given.reference, p);
  auto warnings = take_expected_times(given.sources, p, devices.group(), options);
  if (given.each_frame) options.frame_outputs = given.tensors;
  auto outputs = open_outputs(given, p);
  add_checksums(p, outputs, given.sources);
  options.stop = &stop;
  session s(std::move(p), devices.group(), &stop);
  return {std::move(devices), std::move(options), std::move(warnings), std::move(outputs),
          std::move(s)};
}

exit_status run_pipeline(run_arguments& given) {
  const stop_request& stop = stop_on_interrupt();
  prepared_run ready = prepare(given, stop, given.pipeline.make_plan());
  run_options& options = ready.options;
  result_outputs& outputs = ready.outputs;
  session& s = ready.prepared;
  progress_line line(given.results.quiet);
  options.on_progress = [&](const progress& at) {
    line.show(at.warmup ? "warming up" : "measuring", at.done, at.total, "frames");
  };
  run_record record;
  {
    const run_watch watched(given.results.quiet, [&] { end_without_stage(given, outputs, s); });
    record = s.run(options);
  }
  line.erase();
  end_measuring("a frame was done",
                record.interrupted && record.frames.empty() && record.load.dropped.empty());
  add_calibrations(record);
  std::ranges::copy(ready.warnings, std::back_inserter(record.warnings));

  if (!given.tensors.empty() && !record.failure) {
    outputs.attempt([&] { s.save_tensors(given.tensors); });
  }
  const bool kernels = given.kernels && !record.failure && !record.interrupted;
  if (kernels) s.trace_operations(record, &stop);
  return given.results.report(outputs, record, record.interrupted || (kernels && stop.raised()));
}

// ---- Several ranks ------------------------------------------------------------------------------

/// Runs on this rank and, on rank 0, reports the runs of all.
exit_status run_on_ranks(run_arguments& given, communicator& messages,
                         const stop_request& interrupted) {
  const bool leads = messages.rank() == 0;
  if (!leads) {
    given.results.files.clear();
    given.results.quiet = true;
  }
  if (!given.tensors.empty()) given.tensors += fmt::format("/rank.{}", messages.rank());
  part_of_pipeline own;
  std::optional<prepared_run> ready;  // destroyed after `ranks`, whose thread may abandon the run
  rank_job ranks(messages, records_as_json(), interrupted);
  const auto refused = prepare_job(ranks, [&] {
    given.pipeline.choose_device_of_rank(messages.rank(), messages.local_rank());
    plan p = own.make(given.pipeline, messages, ranks.stop());
    const auto what = what_runs(p.pipeline, "file and settings", own.text());
    ready.emplace(prepare(given, ranks.stop(), std::move(p), own.is_part()));
    return what;
  });
  if (refused) return *refused;
  run_options& options = ready->options;
  result_outputs& outputs = ready->outputs;
  session& s = ready->prepared;
  const auto report = [&](ranks_record& record) {
    record.parts = own.is_part();
    return given.results.report(outputs, record);
  };
  ranks.if_stuck([&] { return s.abandon_run(); },
                 [&](ranks_record* record, const std::string& why) {
                   if (record == nullptr) {
                     print_error(why);
                   } else {
                     report(*record);
                   }
                 });
  progress_line line(given.results.quiet);
  options.before_frames = [&] { ranks.begin(); };
  options.after_frames = [&] { ranks.end(); };
  options.arrival_seed = s.planned().run.seed + static_cast<std::uint64_t>(messages.rank());
  options.on_progress = [&](const progress& at) {
    ranks.note_progress(at.warmup, at.done);
    line.show(at.warmup ? "warming up" : "measuring", at.done, at.total, "frames");
  };
  std::optional<ranks_record> all;
  auto status = exit_status::done;
  try {
    run_record record = s.run(options);
    line.erase();
    add_calibrations(record);
    for (auto& said : shared_with_ranks(messages, record.device)) {
      record.warnings.push_back(std::move(said));
    }
    std::ranges::copy(ready->warnings, std::back_inserter(record.warnings));
    try {
      if (!given.tensors.empty() && !record.failure) s.save_tensors(given.tensors);
    } catch (const error& e) {
      record.failure = e.what();
    }
    if (given.kernels && !record.failure && !record.interrupted) {
      s.trace_operations(record, &ranks.stop());
    }
    all = ranks.gather(record);
  } catch (const std::exception& e) {
    if (leads) print_error(reason_of(e));
    status = status_after(e);
    all = ranks.give_up(reason_of(e));
  }
  try {
    if (all) {
      const auto measured = [](const rank_record& r) { return r.run && !r.run->frames.empty(); };
      end_measuring("a frame was done",
                    all->interrupted && std::ranges::none_of(all->ranks, measured));
      const auto reported = report(*all);
      if (status == exit_status::done) status = reported;
    }
    outputs.finish();
  } catch (const std::exception& e) {
    print_error(reason_of(e));
    status = status_after(e);
  }
  return ranks.finish(status);
}

}  // namespace

void add_run_command(CLI::App& program, action& chosen) {
  auto* command = add_command(program, "run", "Run a pipeline and show where the time goes");
  auto given = std::make_shared<run_arguments>();
  given->pipeline.add_to(*command, settings_except({}));
  add_sources_option(*command, "--from", given->sources,
                     "As the policy's expected times, take the median stage times of");
  given->results.add_files_to(*command);
  auto* save = command
                   ->add_option("--save-tensors", given->tensors,
                                "Write inputs, weights and outputs as NumPy files")
                   ->type_name("DIR");
  command
      ->add_flag("--each-frame", given->each_frame,
                 "With --save-tensors: also write the outputs of each measured frame N, as\n"
                 "DIR/frame.N/output.NAME.npy")
      ->needs(save);
  command
      ->add_option("--reference", given->reference,
                   "Compare the outputs of the last frame with NumPy files, such as those of\n"
                   "--save-tensors or of another framework: output.NAME.npy or NAME.npy")
      ->type_name("DIR");
  command->add_flag("--kernels", given->kernels,
                    "Trace the operations of each layer, after the measured frames");
  given->results.add_gates_to(*command);
  command->callback([&chosen, given] {
    chosen = [given] {
      if (ranks_of_job() == 1) return run_pipeline(*given);
      return on_ranks([&](communicator& messages, const stop_request& interrupted) {
        return run_on_ranks(*given, messages, interrupted);
      });
    };
  });
}

}  // namespace graphline
