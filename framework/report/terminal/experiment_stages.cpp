#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "framework/analysis/experiment/comparison_text.hpp"
#include "framework/base/quantity.hpp"
#include "framework/base/units.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/terminal/experiment_parts.hpp"

namespace graphline {

namespace {

using enum text_table::align;
constexpr std::size_t stage_width = 20;

const member_summary& member_of(const experiment_summary& summary,
                                const configuration_member& who) {
  return summary.configurations[who.configuration].members[who.member];
}

/// Whether a stage takes longer or shorter than in the baseline by a part of its frame that could
/// matter: what changes by less is seldom worth a word, be it several times what it was.
bool matters(const experiment_summary& summary, const stage_comparison& found) {
  constexpr double least_part = 0.01;
  if (found.verdict != verdict::faster && found.verdict != verdict::slower) return false;
  const auto& frame = member_of(summary, found.pair.reference).end_to_end;
  return !frame || std::abs(found.difference) >= least_part * static_cast<double>(frame->median());
}

/// The stages of one pipeline in all configurations in which it runs and in which they are timed;
/// of many only where a stage changed, with what these are compared with.
class stages_of_pipeline {
 public:
  stages_of_pipeline(const experiment_record& record, const experiment_summary& summary,
                     const experiment_rows& rows, const std::string& pipeline, const look& as)
      : summary_(summary), rows_(rows), as_(as) {
    std::vector<const stage_comparison*> changes;
    for (const auto& found : summary.stage_comparisons) {
      if (matters(summary, found)) changes.push_back(&found);
    }
    const bool all = !rows.labels().many();
    for (const auto& who : rows.members()) {
      const auto& members = record.configurations[who.configuration].members;
      if (members[who.member] != pipeline) continue;
      bool timed = false;
      // A parameter may give a configuration stages that others lack.
      for (const auto& stage : of(who).stages) {
        if (!p50(who, stage.name)) continue;
        timed = true;
        const auto changed = [&](const auto* one) {
          return member_of(summary, one->pair.what).stages[one->stage].name == stage.name;
        };
        if (std::ranges::find(names_, stage.name) != names_.end()) continue;
        if (all || std::ranges::any_of(changes, changed)) names_.push_back(stage.name);
      }
      const auto concerns = [&](const auto* one) {
        return one->pair.what == who || one->pair.reference == who;
      };
      if (timed && (all || std::ranges::any_of(changes, concerns))) where_.push_back(who);
      timed_ = timed_ || timed;
    }
  }

  /// Whether any stage is timed.
  bool timed() const noexcept { return timed_; }

  std::string text() const {
    if (names_.empty()) return "";
    if (where_.size() <= few_configurations) {
      const auto table = stage_by_row();
      if (table.width() <= as_.width) return table.text(as_);
    }
    return configuration_by_row();
  }

 private:
  /// Without the pipeline, which is the same everywhere.
  std::vector<text_table::column> name_columns() const {
    auto columns = rows_.name_columns();
    if (rows_.several_at_once()) columns.erase(columns.begin());
    return columns;
  }
  std::vector<std::string> name_cells(const configuration_member& who) const {
    auto cells = rows_.name_cells(who);
    if (rows_.several_at_once()) cells.erase(cells.begin());
    return cells;
  }

  const member_summary& of(const configuration_member& who) const {
    return member_of(summary_, who);
  }

  std::optional<double> p50(const configuration_member& who, const std::string& name) const {
    for (const auto& stage : of(who).stages) {
      if (stage.name != name || !stage.times) continue;
      const auto value = stage.times->percentile(0.5);
      return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
    }
    return std::nullopt;
  }

  /// Whether all times of a stage are times of the same thing, so that one unit suits them: a
  /// launch beside what was launched would read as next to nothing.
  bool of_one_kind(const std::string& name) const {
    std::optional<measure> first;
    for (const auto& who : where_) {
      for (const auto& stage : of(who).stages) {
        if (stage.name != name || !stage.times) continue;
        if (first && first != stage.what) return false;
        first = stage.what;
      }
    }
    return true;
  }

  /// A stage's name with the unit of its times, where they share one.
  std::string heading_of(const std::string& name, std::string_view form) const {
    const auto shown = table_name(name, as_.room(stage_width));
    if (!of_one_kind(name)) return shown;
    return fmt::format(fmt::runtime(form), shown, unit_of(name).name);
  }

  std::string cell(const configuration_member& who, const std::string& name) const {
    const auto time = p50(who, name);
    if (of_one_kind(name)) return in_unit(time, unit_of(name));
    return time ? format_duration(*time) : "-";
  }

  time_unit unit_of(const std::string& name) const {
    double most = 0;
    for (const auto& who : where_) most = std::max(most, p50(who, name).value_or(0));
    return unit_for(most);
  }

