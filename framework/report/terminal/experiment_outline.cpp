#include "framework/report/terminal/experiment_outline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "framework/base/quantity.hpp"
#include "framework/base/units.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/terminal/experiment_rows.hpp"
#include "framework/report/terminal/heading.hpp"

namespace graphline {
namespace {

/// "45 s", "1 min 20 s", "2 h 5 min": to the second, minute.
std::string rough_duration(double ns) {
  const auto seconds = static_cast<std::int64_t>(std::ceil(ns * 1e-9));
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {} min", seconds / 3600, seconds % 3600 / 60);
}

double time_of_all(const experiment_plan& planned, const std::vector<nanoseconds>& trial_times) {
  const auto block = std::accumulate(trial_times.begin(), trial_times.end(), nanoseconds{0});
  return static_cast<double>(block) * static_cast<double>(planned.how.trials);
}

/// "45 frames", "30 to 300 frames".
std::string frames_of(const experiment_plan& planned) {
  std::int64_t least = planned.configurations.front().members.front().run.frames;
  std::int64_t most = least;
  for (const auto& configuration : planned.configurations) {
    for (const plan& p : configuration.members) {
      least = std::min(least, p.run.frames);
      most = std::max(most, p.run.frames);
    }
  }
  return least == most ? counted(most, "frame") : fmt::format("{} to {} frames", least, most);
}

std::string rules(const experiment_settings& how) {
  std::string text = fmt::format("{} of each configuration, in random order (seed {})",
                                 counted(how.trials, "trial"), how.seed);
  if (how.narrow_to) {
    text += fmt::format("; fewer when every interval is within {:.3g} %", 100 * *how.narrow_to);
  }
  if (how.time_limit) {
    text +=
        fmt::format("; none begins after {}", rough_duration(static_cast<double>(*how.time_limit)));
  }
  if (how.fresh_processes) text += "; each in a process of its own";
  if (how.repeat_affected) text += "; blocks in which the machine was not steady are repeated";
  return text;
}

}  // namespace

std::string experiment_in_brief(const experiment_plan& planned,
                                const std::vector<nanoseconds>& trial_times, const look& as) {
  return paragraph(fmt::format("{}: {}, {} of {} each: about {}", printable(planned.name),
                               counted(static_cast<std::int64_t>(planned.configurations.size()),
                                       "configuration"),
                               counted(planned.how.trials, "trial"), frames_of(planned),
                               rough_duration(time_of_all(planned, trial_times))),
                   0, as);
}

std::string experiment_outline(const experiment_plan& planned,
                               const std::vector<nanoseconds>& trial_times, const look& as) {
  std::string text = experiment_in_brief(planned, trial_times, as);
  if (!planned.description.empty()) text += paragraph(printable(planned.description), 0, as);
  text += '\n';
  const auto longest = *std::max_element(trial_times.begin(), trial_times.end());
  const auto unit = unit_for(static_cast<double>(longest));
  std::vector<experiment_configuration> configurations;
  std::vector<std::string> times;
  for (std::size_t i = 0; i < planned.configurations.size(); ++i) {
    configurations.push_back(planned.configurations[i].what);
    times.push_back(in_unit(static_cast<double>(trial_times[i]), unit));
  }
  auto columns = compared_with(planned.pairs, configurations.size());
  columns.insert(columns.begin(), {{fmt::format("a trial ({})", unit.name)}, std::move(times)});
  text += legend_of(experiment_labels(configurations), columns, as) + "\n";
  text += paragraph(rules(planned.how), 0, as);
  return text;
}

}  // namespace graphline
