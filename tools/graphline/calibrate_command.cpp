#include <CLI/App.hpp>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framework/base/machine.hpp"
#include "framework/campaign/calibrate/calibration.hpp"
#include "framework/device/builtin/builtin_devices.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/render.hpp"
#include "framework/report/store/calibration_store.hpp"
#include "stages/builtin.hpp"
#include "tools/graphline/commands.hpp"
#include "tools/graphline/common_options.hpp"
#include "tools/graphline/interrupt.hpp"
#include "tools/graphline/result_outputs.hpp"
#include "tools/graphline/terminal.hpp"

namespace graphline {
namespace {

struct calibrate_arguments {
  std::string device = "auto";
  int threads = 0;
  std::optional<double> clock_mhz;
  result_files files;
  bool quiet = false;
};

std::string json_of(const calibration_record& record, const calibrate_arguments& given) {
  return text_by([](text_sink& to, const report::document& of) { report::write_json(to, of); },
                 report::describe(record, {given.clock_mhz, {}}));
}

calibration_record measure_ceilings(device& d, const stop_request& stop, bool quiet) {
  const auto stages = builtin_stages();
  progress_line line(quiet);
  calibration_options options;
  options.stop = &stop;
  options.on_progress = [&](const std::string& what, std::int64_t done, std::int64_t total) {
    line.show(what, done, total, "measurements");
  };
  return calibrate(stages, d, options);
}

exit_status measure_and_keep(const calibrate_arguments& given) {
  const stop_request& stop = stop_on_interrupt();
  const auto device = builtin_devices().open({given.device, given.threads});
  if (given.clock_mhz && device->properties().backend == "host") {
    throw input_error("--clock applies to GPU theoretical peaks; omit it with --device host");
  }
  const calibration_store store(cache_folder());
  result_outputs outputs(given.files, {store.path_of(device->properties())});
  auto kept = store.open(device->properties());
  const auto record = measure_ceilings(*device, stop, given.quiet);
  end_measuring("a ceiling was measured", record.interrupted && record.ceilings.empty());
  std::string kept_in;
  // Keeps the previous calibration if this one is incomplete.
  if (!record.interrupted) {
    outputs.attempt([&] {
      kept.commit(json_of(record, given));
      kept_in = kept.path();
    });
  }
  outputs.show(report::describe(record, {given.clock_mhz, kept_in}), given.quiet);
  outputs.write("--json", [&](text_sink& to) { to.append(json_of(record, given)); });
  outputs.finish();
  return exit_status_of(false, record.interrupted);
}

}  // namespace

void add_calibrate_command(CLI::App& program, action& chosen) {
  auto* command = add_command(
      program, "calibrate", "Measure the best rates of a device and save them for other commands");
  auto given = std::make_shared<calibrate_arguments>();
  add_device_option(*command, given->device);
  command
      ->add_option("--threads", given->threads,
                   "Compute threads of the host device (0: half the cores)")
      ->type_name("N")
      ->check(in_range(0, 1024));
  command
      ->add_option("--clock", given->clock_mhz,
                   "Core clock for a GPU's theoretical peaks (default: its highest)")
      ->type_name("MHZ")
      ->check(CLI::Range(1.0, 100'000.0).description(""));
  given->files.add_json(*command);
  add_quiet_option(*command, given->quiet);
  command->footer(
      "It takes about a minute; keep the machine otherwise idle. The result is saved in the "
      "folder\n"
      "'calibrations' of GRAPHLINE_CACHE, else of ~/.cache/graphline; 'run', 'compare' and\n"
      "'roofline' use it. FILE may be - for standard output. Ctrl-C shows the ceilings measured "
      "so\n"
      "far and saves nothing.");
  command->callback([&chosen, given] { chosen = [given] { return measure_and_keep(*given); }; });
}

}  // namespace graphline