  /// The names of configurations stand over each other, a row for each thing that varies.
  text_table stage_by_row() const {
    const auto names = name_columns();
    std::vector<std::vector<std::string>> name_rows(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) name_rows[i].push_back(names[i].heading);
    for (const auto& who : where_) {
      const auto cells = name_cells(who);
      for (std::size_t i = 0; i < cells.size(); ++i) name_rows[i].push_back(cells[i]);
    }
    std::vector<text_table::column> columns;
    for (const auto& cell : name_rows.front()) columns.push_back({cell});
    columns.front().align = left;
    text_table table(std::move(columns));
    for (std::size_t i = 1; i < name_rows.size(); ++i) table.add_row(std::move(name_rows[i]));
    for (const auto& name : names_) {
      std::vector<std::string> cells = {heading_of(name, "{} ({})")};
      for (const auto& who : where_) cells.push_back(cell(who, name));
      table.add_row(std::move(cells));
    }
    return table;
  }

  /// As many tables as it takes for lines that fit.
  std::string configuration_by_row() const {
    std::string text;
    for (std::size_t first = 0; first < names_.size();) {
      std::size_t count = 1;
      auto table = configuration_by_row(first, count);
      while (first + count < names_.size()) {
        auto wider = configuration_by_row(first, count + 1);
        if (wider.width() > as_.width) break;
        table = std::move(wider);
        ++count;
      }
      text += (text.empty() ? "" : "\n") + table.text(as_);
      first += count;
    }
    return text;
  }

  /// Of `count` stages from the first one on.
  text_table configuration_by_row(std::size_t first, std::size_t count) const {
    const auto names = std::span(names_).subspan(first, count);
    auto columns = name_columns();
    for (const auto& name : names) {
      const auto align = of_one_kind(name) ? text_table::align::number : left;
      columns.push_back({heading_of(name, "{} {}"), align});
    }
    text_table table(std::move(columns));
    for (const auto& who : where_) {
      auto cells = name_cells(who);
      for (const auto& name : names) cells.push_back(cell(who, name));
      table.add_row(std::move(cells));
    }
    return table;
  }

  const experiment_summary& summary_;
  const experiment_rows& rows_;
  const look& as_;
  bool timed_ = false;
  std::vector<configuration_member> where_;
  std::vector<std::string> names_;
};

/// Stages that changed against one of the baselines, the largest changes first.
std::string changed_stages(const experiment_summary& summary, const experiment_rows& rows,
                           const configuration_member& baseline, bool only_one, const look& as) {
  std::vector<std::pair<double, std::string>> changes;
  for (const auto& found : summary.stage_comparisons) {
    if (found.pair.reference != baseline || !matters(summary, found)) continue;
    const auto& who = found.pair.what;
    changes.emplace_back(
        std::abs(found.difference),
        fmt::format("{} in {} {} %", printable(member_of(summary, who).stages[found.stage].name),
                    printable(rows.labels().of(who)), percent_change(found.ratio)));
  }
  if (changes.empty()) return "";
  std::stable_sort(changes.begin(), changes.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> items;
  for (auto& [size, text] : changes) items.push_back(std::move(text));
  const auto name = only_one ? "the baseline" : printable(rows.labels().of(baseline));
  return paragraph(fmt::format("stages that changed against {}: {}", name, listed(items)), 2, as);
}

std::string changed_stages(const experiment_summary& summary, const experiment_rows& rows,
                           const look& as) {
  std::vector<configuration_member> baselines;
  for (const auto& who : rows.members()) {
    if (rows.is_baseline(who)) baselines.push_back(who);
  }
  std::string text;
  for (const auto& baseline : baselines) {
    text += changed_stages(summary, rows, baseline, baselines.size() == 1, as);
  }
  return text;
}

}  // namespace

std::string stage_tables(const experiment_record& record, const experiment_summary& summary,
                         const experiment_rows& rows, const look& as) {
  std::vector<std::string> pipelines;
  for (const auto& configuration : record.configurations) {
    for (const auto& name : configuration.members) {
      if (std::find(pipelines.begin(), pipelines.end(), name) == pipelines.end()) {
        pipelines.push_back(name);
      }
    }
  }
  const bool many = rows.labels().many();
  std::string text;
  for (const auto& name : pipelines) {
    const stages_of_pipeline stages(record, summary, rows, name, as);
    if (!stages.timed()) continue;
    if (!text.empty()) text += '\n';
    const auto title = rows.several_at_once() ? "stages of " + printable(name) : "stages";
    const auto table = stages.text();
    if (table.empty()) {
      text += paragraph(title +
                            ": none is known to have changed; their times are in the result "
                            "(--json, --html)",
                        2, as);
      continue;
    }
    text += paragraph(title + (many ? " that changed" : "") + ", the median of each", 2, as,
                      tone::heading);
    text += table;
  }
  return text.empty() || many ? text : text + changed_stages(summary, rows, as);
}

}  // namespace graphline
