#include <fmt/format.h>

#include <algorithm>

#include "framework/analysis/run/summary.hpp"
#include "framework/report/describe/experiment_view.hpp"

namespace graphline::report {

namespace {

/// "p50 60.2 ms, -18.8 % (95 % interval -19.4 to -18.1 %)"; of late frames in points.
std::string words_of(const comparison& of, const std::string& metric) {
  const auto value = to_text({of.value, unit_of(of.figure)});
  const auto range = of.change_range();
  if (of.figure == figure::late) {
    auto text = fmt::format("{} {}, {:+.3g} points", metric, value, 100 * of.difference);
    if (!range) return text;
    return fmt::format("{} (95 % interval {:+.3g} to {:+.3g})", text, 100 * range->low,
                       100 * range->high);
  }
  estimate change{{of.change(), unit::change}, {}, {}};
  if (range) {
    change.low = range->low;
    change.high = range->high;
  }
  return fmt::format("{} {}, {}", metric, value, shown_value(change));
}

table sweep_table(const sweep& of, const experiment_record& record) {
  using enum unit;
  using p = const sweep_point&;
  auto made = table_of<sweep_point>(
      {"sweep",
       fmt::format("against {}: {}", of.key,
                   of.what ? "the device stages of the median frame"
                           : "the device stages, and the median frame end to end"),
       "text"},
      {{{"text", of.key}, [](p x) { return x.text; }},
       {data_column("configuration"),
        [&](p x) { return record.configurations[x.configuration].name; }},
       {data_column("value", none), [](p x) { return x.value; }},
       {{"flops", "FLOPs", flops, 0, "of a frame's device stages without copies"},
        [](p x) { return cell(x.flops, flops); }},
       {{"bytes", "bytes", bytes, 0, "likewise, read and written"},
        [](p x) { return cell(x.bytes, bytes); }},
       {{"intensity", "FLOP/B", flops_per_byte},
        [](p x) { return cell(x.intensity, flops_per_byte); }},
       {{"time", "p50", duration}, [](p x) { return cell(x.time, duration); }},
       {{"flops_per_second", "FLOP/s", flops_per_second},
        [](p x) { return cell(x.rate, flops_per_second); }},
       {{"roofline_time", "bound", duration, 0,
         "roofline time: the larger of bytes over bandwidth and FLOPs over rate, as the device was "
         "calibrated"},
        [](p x) { return cell(x.least, duration); }},
       {{"bound", "limit"}, [](p x) { return cell(x.by); }},
       {{"ratio", "ratio", ratio, 0, "p50 over bound"}, [](p x) { return cell(x.ratio, ratio); }}},
      of.points);
  made.titled = true;
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

}  // namespace

void add_sweep(document& to, const experiment_view& of) {
  if (!of.analysis.swept) return;
  const auto& swept = *of.analysis.swept;
  to.parts.push_back(facts{"swept",
                           "",
                           {{"parameter", "", swept.key},
                            {"time_is", "", swept.what ? to_word(*swept.what) : "end_to_end"}},
                           in_data});
  to.parts.push_back(sweep_table(swept, of.record));
  to.parts.push_back(chart_of(swept));
}

void add_comparisons_chart(document& to, const experiment_view& of) {
  comparisons_chart drawn{{}, of.record.how.margin};
  for (const auto& [word, what] : figure_words) {
    for (const auto& found : of.summary.comparisons) {
      if (found.figure != what) continue;
      auto& made = drawn.list.emplace_back();
      made.metric = figure_name(what, of.record.how.tail);
      made.name = of.labels.of(found.pair.what);
      made.reference = of.labels.of(found.pair.reference);
      made.change = found.change();
      if (const auto range = found.change_range()) {
        made.low = range->low;
        made.high = range->high;
        made.verdict = found.verdict;
      }
      made.words = words_of(found, made.metric);
    }
  }
  if (drawn.list.empty()) return;
  to.parts.push_back(
      chart{"comparisons_chart", "Comparisons",
            fmt::format("Changes against the baseline, of late frames in points, with their 95 % "
                        "intervals, by bootstrap over {} blocks; all hold together. An interval "
                        "between the dashed lines, within {:g} %, "
                        "means the same.",
                        of.summary.counted_blocks, 100 * of.record.how.margin),
            std::move(drawn)});
}

void add_trials_chart(document& to, const experiment_view& of) {
  trials_chart drawn;
  const auto members = of.labels.all();
  for (const auto& who : members) drawn.names.push_back(of.labels.of(who));
  for (const auto& trial : of.record.trials) {
    for (std::size_t m = 0; m < trial.members.size(); ++m) {
      if (trial.members[m].frames.empty()) continue;
      const configuration_member who{trial.configuration, m};
      const auto place = std::ranges::find(members, who) - members.begin();
      drawn.trials.push_back({static_cast<std::size_t>(place), trial.block, trial.begun,
                              lower_median(end_to_end_times(trial.members[m]))});
    }
  }
  if (drawn.trials.size() < 2) return;
  drawn.disturbed = of.summary.machine.affected_blocks;
  const auto& still = of.summary.machine.stood_still_blocks;
  drawn.disturbed.insert(drawn.disturbed.end(), still.begin(), still.end());
  to.parts.push_back(
      chart{"trials_chart", "Trials over time",
            "A mark is the median of a trial's frames against that of all trials of its "
            "configuration. Shaded: disturbed blocks (machine noise).",
            std::move(drawn)});
}

}  // namespace graphline::report
