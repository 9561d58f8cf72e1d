#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "framework/analysis/ranks/ranks_summary.hpp"
#include "framework/analysis/stats/histogram.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/describe/experiment_view.hpp"
#include "framework/report/render/heading.hpp"

namespace graphline::report {

namespace {

using enum unit;

struct rank_row {
  const rank_record* rank = nullptr;
  const run_summary* summary = nullptr;  ///< null for a lost rank
  std::optional<nanoseconds> began;
  std::optional<nanoseconds> clock_error;
};

std::vector<rank_row> rows_of(const ranks_record& record, const ranks_analysis& analysis) {
  std::vector<rank_row> rows;
  for (std::size_t r = 0; r < record.ranks.size(); ++r) {
    const rank_record& rank = record.ranks[r];
    rank_row row{&rank, nullptr, analysis.began[r], {}};
    if (analysis.ranks[r]) row.summary = &analysis.ranks[r]->summary;
    if (rank.run && has_begun(*rank.run)) {
      const auto clock = clock_of(rank, first_begin(*rank.run));
      if (clock) row.clock_error = clock->error;
    }
    rows.push_back(row);
  }
  return rows;
}

const std::optional<distribution>& times_of(const rank_row& row) {
  static const std::optional<distribution> none;
  return row.summary == nullptr ? none : row.summary->end_to_end;
}

std::optional<double> settled_mean(const distribution& of) {
  return of.why_unsettled().empty() ? std::optional(of.mean()) : std::nullopt;
}

cell percentile_cell(const std::optional<distribution>& times, double p) {
  return times ? cell(times->percentile(p), duration) : cell();
}

/// Returns a row for each rank, and one for all frames.
table rank_table(const ranks_record& record, const ranks_analysis& analysis) {
  using r = const rank_row&;
  const auto of_times = [](auto figure) {
    return [figure](r x) {
      const auto& times = times_of(x);
      return times ? cell(figure(*times), duration) : cell();
    };
  };
  const auto percentile = [](double p) {
    return [p](r x) { return percentile_cell(times_of(x), p); };
  };
  auto made = table_of<rank_row>(
      {"ranks", "Ranks: end to end", "rank"},
      {{{"rank", "rank"}, [](r x) { return fmt::to_string(x.rank->rank); }},
       {{"host", "on", {}, 4}, [](r x) { return x.rank->host; }},
       {{"device", "device", {}, 6},
        [](r x) { return x.rank->run ? cell(device_of(x.rank->run->device)) : cell(); }},
       {{"frames", "frames", none, 3},
        [](r x) { return x.rank->run ? cell(x.rank->run->frames.size()) : cell(); }},
       {{.key = "mean", .title = "mean", .in = duration, .rank = 2, .compared = true},
        of_times(settled_mean)},
       {{.key = "p50", .title = "p50", .in = duration, .compared = true}, percentile(0.5)},
       {{.key = "p95", .title = "p95", .in = duration, .rank = 1}, percentile(0.95)},
       {{.key = "p99", .title = "p99", .in = duration, .rank = 3}, percentile(0.99)},
       {{.key = "max", .title = "max", .in = duration, .rank = 2},
        of_times([](const distribution& d) { return d.max(); })},
       {{.key = "throughput", .title = "frame/s", .in = frames_per_second, .compared = true},
        [](r x) {
          return x.summary == nullptr ? cell() : cell(x.summary->throughput, frames_per_second);
        }},
       {{.key = "began",
         .title = "began",
         .in = duration,
         .rank = 5,
         .help = "its first frame, after that of rank 0, on the clock of rank 0",
         .is_signed = true},
        [](r x) { return cell(x.began, duration); }},
       {{.key = "clock_error",
         .title = "+-",
         .in = duration,
         .rank = 5,
         .help = "error of its clock's offset"},
        [](r x) { return cell(x.clock_error, duration); }}},
      rows_of(record, analysis));
  if (const auto& all = analysis.end_to_end) {
    made.total =
        row{{"all", "", "", all->count(), cell(settled_mean(*all), duration),
             percentile_cell(all, 0.5), percentile_cell(all, 0.95), percentile_cell(all, 0.99),
             cell(all->max(), duration), cell(analysis.throughput, frames_per_second), "", ""}};
  }
  made.titled = true;
  return made;
}

table pooled_stage_table(const ranks_record& record, const ranks_analysis& analysis) {
  using s = const pooled_stage&;
  auto made = table_of<pooled_stage>(
      {"stages", record.parts ? "Stages of all ranks" : "Stages, over all ranks", "stage"},
      {{{"name", "stage"}, [](s x) { return x.name; }},
       {{"what", "time", {}, 3}, [](s x) { return short_name(x.what); }},
       {{.key = "mean", .title = "mean", .in = duration, .rank = 1, .compared = true},
        [](s x) { return cell(x.times.mean(), duration); }},
       {{.key = "p50", .title = "p50", .in = duration, .compared = true},
        [](s x) { return cell(x.times.percentile(0.5), duration); }},
       {{"p95", "p95", duration, 2}, [](s x) { return cell(x.times.percentile(0.95), duration); }},
       {{"slowest", record.parts ? "rank" : "slowest rank"},
        [&](s x) { return fmt::to_string(record.ranks[x.slowest].rank); }},
       {{.key = "slowest_median", .title = "its median", .in = duration, .optional = true},
        [&](s x) { return record.parts ? cell() : cell(x.of_slowest.percentile(0.5), duration); }}},
      analysis.stages);
  made.titled = true;
  return made;
}

/// Returns a histogram for each rank.
chart distributions_of(const ranks_record& record, const ranks_analysis& analysis) {
  distributions_chart made;
  for (std::size_t r = 0; r < record.ranks.size(); ++r) {
    if (!analysis.ranks[r] || !analysis.ranks[r]->summary.end_to_end) continue;
    const distribution& times = *analysis.ranks[r]->summary.end_to_end;
    std::vector<nanoseconds> sample(times.sorted().begin(), times.sorted().end());
    made.list.push_back(
        {name_of(record.ranks[r]), "", "frame", *histogram_of(std::move(sample)), marks_of(times)});
  }
  made.deadline = first_run(record).run.deadline;
  return {"distribution", "Distribution", "", std::move(made)};
}

facts summary_of_all(const ranks_record& record, const ranks_analysis& analysis) {
  std::uint64_t device = 0;
  for (const rank_record& rank : record.ranks) {
    if (rank.run) device += rank.run->memory.device_peak_bytes;
  }
  return {"summary",
          "Summary",
          {{"rank_count", "ranks", record.ranks.size()},
           {"throughput", "throughput", cell(analysis.throughput, frames_per_second),
            record.parts ? "of frames that all ranks completed" : "of all ranks together"},

           {"device_peak", "device memory", cell(device, bytes), "at peak, of all ranks"}},
          shown};
}

}  // namespace

document describe(const ranks_record& record, const ranks_analysis& analysis) {
  const run_record& first = first_run(record);
  document made{"ranks", first.pipeline, first.description, {}, {}, {}, "ranks"};
  made.lines = heading_of(first, fmt::format("timing={}", to_word(first.run.timing)));
  std::set<std::string> hosts;
  for (const rank_record& rank : record.ranks) hosts.insert(rank.host);
  if (record.parts) {
    made.lines.push_back(
        "a part on each rank; 'all': from due on rank 0 to the end on the last rank" +
        (analysis.clock_error
             ? fmt::format(", to within {} us by the clocks", (*analysis.clock_error + 999) / 1000)
             : std::string(", which needs the clocks of all ranks")));
  }
  made.lines.push_back(fmt::format(
      "{} on {}, by {}", counted(static_cast<std::int64_t>(record.ranks.size()), "rank"),
      counted(static_cast<std::int64_t>(hosts.size()), "machine"), record.library));
  made.findings = analysis.findings;
  made.parts.push_back(rank_table(record, analysis));
  made.parts.push_back(pooled_stage_table(record, analysis));
  made.parts.push_back(summary_of_all(record, analysis));
  made.parts.push_back(distributions_of(record, analysis));
  made.parts.push_back(
      facts{"", "", {{"end_to_end", "", samples_of(analysis.end_to_end)}}, in_data});
  made.parts.push_back(
      facts{"throughput",
            "",
            {{"unit", "", "frame/s"}, {"value", "", cell(analysis.throughput, frames_per_second)}},
            in_data});
  made.parts.push_back(facts{
      "", "", {{"interrupted", "", record.interrupted}, {"failure", "", record.failure}}, in_data});
  add_origin(made, first, first.run);
  return made;
}

void add_ranks(document& to, const experiment_view& of) {
  if (of.summary.ranks.empty()) return;
  using r = const rank_of_experiment&;
  auto made = table_of<rank_of_experiment>(
      {"ranks", "Ranks", "rank"},
      {{{"rank", "rank"}, [](r x) { return x.place ? fmt::to_string(x.place->rank) : "no MPI"; }},
       {{"host", "on"}, [](r x) { return x.place ? x.place->host : ""; }},
       {{.key = "cores", .title = "cores", .rank = 3},
        [](r x) { return x.place && x.place->cores > 0 ? cell(x.place->cores) : cell(); }},
       {{"device", "device", {}, 2}, [](r x) { return x.device; }},
       {{.key = "blocks",
         .title = "blocks",
         .in = none,
         .help =
             "that count; figures are compared within each rank and then averaged, so differences "
             "in speed between ranks do not affect verdicts"},
        [](r x) { return cell(x.blocks); }},
       {{.key = "p50", .title = "p50 of baseline", .in = duration},
        [](r x) { return percentile_cell(x.times, 0.5); }}},
      of.summary.ranks);
  made.titled = true;
  to.parts.push_back(std::move(made));
}

}  // namespace graphline::report
