#include "tools/graphline/target_device.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "framework/analysis/roofline/ceilings.hpp"
#include "framework/base/diagnostic.hpp"
#include "framework/base/error.hpp"
#include "framework/base/machine.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/store/calibration_store.hpp"
#include "framework/report/store/known_devices.hpp"
#include "framework/report/store/record_reader.hpp"

namespace graphline {
namespace {

std::string known_names() {
  const auto names = known_device_names();
  return fmt::format("{}", fmt::join(names, ", "));
}

calibration_record read_target(const std::string& on) {
  if (on.ends_with(".json")) return read_calibration(on);
  if (auto known = known_device(on)) return std::move(*known);
  throw input_error(
      fmt::format("--on {}: unknown device{}; expected {}, or a FILE.json that 'graphline "
                  "calibrate --json' wrote on the device",
                  quote(on, 200), suggestion(on, known_device_names(), 0), known_names()));
}

std::vector<ceiling_figure> public_ceilings(const std::string& on, const device_properties& of) {
  if (const auto known = known_device(of.name)) return figures_of(*known);
  throw input_error(
      fmt::format("--on {}: the source ran on {}, of which no public figures are known (known: "
                  "{}); calibrate both devices and use --on FILE.json with the calibration of "
                  "the other",
                  quote(on, 200), of.name, known_names()));
}

std::vector<ceiling_figure> measured_ceilings(const std::string& on, const run_record& source) {
  if (source.calibration) return source.calibration->ceilings;
  const auto saved = calibration_store(cache_folder()).find(source.device);
  if (saved) return figures_of(*saved);
  throw input_error(
      fmt::format("--on {}: its ceilings are measured, and there is no calibration of {}, the "
                  "source's device; run '{}' there and measure the source again",
                  quote(on, 200), source.device.name, calibrate_command(source.device)));
}

}  // namespace

other_device target_device(const std::string& on, const run_record& source) {
  if (source.devices.size() > 1) {
    throw input_error(
        fmt::format("--on {}: the source ran on {} devices, and stage times are converted between "
                    "pipelines with one",
                    quote(on, 200), source.devices.size()));
  }
  const calibration_record target = read_target(on);
  for (const device_properties* const device : {&source.device, &target.device}) {
    if (device->backend != "host") continue;
    throw input_error(
        fmt::format("--on {}: {} is a 'host' device, whose times tell nothing about a GPU; use a "
                    "source and a device of 'cuda'",
                    quote(on, 200), device->name));
  }
  const bool is_public = !origin_of_figures(target).empty();
  return {target.device, figures_of(target),
          is_public ? public_ceilings(on, source.device) : measured_ceilings(on, source),
          is_public};
}

}  // namespace graphline
