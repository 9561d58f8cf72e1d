#include <fmt/format.h>

#include <algorithm>

#include "framework/base/units.hpp"
#include "framework/report/describe/run_tables.hpp"
#include "framework/report/terminal/heading.hpp"

namespace graphline::report {

using enum unit;

namespace {

constexpr double least_share = 0.01;

/// Whether a row takes so little in every column that it need not stand alone.
bool is_small(const attribution_row& of, const attribution_summary& summary) {
  const auto little = [](double part, double whole) { return part < least_share * whole; };
  return little(of.all, summary.end_to_end.all) && little(of.typical, summary.end_to_end.typical) &&
         little(of.slowest, summary.end_to_end.slowest);
}

/// Few frames have none that are typical, to compare the slowest with.
bool has_groups(const run_record& record) {
  return record.frames.size() >= samples_needed(0.5);
}

std::string groups_text(const attribution_summary& summary) {
  const auto count = [](const std::vector<std::size_t>& frames) {
    return counted(static_cast<std::int64_t>(frames.size()), "frame");
  };
  return fmt::format("the {} around the median; slowest: 1 %, {}", count(summary.typical_frames),
                     count(summary.slowest_frames));
}

table attribution_table(const run_record& record, const attribution_summary& summary) {
  const bool groups = has_groups(record);
  const auto in_groups = groups ? everywhere : in_data;
  table made{"attribution",
             "Where the time of a frame goes",
             "",
             "",
             {{"name", "stage", {}, 0, "", shown},
              {"stage", "", {}, 0, "", in_data},
              {"what", "", {}, 0, "", in_data},
              {"goes_to", "goes to", {}, 0, "", shown},
              {"mean", "mean", duration, 2},
              {"typical", "typical", duration, 0, groups ? groups_text(summary) : "", in_groups},
              {"slowest", "slowest", duration, 0, "", in_groups},
              {"more", "more", duration, 0, "slowest minus typical", groups ? shown : in_data},
              {"of_more", "more %", change, 1, "", groups ? shown : in_data}},
             {}};
  made.titled = true;
  made.columns[7].is_signed = true;
  const double whole_more = summary.end_to_end.slowest - summary.end_to_end.typical;
  // Where slow frames are hardly slower there is nothing to take parts of.
  const bool parts = whole_more > least_share * summary.end_to_end.typical;
  const auto add = [&](std::string name, cell stage, cell what, std::string_view goes_to,
                       const auto& of) {
    const double more = of.slowest - of.typical;
    made.rows.push_back(
        {{std::move(name), std::move(stage), std::move(what), goes_to, quantity{of.all, duration},
          quantity{of.typical, duration}, quantity{of.slowest, duration}, quantity{more, duration},
          parts ? cell(quantity{more / whole_more, change}) : cell()}});
  };
  const auto small = std::count_if(summary.rows.begin(), summary.rows.end(),
                                   [&](const auto& one) { return is_small(one, summary); });
  attribution_row others;
  for (const auto& one : summary.rows) {
    const auto name = one.stage ? record.stages[*one.stage].name : "the frame";
    add(name, one.stage ? cell(name) : cell(), to_word(one.what), in_words(one.what), one);
    if (small < 2 || !is_small(one, summary)) continue;
    made.rows.back().where = in_data;
    others.all += one.all;
    others.typical += one.typical;
    others.slowest += one.slowest;
  }
  if (small > 1) {
    add(fmt::format("{} others", small), cell(), cell(), "under 1 % each", others);
    made.rows.back().where = shown;
  }
  add(summary.why_no_queue.empty() ? "end to end" : "begin to end", cell(), cell(), "",
      summary.end_to_end);
  made.rows.back().where = shown;
  return made;
}

}  // namespace

void add_attribution(document& to, const run_record& record, const attribution_summary& summary) {
  to.parts.push_back(attribution_table(record, summary));
  std::vector<nanoseconds> slowest(summary.slowest_frames.begin(), summary.slowest_frames.end());
  const auto time = [](double ns) { return quantity{ns, duration}; };
  to.parts.push_back(
      facts{"attributed",
            "",
            {{"why_no_queue", "", summary.why_no_queue, ""},
             {"mean", "", time(summary.end_to_end.all), ""},
             {"typical", "", time(summary.end_to_end.typical), ""},
             {"slowest", "", time(summary.end_to_end.slowest), ""},
             {"residual_mean", "", time(summary.residual.all), ""},
             {"residual_typical", "", time(summary.residual.typical), ""},
             {"residual_slowest", "", time(summary.residual.slowest), ""},
             {"residual_largest", "", time(static_cast<double>(summary.largest_residual)), ""},
             {"typical_frames", "", whole(summary.typical_frames.size()), ""},
             {"slowest_frames", "", std::move(slowest), ""},
             {"median_frame", "", whole(summary.median_frame), ""}},
            in_data});
  std::vector<std::string> path;
  for (const auto stage : summary.bound_of_median.stages) path.push_back(record.stages[stage].name);
  to.parts.push_back(facts{"lower_bound",
                           "",
                           {{"running", "", time(summary.running), ""},
                            {"this_schedule", "", cell(summary.bound, duration), ""},
                            {"any_schedule", "", cell(summary.bound_of_any, duration), ""},
                            {"limited_by", "", to_word(summary.bound_of_median.by), ""},
                            {"stages", "", std::move(path), ""}},
                           in_data});
  table on_path{"path",
                "On and off the critical path",
                "stage",
                "",
                {{"name", "stage"},
                 {"on_path", "on the path", duration, 0, "bound the frame, on average"},
                 {"off_path", "off the path", duration, 0, "hidden by overlap"},
                 {"share_of_frames", "of frames", share, 0, "that the stage bound"}},
                {},
                not_in_text};
  for (std::size_t i = 0; i < summary.stages.size(); ++i) {
    const auto& stage = summary.stages[i];
    on_path.rows.push_back({{record.stages[i].name, time(stage.on_path), time(stage.off_path),
                             quantity{stage.share_of_frames, share}}});
  }
  to.parts.push_back(std::move(on_path));
  if (!summary.why_no_queue.empty()) {
    to.parts.push_back(note{"without queue wait: " + summary.why_no_queue});
  }
  if (summary.largest_residual != 0) {
    to.parts.push_back(
        note{fmt::format("residual: rows overlap by up to {} in a frame, where the clocks disagree",
                         format_duration(static_cast<double>(summary.largest_residual)))});
  }
}

}  // namespace graphline::report
