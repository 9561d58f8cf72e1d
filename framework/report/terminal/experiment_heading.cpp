#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "framework/base/units.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/terminal/experiment_parts.hpp"
#include "framework/report/terminal/experiment_sentences.hpp"
#include "framework/report/terminal/heading.hpp"
#include "framework/report/terminal/text_table.hpp"

namespace graphline {

namespace {

std::string count_of(std::size_t n, std::string_view noun) {
  return counted(static_cast<std::int64_t>(n), noun);
}

std::string in_words(nanoseconds ns) {
  return format_duration(static_cast<double>(ns));
}

/// Settings and parameters that set configurations apart: not to be told as common to all.
std::set<std::string> varied_keys(const experiment_record& record) {
  std::set<std::string> keys;
  for (const auto& configuration : record.configurations) {
    for (const auto& [key, value] : configuration.assignments) keys.insert(key);
  }
  return keys;
}

/// How a run was carried out, by setting; a text is empty where it is not worth a word.
std::vector<std::pair<std::string, std::string>> aspects_of(const settings& run) {
  const auto load = run.arrival == arrival::closed ? std::string() : arrival_of(run);
  return {{"strategy", std::string(to_word(run.strategy))},
          {"graphs", fmt::format("graphs {}", to_word(run.graphs))},
          {"timing", fmt::format("timing {}", to_word(run.timing))},
          {"in_flight", fmt::format("{} in flight", counted(run.in_flight, "frame"))},
          {"wait", fmt::format("wait {}", to_word(run.wait))},
          {"priorities", run.priorities ? "" : "priorities off"},
          {"arrival", load},
          {"deadline", run.deadline ? "deadline " + in_words(*run.deadline) : ""}};
}

/// What holds for all of these runs, which are at least one: "async, graphs stage".
std::string shared_way(const std::vector<const run_record*>& runs,
                       const std::set<std::string>& varied) {
  std::string text;
  for (const auto& aspect : aspects_of(runs.front()->run)) {
    const auto has = [&](const run_record* run) {
      const auto own = aspects_of(run->run);
      return std::find(own.begin(), own.end(), aspect) != own.end();
    };
    if (varied.contains(aspect.first) || aspect.second.empty()) continue;
    if (!std::all_of(runs.begin(), runs.end(), has)) continue;
    text += (text.empty() ? "" : ", ") + aspect.second;
  }
  return text;
}

/// Parameters with the value they have in all of these runs: "batch=1, side=112".
std::string shared_parameters(const std::vector<const run_record*>& runs,
                              const std::set<std::string>& varied) {
  run_record shared;
  for (const auto& parameter : runs.front()->parameters) {
    const auto has = [&](const run_record* run) {
      return std::find(run->parameters.begin(), run->parameters.end(), parameter) !=
             run->parameters.end();
    };
    if (varied.contains(parameter.first) || !std::all_of(runs.begin(), runs.end(), has)) continue;
    shared.parameters.push_back(parameter);
  }
  return parameters_of(shared);
}

/// "45 frames after 5 warm-up", where that holds for all of these runs; else empty.
std::string shared_frames(const std::vector<const run_record*>& runs) {
  const auto& first = runs.front()->run;
  const bool shared = std::all_of(runs.begin(), runs.end(), [&](const run_record* run) {
    return run->run.frames == first.frames && run->run.warmup == first.warmup;
  });
  if (!shared) return "";
  return fmt::format("{} after {} warm-up", counted(first.frames, "frame"), first.warmup);
}

std::string joined(std::initializer_list<std::string> parts) {
  std::string text;
  for (const auto& part : parts) {
    if (!part.empty()) text += (text.empty() ? "" : "; ") + part;
  }
  return text;
}

/// A pipeline's first run of each configuration.
struct member_runs {
  std::string name;
  std::vector<const run_record*> runs;
};

/// In the order in which the configurations name them.
std::vector<member_runs> runs_by_member(const experiment_record& record) {
  std::vector<member_runs> result;
  const auto add = [&](const std::string& name, const run_record& run) {
    auto known = std::find_if(result.begin(), result.end(),
                              [&](const member_runs& m) { return m.name == name; });
    if (known == result.end()) known = result.insert(known, {name, {}});
    known->runs.push_back(&run);
  };
  for (std::size_t c = 0; c < record.configurations.size(); ++c) {
    const auto first = std::find_if(record.trials.begin(), record.trials.end(),
                                    [c](const trial_record& t) { return t.configuration == c; });
    if (first == record.trials.end()) continue;
    const auto& names = record.configurations[c].members;
    for (std::size_t m = 0; m < std::min(names.size(), first->members.size()); ++m) {
      add(names[m], first->members[m]);
    }
  }
  return result;
}

std::vector<std::string> failures(const experiment_record& record) {
  const experiment_labels labels(record.configurations);
  std::vector<std::string> lines;
  for (const auto& trial : record.trials) {
    for (std::size_t m = 0; m < trial.members.size(); ++m) {
      const auto& run = trial.members[m];
      if (!run.failure) continue;
      lines.push_back(fmt::format("FAILED in block {}: {} after {} of {}: {}", trial.block + 1,
                                  printable(labels.of({trial.configuration, m})), run.frames.size(),
                                  counted(run.run.frames, "frame"), printable(*run.failure)));
    }
  }
  return lines;
}

/// Members that the others were too quick for: a trial in which one ended no frame does not count.
std::vector<std::string> members_without_frames(const experiment_record& record) {
  const experiment_labels labels(record.configurations);
  std::map<std::string, std::size_t> trials;
  for (const auto& trial : record.trials) {
    for (std::size_t m = 0; m < trial.members.size(); ++m) {
      const auto& run = trial.members[m];
      const bool alone = trial.members.size() == 1;
      if (alone || !run.frames.empty() || run.failure || run.interrupted) continue;
      ++trials[printable(labels.of({trial.configuration, m}))];
    }
  }
  std::vector<std::string> lines;
  for (const auto& [member, count] : trials) {
    lines.push_back(
        fmt::format("no frame of {} ended in {}, so that {} not count; give the other "
                    "members more frames",
                    member, count_of(count, "trial"), count == 1 ? "it does" : "they do"));
  }
  return lines;
}

/// What stands against reading the tables as those of a whole experiment.
std::string restrictions(const experiment_record& record, const experiment_summary& summary,
                         const look& as) {
  std::string text;
  for (const auto& ending : endings_of(record, summary)) {
    text += paragraph(ending.text, 2, as, ending.bad ? tone::bad : tone::plain);
  }
  const auto lack = lack_of_verdicts(record, summary);
  if (!lack.empty()) text += paragraph(lack, 0, as);
  return text.empty() ? text : "\n" + text;
}

}  // namespace

std::vector<std::string> subject_lines(const experiment_record& record) {
  const auto members = runs_by_member(record);
  if (members.empty()) return {};
  const auto varied = varied_keys(record);
  const auto way = [&](const std::vector<const run_record*>& runs) {
    return joined({shared_way(runs, varied), shared_parameters(runs, varied)});
  };
  const auto& first = members.front().runs;
  if (members.size() == 1) {
    std::vector<std::string> lines = {subject_of(*first.front())};
    if (auto how = way(first); !how.empty()) lines.push_back(std::move(how));
    return lines;
  }
  std::vector<std::string> lines = {device_of(first.front()->device)};
  for (const auto& [name, runs] : members) {
    const auto& pipeline = runs.front()->pipeline;
    lines.push_back(fmt::format(
        "{}: {}", printable(name),
        joined({pipeline == name ? "" : printable(pipeline), way(runs), shared_frames(runs)})));
  }
  return lines;
}

std::string extent_of(const experiment_record& record) {
  std::set<std::size_t> blocks;
  for (const auto& trial : record.trials) blocks.insert(trial.block);
  const auto configurations = record.configurations.size();
  const auto trials = record.trials.size();
  const auto whole = blocks.size() * configurations;
  const auto in_blocks = count_of(blocks.size(), "block");
  std::string text;
  if (configurations == 1) {
    text = count_of(trials, "trial");
  } else if (trials < whole) {
    text =
        fmt::format("{} of {} of {}, in random order", trials, count_of(whole, "trial"), in_blocks);
  } else {
    text = fmt::format("{} of {} in random order", in_blocks, count_of(configurations, "trial"));
  }
  const auto members = runs_by_member(record);
  if (members.size() == 1) {
    const auto frames = shared_frames(members.front().runs);
    if (!frames.empty()) text += fmt::format("; a trial: {}", frames);
  }
  if (record.how.fresh_processes) text += ", in a process of its own";
  return text;
}

std::vector<experiment_ending> endings_of(const experiment_record& record,
                                          const experiment_summary& summary) {
  std::vector<experiment_ending> endings;
  for (auto& failure : failures(record)) endings.push_back({true, std::move(failure)});
  if (record.failure && endings.empty()) endings.push_back({true, "FAILED"});
  if (record.interrupted) endings.push_back({true, "INTERRUPTED"});
  // Of an interruption the reason is told already.
  if (!record.stopped.empty() && !record.interrupted) {
    endings.push_back({false, "ended: " + printable(record.stopped)});
  }
  for (auto& line : members_without_frames(record)) endings.push_back({false, std::move(line)});
  if (summary.trials_left_out > 0 && summary.complete_blocks > 0) {
    const bool affected = record.how.repeat_affected && !summary.machine.affected_blocks.empty();
    endings.push_back(
        {false, fmt::format("left out: {}, of blocks that are not complete{}",
                            count_of(summary.trials_left_out, "trial"),
                            affected ? " or in which the machine was not itself" : "")});
  }
  return endings;
}

std::string lack_of_verdicts(const experiment_record& record, const experiment_summary& summary) {
  const bool to_compare = !record.pairs.empty();
  const bool counts_less = summary.counted_blocks < summary.complete_blocks;
  const bool with_intervals =
      std::any_of(summary.comparisons.begin(), summary.comparisons.end(),
                  [](const comparison& c) { return c.ratio_range.has_value(); });
  if (summary.complete_blocks == 0) {
    return "No block is complete: the figures are those of the trials there are, and nothing is "
           "compared.";
  }
  if (to_compare && summary.counted_blocks < least_blocks) {
    return fmt::format("{}: too few for intervals and verdicts, which take {}.",
                       count_of(summary.counted_blocks, counts_less ? "block" : "complete block"),
                       least_blocks);
  }
  if (to_compare && !with_intervals) {
    return "Times of zero are among those to compare: there are no intervals.";
  }
  return "";
}

std::string experiment_heading(const experiment_record& record, const experiment_summary& summary,
                               const look& as) {
  auto title = printable(record.name);
  if (!record.description.empty()) title += ": " + printable(record.description);
  auto text = paragraph(title, 2, as, tone::heading);
  for (const auto& line : subject_lines(record)) text += paragraph(line, 2, as);
  return text + paragraph(extent_of(record), 2, as) + restrictions(record, summary, as);
}

}  // namespace graphline
