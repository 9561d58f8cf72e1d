#include <fmt/format.h>

#include <algorithm>

#include "framework/base/units.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/describe/experiment_view.hpp"
#include "framework/report/json/json_text.hpp"

namespace graphline::report {

namespace {

using enum unit;

template <class T>
cell whole(T number) {
  return quantity{static_cast<double>(number), none};
}

// ---- A sweep ------------------------------------------------------------------------------------

table sweep_table(const sweep& of, const experiment_record& record) {
  table made{"sweep",
             fmt::format("against {}: {}", of.key,
                         of.what ? "the device stages of the median frame"
                                 : "the device stages, and the median frame end to end"),
             "text",
             "",
             {{"text", of.key},
              {"configuration", "", {}, 0, "", in_data},
              {"value", "", none, 0, "", in_data},
              {"flops", "FLOPs", flops, 0, "of a frame's device stages without copies"},
              {"bytes", "bytes", bytes, 0, "likewise, read and written"},
              {"intensity", "FLOP/B", flops_per_byte},
              {"time", "p50", duration},
              {"flops_per_second", "FLOP/s", flops_per_second},
              {"roofline_time", "bound", duration, 0,
               "roofline time: the larger of bytes over bandwidth and FLOPs over rate, as the "
               "device was calibrated"},
              {"bound", "limit"},
              {"ratio", "ratio", ratio, 0, "p50 over bound"}},
             {}};
  made.titled = true;
  for (const auto& p : of.points) {
    made.rows.push_back(
        {{p.text, record.configurations[p.configuration].name, whole(p.value), cell(p.flops, flops),
          cell(p.bytes, bytes), cell(p.intensity, flops_per_byte), cell(p.time, duration),
          cell(p.rate, flops_per_second), cell(p.least, duration),
          p.by ? cell(to_word(*p.by)) : cell(), cell(p.ratio, ratio)}});
  }
  return made;
}

chart chart_of(const sweep& of) {
  sweep_chart drawn{of.key, {}, {}, {}};
  double longest = 0;
  for (const auto& p : of.points) {
    drawn.at.push_back(p.value);
    drawn.texts.push_back(p.text);
    longest = std::max({longest, p.time.value_or(0), of.what ? p.least.value_or(0) : 0});
  }
  const auto unit = unit_for(longest);
  const auto line = [&](std::string name, std::optional<double> sweep_point::*value, double size) {
    sweep_chart::line made{std::move(name), {}};
    for (const auto& p : of.points) {
      made.values.push_back(p.*value ? std::optional(*(p.*value) / size) : std::nullopt);
    }
    return made;
  };
  // Two values show no course.
  const auto add = [&](const std::string& title, std::vector<sweep_chart::line> lines) {
    std::erase_if(lines, [](const auto& one) {
      const auto known = std::ranges::count_if(one.values, [](const auto& v) { return !!v; });
      return static_cast<std::size_t>(known) < least_sweep_points;
    });
    if (!lines.empty()) drawn.panels.push_back({title, std::move(lines)});
  };
  add("FLOP/B", {line("FLOP/B", &sweep_point::intensity, 1)});
  std::vector<sweep_chart::line> times = {line("p50", &sweep_point::time, unit.nanoseconds)};
  // Of the whole frame it is no bound.
  if (of.what) times.push_back(line("roofline time", &sweep_point::least, unit.nanoseconds));
  add(fmt::format("p50 {}", unit.name), std::move(times));
  return {"sweep_chart", "Sweep", "", std::move(drawn)};
}

// ---- Every figure -------------------------------------------------------------------------------

/// A configuration, and below it each of its pipelines.
struct figures_row {
  const experiment_configuration* configuration = nullptr;
  std::size_t number = 0;
  const member_summary* member = nullptr;  ///< null for the configuration
};

std::vector<named_value> deadline_of(const deadline_summary& of) {
  std::vector<named_value> list = {{"limit_ms", quantity{milliseconds(of.limit), none}},
                                   {"missed", quantity{static_cast<double>(of.missed), none}}};
  const auto add = [&](const char* key, const std::optional<nanoseconds>& time) {
    if (time) list.push_back({key, quantity{milliseconds(*time), none}});
  };
  add("median_late_ms", of.median_late);
  add("worst_late_ms", of.worst_late);
  return list;
}

sampled samples_of(const std::optional<distribution>& times) {
  return {times ? std::make_shared<const distribution>(*times) : nullptr};
}

const std::vector<column_of<figures_row>>& figure_columns() {
  using r = const figures_row&;
  // What a row of the other level does not have is left out of it.
  const auto of_configuration = [](const char* key, cell (*value)(r)) {
    column_of<figures_row> made{{key, ""}, value};
    made.is.optional = true;
    return made;
  };
  const auto of_member = of_configuration;
  static const std::vector<column_of<figures_row>> columns = {
      {{"name", ""}, [](r x) -> cell { return x.member ? x.member->name : x.configuration->name; }},
      of_configuration(
          "id", [](r x) { return x.member ? cell() : cell(experiment_labels::id(x.number)); }),
      of_configuration("assignments",
                       [](r x) {
                         return x.member ? cell()
                                         : parameters_fact(x.configuration->assignments).value;
                       }),
      of_member("trials", [](r x) { return x.member ? whole(x.member->trials) : cell(); }),
      of_member("end_to_end",
                [](r x) { return x.member ? cell(samples_of(x.member->end_to_end)) : cell(); }),
      of_member("tail_ms",
                [](r x) {
                  return x.member && x.member->tail
                             ? cell(quantity{milliseconds(*x.member->tail), none})
                             : cell();
                }),
      of_member("stddev_over_trials_ms",
                [](r x) {
                  return x.member && x.member->between_trials
                             ? cell(quantity{milliseconds(*x.member->between_trials), none})
                             : cell();
                }),
      of_member("trial_medians_ns",
                [](r x) {
                  if (!x.member) return cell();
                  const auto& medians = x.member->trial_medians;
                  return cell(whole_numbers(medians.begin(), medians.end()));
                }),
      of_member(
          "throughput",
          [](r x) { return x.member ? cell(x.member->throughput, frames_per_second) : cell(); }),
      of_member("due", [](r x) { return x.member ? whole(x.member->due) : cell(); }),
      of_member("dropped", [](r x) { return x.member ? whole(x.member->dropped) : cell(); }),
      of_member("deadline",
                [](r x) {
                  return x.member && x.member->deadline ? cell(deadline_of(*x.member->deadline))
                                                        : cell();
                }),
      of_member("device_bytes",
                [](r x) { return x.member ? whole(x.member->device_bytes) : cell(); }),
      of_member("cores", [](r x) { return x.member ? cell(x.member->cores, none) : cell(); })};
  return columns;
}

table configuration_table(const experiment_view& of) {
  const auto& columns = figure_columns();
  table made{"configurations", "", "configuration", "member", columns_of(columns), {}, in_data};
  for (std::size_t c = 0; c < of.record.configurations.size(); ++c) {
    const auto& configuration = of.record.configurations[c];
    made.rows.push_back(row_of(figures_row{&configuration, c, nullptr}, columns));
    for (const auto& member : of.summary.configurations[c].members) {
      made.rows.push_back(row_of(figures_row{&configuration, c, &member}, columns, 1));
    }
  }
  return made;
}

table stage_times(const experiment_view& of) {
  table made{"stages",
             "",
             "stage",
             "",
             {{"stage", ""},
              {"configuration", ""},
              {"member", ""},
              {"on", ""},
              {"measure", ""},
              {"times", ""}},
             {},
             in_data};
  for (const auto& who : of.labels.all()) {
    for (const auto& stage : of.of(who).stages) {
      made.rows.push_back(
          {{stage.name, of.record.configurations[who.configuration].name, of.of(who).name,
            to_word(stage.on), stage.what ? cell(key_of(*stage.what)) : cell(),
            stage.what ? cell(samples_of(stage.times)) : cell()}});
    }
  }
  return made;
}

/// A table of comparisons, which begin with what is compared with what.
table pair_table(std::string key, std::initializer_list<const char*> columns) {
  table made{std::move(key), "", "configuration", "", {}, {}, in_data};
  for (const char* name : {"configuration", "member", "reference", "reference_member"}) {
    made.columns.push_back({name, ""});
  }
  for (const char* name : columns) made.columns.push_back({name, ""});
  return made;
}

std::vector<cell> pair_cells(const experiment_record& record, const compared_pair& pair) {
  const auto& what = record.configurations[pair.what.configuration];
  const auto& reference = record.configurations[pair.reference.configuration];
  return {what.name, what.members[pair.what.member], reference.name,
          reference.members[pair.reference.member]};
}

cell range_cell(const std::optional<interval>& range, double size = 1) {
  return range ? cell(span_of{range->low / size, range->high / size, none}) : cell();
}

table comparison_table(const experiment_view& of) {
  auto made = pair_table(
      "comparisons", {"figure", "unit", "value", "reference_value", "difference",
                      "difference_interval", "ratio", "ratio_interval", "verdict", "more_trials"});
  for (const auto& found : of.summary.comparisons) {
    row line{pair_cells(of.record, found.pair)};
    const bool time = found.figure != figure::throughput;
    const double size = time ? 1e6 : 1;
    line.cells.insert(
        line.cells.end(),
        {to_word(found.figure), time ? "ms" : "frame/s", whole(found.value / size),
         whole(found.reference / size), whole(found.difference / size),
         range_cell(found.difference_range, size), whole(found.ratio),
         range_cell(found.ratio_range), to_word(found.verdict), cell(found.more_trials, none)});
    made.rows.push_back(std::move(line));
  }
  return made;
}

table stage_comparison_table(const experiment_view& of) {
  auto made = pair_table("stage_comparisons",
                         {"stage", "difference_ms", "ratio", "ratio_interval", "verdict"});
  for (const auto& found : of.summary.stage_comparisons) {
    row line{pair_cells(of.record, found.pair)};
    line.cells.insert(line.cells.end(), {of.of(found.pair.what).stages[found.stage].name,
                                         whole(found.difference / 1e6), whole(found.ratio),
                                         range_cell(found.ratio_range), to_word(found.verdict)});
    made.rows.push_back(std::move(line));
  }
  return made;
}

facts state_of(const experiment_view& of) {
  return {"",
          "",
          {{"complete_blocks", "", whole(of.summary.complete_blocks), ""},
           {"counted_blocks", "", whole(of.summary.counted_blocks), ""},
           {"trials_left_out", "", whole(of.summary.trials_left_out), ""},
           {"stopped", "", of.record.stopped, ""},
           {"interrupted", "", of.record.interrupted, ""},
           {"failure", "", of.record.failure ? cell(*of.record.failure) : cell(), ""}},
          in_data};
}

facts machine_of(const steadiness& machine) {
  const auto& blocks = machine.affected_blocks;
  return {"steadiness",
          "",
          {{"drift", "", cell(machine.drift, unit::none), ""},
           {"affected_blocks", "", whole_numbers(blocks.begin(), blocks.end()), ""}},
          in_data};
}

}  // namespace

void add_sweep(document& to, const experiment_view& of) {
  if (!of.analysis.swept) return;
  const auto& swept = *of.analysis.swept;
  to.parts.push_back(facts{"swept",
                           "",
                           {{"parameter", "", swept.key, ""},
                            {"time_is", "", swept.what ? key_of(*swept.what) : "end_to_end", ""}},
                           in_data});
  to.parts.push_back(sweep_table(swept, of.record));
  to.parts.push_back(chart_of(swept));
}

void add_data(document& to, const experiment_view& of) {
  to.parts.push_back(state_of(of));
  to.parts.push_back(machine_of(of.summary.machine));
  to.parts.push_back(configuration_table(of));
  to.parts.push_back(stage_times(of));
  to.parts.push_back(comparison_table(of));
  to.parts.push_back(stage_comparison_table(of));
}

}  // namespace graphline::report
