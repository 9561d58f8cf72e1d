#include "framework/report/describe/experiment_view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>

#include "framework/analysis/stats/distribution.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/heading.hpp"

namespace graphline::report {

experiment_view::experiment_view(const experiment_record& of, const experiment_analysis& with)
    : record(of), analysis(with), summary(with.summary), labels(of.configurations) {
  several_at_once = std::ranges::any_of(of.configurations, [](const auto& configuration) {
    return configuration.members.size() > 1;
  });
}

bool experiment_view::is_baseline(const configuration_member& who) const {
  return std::ranges::find(record.pairs, who, &compared_pair::reference) != record.pairs.end();
}

std::vector<compared_member> experiment_view::compared() const {
  std::vector<compared_member> result;
  std::vector<compared_member> others;
  for (const auto& who : labels.all()) {
    if (is_baseline(who)) {
      result.push_back({who, nullptr, !result.empty()});
      for (const auto& pair : record.pairs) {
        if (pair.reference == who) result.push_back({pair.what, &pair});
      }
    } else if (std::ranges::find(record.pairs, who, &compared_pair::what) == record.pairs.end()) {
      others.push_back({who});
    }
  }
  if (!others.empty()) others.front().apart = !result.empty();
  result.insert(result.end(), others.begin(), others.end());
  return result;
}

member_columns experiment_view::names() const {
  using m = const compared_member&;
  member_columns columns;
  if (several_at_once) {
    columns.push_back({{"pipeline", "pipeline"}, [this](m x) {
                         return record.configurations[x.who.configuration].members[x.who.member];
                       }});
  }
  if (labels.by_id()) {
    columns.push_back(
        {{"id", "id"}, [](m x) { return experiment_labels::id(x.who.configuration); }});
  } else if (labels.named()) {
    columns.push_back({{"configuration", "configuration"},
                       [this](m x) { return labels.name(x.who.configuration); }});
  } else {
    for (std::size_t i = 0; i < labels.keys().size(); ++i) {
      const auto& key = labels.keys()[i];
      columns.push_back(
          {{key, key}, [this, i](m x) { return labels.values(x.who.configuration)[i]; }});
    }
  }
  return columns;
}

bool experiment_view::has_figures(const table& made) const {
  const auto first = static_cast<std::ptrdiff_t>(names().size());
  return std::ranges::any_of(made.rows, [first](const row& line) {
    return std::any_of(line.cells.begin() + first, line.cells.end(), [](const cell& one) {
      return one.number() || std::holds_alternative<span_of>(one.value) ||
             std::holds_alternative<judgment>(one.value);
    });
  });
}

std::string experiment_view::short_name(const configuration_member& who) const {
  const auto cells = row_of({who}, names()).cells;
  std::string text;
  for (std::size_t i = several_at_once ? 1 : 0; i < cells.size(); ++i) {
    text += (text.empty() ? "" : " ") + shown_value(cells[i]);
  }
  return text;
}

table id_table(const experiment_labels& labels, const std::vector<compared_pair>& pairs) {
  table made{"ids", "Configurations", "id", "", {{"id", "id"}}, {}, shown};
  if (labels.named()) made.columns.push_back({"name", "configuration"});
  for (const auto& key : labels.keys()) made.columns.push_back({key, key});
  made.columns.push_back({"compared_with", "compared with"});
  for (std::size_t c = 0; c < labels.size(); ++c) {
    row line{{experiment_labels::id(c)}};
    if (labels.named()) line.cells.push_back(labels.name(c));
    for (const auto& value : labels.values(c)) line.cells.push_back(unless_empty(value));
    std::vector<std::string> references;
    bool baseline = false;
    for (const auto& [what, reference] : pairs) {
      auto id = experiment_labels::id(reference.configuration);
      const bool is_new = std::ranges::find(references, id) == references.end();
      if (what.configuration == c && is_new) references.push_back(std::move(id));
      baseline = baseline || reference.configuration == c;
    }
    line.cells.push_back(!references.empty() ? cell(fmt::format("{}", fmt::join(references, ", ")))
                         : baseline          ? cell("baseline")
                                             : cell());
    made.rows.push_back(std::move(line));
  }
  return made;
}

unit unit_of(figure what) {
  if (what == figure::late) return unit::share;
  return what == figure::throughput ? unit::frames_per_second : unit::duration;
}

cell change_cell(const std::optional<interval>& range) {
  return range ? cell(span_of{range->low, range->high, unit::change}) : cell();
}

cell verdict_cell(verdict what, figure of) {
  const auto is = what == verdict::faster   ? judgment::kind::good
                  : what == verdict::slower ? judgment::kind::bad
                                            : judgment::kind::faint;
  return judgment{std::string(verdict_word(what, of)), is};
}

// ---- What an experiment will do -----------------------------------------------------------------

namespace {

/// "45 s", "1 min 20 s", "2 h 5 min", "3 h": to the second, minute.
std::string rough_duration(double ns) {
  const auto seconds = static_cast<std::int64_t>(std::ceil(ns / 1e9));
  if (seconds < 60) return fmt::format("{} s", seconds);
  const auto in_two = [](std::int64_t large, const char* unit, std::int64_t small,
                         const char* rest) {
    const auto text = fmt::format("{} {}", large, unit);
    return small == 0 ? text : fmt::format("{} {} {}", text, small, rest);
  };
  if (seconds < 3600) return in_two(seconds / 60, "min", seconds % 60, "s");
  return in_two(seconds / 3600, "h", seconds % 3600 / 60, "min");
}

/// Blocks that begin before the time limit, the first in any case.
std::int64_t blocks_in_time(const experiment_plan& planned, nanoseconds block) {
  const auto limit = planned.how.time_limit;
  if (!limit || block == 0) return planned.how.trials;
  return std::min(planned.how.trials, (*limit - 1) / block + 1);
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
  if (how.repeat_affected) text += "; disturbed blocks are repeated";
  return text;
}

}  // namespace

std::vector<std::string> forewarnings(const experiment_plan& planned) {
  std::vector<std::string> texts;
  const auto trials = planned.how.trials;
  const auto blocks = static_cast<std::int64_t>(least_blocks);
  if (!planned.pairs.empty() && trials < blocks) {
    texts.push_back(fmt::format("trials: {} gives no intervals and no verdicts, which need {}",
                                trials, blocks));
  }
  const auto needed = static_cast<std::int64_t>(samples_needed(planned.how.tail));
  std::optional<std::int64_t> fewest;
  for (const auto& configuration : planned.configurations) {
    for (const auto& member : configuration.members) {
      fewest = std::min(fewest.value_or(member.run.frames), member.run.frames);
    }
  }
  if (fewest && trials * *fewest < needed) {
    const auto tail = percentile_name(planned.how.tail);
    texts.push_back(fmt::format(
        "tail: {} needs {} frames of a configuration, and {} of {} are {}: no {} and no "
        "verdict on it; {} give one, or {} a trial",
        tail, needed, counted(trials, "trial"), counted(*fewest, "frame"), trials * *fewest, tail,
        counted((needed + *fewest - 1) / *fewest, "trial"),
        counted((needed + trials - 1) / trials, "frame")));
  }
  return texts;
}

std::string in_brief(const experiment_plan& planned, const std::vector<nanoseconds>& trial_times) {
  const auto block = std::accumulate(trial_times.begin(), trial_times.end(), nanoseconds{0});
  const auto blocks = blocks_in_time(planned, block);
  return fmt::format("{}: {}, {}{} each: about {}", printable(planned.name),
                     counted(planned.configurations.size(), "configuration"),
                     blocks < planned.how.trials ? "at most " : "",
                     counted(planned.how.trials, "trial"),
                     rough_duration(static_cast<double>(block) * static_cast<double>(blocks)));
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
    cells.insert(cells.end() - 1, cell(trial_times[i], unit::duration));
  }
  made.parts.push_back(std::move(rows));
  made.parts.push_back(note{rules(planned.how)});
  add_warnings(made.findings, forewarnings(planned));
  return made;
}

}  // namespace graphline::report
