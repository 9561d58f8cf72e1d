#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "framework/base/utf8.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/describe/experiment_view.hpp"
#include "framework/report/terminal/heading.hpp"

namespace graphline::report {

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
  if (how.repeat_affected) text += "; disturbed blocks are repeated";
  return text;
}

}  // namespace

std::string in_brief(const experiment_plan& planned, const std::vector<nanoseconds>& trial_times) {
  return fmt::format(
      "{}: {}, {} of {} each: about {}", printable(planned.name),
      counted(static_cast<std::int64_t>(planned.configurations.size()), "configuration"),
      counted(planned.how.trials, "trial"), frames_of(planned),
      rough_duration(time_of_all(planned, trial_times)));
}

document describe(const experiment_plan& planned, const std::vector<nanoseconds>& trial_times) {
  document made{"experiment", planned.name, planned.description, {}, {}, {}, ""};
  made.lines = {in_brief(planned, trial_times), planned.description};
  std::erase(made.lines, "");
  std::vector<experiment_configuration> configurations;
  for (const auto& one : planned.configurations) configurations.push_back(one.what);
  auto rows = id_table(experiment_labels(configurations), planned.pairs);
  rows.columns.insert(rows.columns.end() - 1, {"trial", "a trial", unit::duration});
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    auto& cells = rows.rows[i].cells;
    cells.insert(cells.end() - 1, quantity{static_cast<double>(trial_times[i]), unit::duration});
  }
  made.parts.push_back(std::move(rows));
  made.parts.push_back(note{rules(planned.how)});
  return made;
}

}  // namespace graphline::report
