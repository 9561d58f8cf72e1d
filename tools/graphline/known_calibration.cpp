#include "tools/graphline/known_calibration.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "framework/analysis/roofline/ceilings.hpp"
#include "framework/base/error.hpp"
#include "framework/base/machine.hpp"
#include "framework/report/render/heading.hpp"
#include "framework/report/store/calibration_store.hpp"

namespace graphline {
namespace {

/// Returns the first line of a message, without the excerpt of the file.
std::string first_line(std::string_view message) {
  return std::string(message.substr(0, message.find('\n')));
}

std::string date_of(const calibration_record& record) {
  for (const auto& [name, value] : record.environment) {
    if (name == "date") return value;
  }
  return {};
}

}  // namespace

calibration_record saved_calibration(const device_properties& device) {
  const auto command = calibrate_command(device);
  std::optional<calibration_record> found;
  try {
    found = calibration_store(cache_folder()).find(device);
  } catch (const input_error& problem) {
    throw input_error(fmt::format("{}\nrun '{}' to make it again", problem.what(), command));
  }
  if (!found) {
    throw input_error(
        fmt::format("there is no calibration of {}; run '{}' first, which takes about a minute",
                    device_of(device), command));
  }
  return std::move(*found);
}

calibration as_held(const calibration_record& saved, const device_properties& device,
                    const std::vector<std::pair<std::string, std::string>>& environment) {
  return {date_of(saved), figures_of(saved), stale_reasons(saved, device, environment)};
}

std::optional<calibration> calibration_for(
    const device_properties& device,
    const std::vector<std::pair<std::string, std::string>>& environment,
    std::vector<std::string>& warnings) {
  std::optional<calibration_record> found;
  try {
    found = calibration_store(cache_folder()).find(device);
  } catch (const input_error& problem) {
    warnings.push_back(
        fmt::format("the calibration of {} cannot be read and is not used; run '{}' to make it "
                    "again ({})",
                    device_of(device), calibrate_command(device), first_line(problem.what())));
  }
  if (!found) return std::nullopt;
  auto held = as_held(*found, device, environment);
  if (!held.stale.empty()) {
    warnings.push_back(fmt::format("the calibration of {} may no longer hold: {}; run '{}'",
                                   device_of(device), fmt::join(held.stale, "; "),
                                   calibrate_command(device)));
  }
  return held;
}

void add_calibrations(run_record& record) {
  if (record.devices.size() < 2) {
    record.calibration = calibration_for(record.device, record.environment, record.warnings);
    return;
  }
  for (auto& device : record.devices) {
    std::vector<std::string> warnings;
    device.calibration = calibration_for(device.properties, record.environment, warnings);
    for (auto& warning : warnings) {
      // Equal devices have one calibration.
      if (std::ranges::count(record.warnings, warning) == 0)
        record.warnings.push_back(std::move(warning));
    }
  }
}

std::optional<calibration> calibration_for(const experiment_record& record,
                                           std::vector<std::string>& warnings) {
  const run_record* first = nullptr;
  for (const auto& trial : record.trials) {
    for (const auto& member : trial.members) {
      if (first == nullptr) first = &member;
      if (member.device.compute_threads != first->device.compute_threads) return std::nullopt;
      if (member.devices.size() > 1) return std::nullopt;
    }
  }
  if (first == nullptr) return std::nullopt;
  return calibration_for(first->device, first->environment, warnings);
}

}  // namespace graphline
