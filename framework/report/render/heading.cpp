#include "framework/report/render/heading.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "framework/base/utf8.hpp"
#include "framework/spec/settings_table.hpp"

namespace graphline {

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string device_of(const device_properties& device) {
  auto text = device.backend;
  if (!device.name.empty()) text += ": " + printable(device.name);
  if (device.compute_threads > 0) {
    text += fmt::format(" ({})", counted(device.compute_threads, "compute thread"));
  }
  return text;
}

std::string subject_of(const run_record& record) {
  std::string on = device_of(record.device);
  for (std::size_t d = 0; d < record.devices.size(); ++d) {
    const device_record& device = record.devices[d];
    on = fmt::format("{}{} ({})", d == 0 ? "" : on + ", ", device.name,
                     device_of(device.properties));
  }
  return fmt::format("{} on {}", printable(record.pipeline), on);
}

std::string way_of(const settings& run, int cores) {
  auto text = fmt::format("{}, graphs={}, {} in flight, wait={}{}", to_word(run.strategy),
                          to_word(run.graphs), counted(run.in_flight, "frame"), to_word(run.wait),
                          run.priorities ? "" : ", priorities=off");
  for (const auto& [key, words] : special_settings(run)) text += ", " + words;
  if (const auto workers = workers_of(run, cores); !workers.empty()) text += ", " + workers;
  if (run.arrival != arrival::closed) text += ", " + arrival_of(run);
  return text;
}

std::vector<std::pair<std::string, std::string>> special_settings(const settings& run) {
  std::vector<std::pair<std::string, std::string>> list;
  each_setting([&](auto member, const setting_entry& of) {
    if (!of.omit_default || of.key == std::string_view("workers")) return;
    if (!applies(member, of, run)) return;
    list.emplace_back(of.key, fmt::format("{}={}", of.key, printable(written(run.*member))));
  });
  return list;
}

std::string workers_of(const settings& run, int cores) {
  if (!has_workers(run)) return "";
  if (run.workers > 0) return fmt::format("workers={}", run.workers);
  return cores > 0 ? fmt::format("workers={} (one per free core)", cores) : "";
}

std::string arrival_of(const settings& run) {
  auto text = std::string(to_word(run.arrival));
  if (run.arrival == arrival::trace && run.arrival_file) text += " " + printable(*run.arrival_file);
  if (run.rate) text += fmt::format(" {:.7g} frame/s", *run.rate);
  if (run.burst > 1) text += fmt::format(" in bursts of {}", run.burst);
  if (run.phase) text += ", phase=" + written(run.phase);
  if (run.jitter) text += ", jitter=" + written(run.jitter);
  return text;
}

std::string parameters_of(const std::vector<std::pair<std::string, std::string>>& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", printable(name), printable(value));
  }
  return text;
}

std::string predicted_from(const prediction_record& of) {
  std::string text =
      fmt::format("predicted from {} of {}: {}", counted(of.source_frames, "frame"),
                  fmt::join(of.sources, ", "), way_of(of.source_run, of.source_cores));
  for (const auto& [stage, factor] : of.scaled) {
    text += fmt::format("; time of {} x {}", printable(stage), printable(factor));
  }
  return text;
}

std::string most_waited(const run_record& record) {
  const auto most = record.load.longest_queue;
  const auto room = record.run.queue;
  auto text = fmt::format("at most {} waited at once", counted(most, "frame"));
  if (room > 0 && most > room) {
    text += fmt::format(", {} of them in the queue and {} outside it", room, most - room);
  }
  return text;
}

std::string_view short_name(measure what) noexcept {
  const auto word = to_word(what);
  return word.substr(0, word.rfind('_'));
}

}  // namespace graphline
