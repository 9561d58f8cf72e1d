#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "framework/report/describe/describe.hpp"
#include "framework/report/describe/experiment_view.hpp"

namespace graphline::report {

namespace {

using enum unit;

/// An entry of a run or of a pipeline of an experiment. `who` is unused in a run.
template <class Of>
struct entry {
  const Of& of;
  compared_member who = {};
};
template <class Of>
using entry_columns = std::vector<column_of<entry<Of>>>;

/// Returns the columns that identify a pipeline; JSON and CSV have its names.
template <class Of>
entry_columns<Of> names_of(const experiment_view& of) {
  using e = const entry<Of>&;
  entry_columns<Of> columns;
  for (const auto& one : of.names()) {
    columns.push_back({one.is, [value = one.value](e x) { return value(x.who); }});
    columns.back().is.where = shown;
  }
  columns.push_back({data_column("configuration"), [&of](e x) {
                       return of.record.configurations[x.who.who.configuration].name;
                     }});
  columns.push_back({data_column("member"), [&of](e x) { return of.of(x.who.who).name; }});
  return columns;
}

/// Returns an entry for each element of a list of each pipeline's summary.
template <class Of>
std::vector<entry<Of>> entries_of(const experiment_view& of,
                                  std::vector<Of> member_summary::*list) {
  std::vector<entry<Of>> entries;
  for (const auto& member : of.compared()) {
    for (const Of& one : of.of(member.who).*list) entries.push_back({one, member});
  }
  return entries;
}

/// Adds a table, unless it has no rows.
template <class Of>
void add_table(document& to, table made, entry_columns<Of> columns, const entry_columns<Of>& more,
               const std::vector<entry<Of>>& entries) {
  if (entries.empty()) return;
  columns.insert(columns.end(), more.begin(), more.end());
  made.titled = true;
  to.parts.push_back(table_of(std::move(made), columns, entries));
}

// ---- Deadlines of stages ------------------------------------------------------------------------

entry_columns<stage_deadline> deadline_columns() {
  using e = const entry<stage_deadline>&;
  return {{{"stage", "stage"}, [](e x) { return x.of.stage; }},
          {{"deadline", "deadline", duration, 0, "of the stage's end, after the frame was due"},
           [](e x) { return cell(x.of.limit, duration); }},
          {{"late", "late", none}, [](e x) { return x.of.lateness ? cell(x.of.late) : cell(); }},
          {{"frames", "of frames", none},
           [](e x) { return x.of.lateness ? cell(x.of.lateness->count()) : cell(); }},
          {{.key = "p99_lateness",
            .title = "p99 lateness",
            .in = duration,
            .help = "end minus deadline; negative: early",
            .is_signed = true},
           [](e x) {
             return x.of.lateness ? cell(x.of.lateness->percentile(0.99), duration) : cell();
           }},
          {{.key = "max_lateness", .title = "max", .in = duration, .is_signed = true},
           [](e x) { return x.of.lateness ? cell(x.of.lateness->max(), duration) : cell(); }}};
}

// ---- Waits --------------------------------------------------------------------------------------

using waits = const entry<contention>&;

/// Returns what stages waited for, if not only for workers, and how long.
entry_columns<contention> wait_columns(const std::vector<entry<contention>>& entries) {
  const bool both = std::ranges::any_of(entries, [](waits x) { return x.of.on == side::device; });
  return {
      {{"for", "for", {}, 0, "", both ? everywhere : in_data},
       [](waits x) { return x.of.on == side::cpu ? "workers" : "window"; }},
      {{"wait", "wait", duration, 0, "mean in a frame; stages that wait at the same time add up"},
       [](waits x) { return cell(x.of.mean(x.of.wait), duration); }},
      {{"longest_wait", "longest", duration, 1},
       [](waits x) { return cell(x.of.wait.longest, duration); }}};
}

/// Returns the columns about waits behind lower ranks.
entry_columns<contention> order_columns() {
  const auto add = [](column is, auto value) {
    return column_of<entry<contention>>{std::move(is), [value](waits x) {
                                          return x.of.behind ? cell(value(*x.of.behind)) : cell();
                                        }};
  };
  using b = const lower_rank_waits&;
  return {
      add({"order", "order", {}, 2, "what ranks stages"},
          [](b x) { return cell(x.kept == urgency::deadline ? "deadline" : "priority"); }),
      add({"blocked", "blocked", none, 0,
           "waits during which a stage of lower rank ran that had started before"},
          [](b x) { return cell(x.blocked); }),
      add({"longest_blocked", "longest", duration},
          [](b x) { return cell(x.longest_blocked, duration); }),
      add({"bound", "bound", duration, 0,
           "limit for lower ranks in a wait without inversions: their longest measured operation; "
           "on a device, times window"},
          [](b x) { return cell(x.bound, duration); }),
      add({"inversions", "inversions", none, 0,
           "waits during which a stage of lower rank started and ran"},
          [](b x) { return cell(x.inversions); }),
      add({"longest_inversion", "longest", duration},
          [](b x) { return cell(x.longest_inversion, duration); })};
}

/// Returns the columns about a pipeline that held the workers or the window.
entry_columns<contention> holder_columns(const experiment_view& of, const std::string& name) {
  const auto add = [&](const char* key, std::string title, int rank, auto value) {
    return column_of<entry<contention>>{
        {key + name, std::move(title), duration, rank}, [&of, name, value](waits x) {
          const auto& members = of.record.configurations[x.who.who.configuration].members;
          const auto at = std::ranges::find(members, name) - members.begin();
          if (at == std::ssize(members)) return cell();
          return cell(value(x.of, x.of.held_by[static_cast<std::size_t>(at)]), duration);
        }};
  };
  return {add("behind_", "behind " + name, 0,
              [](const contention& wait, const frame_time& held) { return wait.mean(held); }),
          add("longest_behind_", "longest", 2,
              [](const contention&, const frame_time& held) { return held.longest; })};
}

/// Adds the waits behind lower ranks.
void add_order(document& to, const char* title, entry_columns<contention> columns,
               const std::vector<entry<contention>>& all) {
  std::vector<entry<contention>> ranked;
  std::ranges::copy_if(all, std::back_inserter(ranked), [](waits x) { return !!x.of.behind; });
  columns.push_back(wait_columns(all).front());
  add_table(to, {"rank_order", title, "stage"}, std::move(columns), order_columns(), ranked);
}

}  // namespace

void add_waits(document& to, const run_record& record, const run_summary& summary) {
  std::vector<entry<stage_deadline>> deadlines;
  for (const auto& one : summary.stage_deadlines) deadlines.push_back({one});
  add_table(to, {"stage_deadlines", "Deadlines of stages", "stage"}, {}, deadline_columns(),
            deadlines);
  std::vector<entry<contention>> all;
  for (const auto& one : summary.waits) all.push_back({one});
  const entry_columns<contention> names = {{{"stage", "stage"}, [](waits x) { return x.of.name; }}};
  const auto most = [](waits x) {
    return std::ranges::max_element(x.of.held_by, {}, &frame_time::sum);
  };
  auto columns = wait_columns(all);
  columns.push_back({{"behind", "most behind"}, [&record, most](waits x) {
                       const auto at = static_cast<std::size_t>(most(x) - x.of.held_by.begin());
                       return most(x)->sum > 0 ? cell(record.stages[at].name) : cell();
                     }});
  columns.push_back({{"behind_mean", "mean", duration},
                     [most](waits x) { return cell(x.of.mean(*most(x)), duration); }});
  add_table(to, {"waits", "Waits of ready stages", "stage"}, names, columns, all);
  add_order(to, "Blocking and priority inversions", names, all);
}

void add_waits(document& to, const experiment_view& of) {
  add_table(to, {"stage_deadlines", "Stage deadlines", "configuration"},
            names_of<stage_deadline>(of), deadline_columns(),
            entries_of(of, &member_summary::stage_deadlines));
  const auto all = entries_of(of, &member_summary::waits);
  add_order(to, "Blocking and priority inversions", names_of<contention>(of), all);
  if (of.record.how.share == sharing::none) return;
  auto columns = wait_columns(all);
  std::vector<std::string> pipelines;
  for (const auto& configuration : of.record.configurations) {
    for (const auto& name : configuration.members) {
      if (std::ranges::find(pipelines, name) != pipelines.end()) continue;
      pipelines.push_back(name);
      std::ranges::move(holder_columns(of, name), std::back_inserter(columns));
    }
  }
  table made{"waits", "Waits of ready stages, by the pipeline that ran meanwhile", "configuration"};
  made.blanks = true;
  add_table(to, std::move(made), names_of<contention>(of), columns, all);
}

}  // namespace graphline::report
