#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "framework/analysis/experiment/experiment_findings.hpp"
#include "framework/analysis/run/policy_choices.hpp"
#include "framework/spec/settings_table.hpp"

namespace graphline {

namespace {

finding found(std::string_view key, std::string subject) {
  return {key, finding_severity::note, {std::move(subject)}};
}

/// A configuration that differs from the untimed one only in its timing method.
struct timed_configuration {
  timing_method method;
  const member_summary& with;
  const comparison& cost;  ///< end-to-end p50 compared with `none`
};

/// Reports how much a timing method adds to the median frame time.
finding cost_of(const timed_configuration& of, const experiment_summary& from) {
  const auto& cost = of.cost;
  const auto& range = cost.difference_range;
  finding made{"timing_cost_of_few_blocks"};
  made.with("method", std::string(to_word(of.method)))
      .with("cost", cost.difference, unit::duration)
      .with("change", cost.difference / cost.reference, unit::change);
  if (!range) return made.with("blocks", from.counted_blocks).with("needed", from.needed_blocks);
  made.key = range->contains(0)    ? "timing_cost_not_visible"
             : cost.difference < 0 ? "timing_shortens_frame"
                                   : "timing_adds_time";
  return made.with("low", range->low, unit::duration)
      .with("high", range->high, unit::duration)
      .with("largest_change", range->high / cost.reference, unit::change);
}

double p50_of(const member_summary::stage& stage) {
  return static_cast<double>(stage.times->median());
}

/// Reports that `sync` lengthens frames because stages that overlap in untimed frames run one after
/// another.
std::optional<finding> lost_overlap(const timed_configuration& sync) {
  const auto& cost = sync.cost;
  if (!cost.difference_range || cost.difference_range->low <= 0) return std::nullopt;
  double sum = 0;
  for (const auto& stage : sync.with.stages) {
    if (!stage.times) return std::nullopt;
    sum += p50_of(stage);
  }
  // Lost overlap must account for at least half of the cost to be the main reason.
  if (sum - cost.reference < 0.5 * cost.difference) return std::nullopt;
  return finding{"sync_serializes_overlap"}
      .with("stages", sum, unit::duration)
      .with("untimed", cost.reference, unit::duration);
}

const member_summary::stage* find_stage(const timed_configuration* in, const std::string& name) {
  if (in == nullptr) return nullptr;
  for (const auto& stage : in->with.stages) {
    if (stage.name == name && stage.times) return &stage;
  }
  return nullptr;
}

const timed_configuration* find_by(const std::vector<timed_configuration>& all,
                                   timing_method method) {
  const auto found = std::ranges::find(all, method, &timed_configuration::method);
  return found == all.end() ? nullptr : &*found;
}

/// Reports stages that take at least twice as long under `event` or `sync` as under `host`, which
/// measures only their launch.
void add_launches(const std::vector<timed_configuration>& all, std::vector<finding>& to) {
  const auto* host = find_by(all, timing_method::host);
  if (host == nullptr) return;
  const auto* event = find_by(all, timing_method::event);
  const auto* by = event == nullptr ? find_by(all, timing_method::sync) : event;
  for (const auto& stage : host->with.stages) {
    if (stage.what != measure::enqueue_time || !stage.times) continue;
    const auto* real = find_stage(by, stage.name);
    if (real == nullptr || p50_of(*real) < 2 * p50_of(stage)) continue;
    to.push_back(found("host_times_launch", stage.name)
                     .with("launch", p50_of(stage), unit::duration)
                     .with("time", p50_of(*real), unit::duration)
                     .with("method", std::string(to_word(by->method))));
  }
}

/// Returns the compared configurations if the experiment varies only the timing method and the
/// reference uses `none`; otherwise empty.
std::vector<timed_configuration> timed_configurations(const finding_source& from) {
  std::vector<timed_configuration> list;
  for (const auto& one : from.summary.comparisons) {
    if (one.pair.reference != from.record.pairs.front().reference) return {};
    if (!from.differ_only_in(one.pair, "timing")) return {};
    const auto runs = from.runs_of(one.pair.what);
    const auto untimed = from.runs_of(one.pair.reference);
    if (runs.empty() || untimed.empty()) continue;
    if (untimed.front()->run.timing != timing_method::none) return {};
    if (one.figure != figure::p50) continue;
    const auto& [configuration, member] = one.pair.what;
    list.push_back({runs.front()->run.timing,
                    from.summary.configurations[configuration].members[member], one});
  }
  return list;
}

bool decided(verdict what) {
  return what == verdict::faster || what == verdict::slower;
}

/// Returns the first of p50, late frames and tail that shows an effect; p50 if none does.
const comparison* telling(const experiment_summary& summary, const compared_pair& pair) {
  for (const auto what : {figure::p50, figure::late, figure::tail}) {
    const auto* found = find_comparison(summary, pair, what);
    if (found != nullptr && decided(found->verdict)) return found;
  }
  return find_comparison(summary, pair, figure::p50);
}

std::string in_points(double difference) {
  return fmt::format("{:+.3g} points", 100 * difference);
}

/// @param with True if the compared configuration uses priorities, false if its reference does.
finding effect_of(const comparison& of, bool with, double tail) {
  finding made{decided(of.verdict)           ? "priorities_took_effect"
               : of.verdict == verdict::same ? "priorities_changed_nothing"
                                             : "priorities_inconclusive"};
  const bool late = of.figure == figure::late;
  const auto in = late ? unit::share : unit::duration;
  const auto range = *of.change_range();
  const auto word = std::string(verdict_word(of.verdict, of.figure));
  made.with("verdict", word)
      .with("percentile", figure_name(of.figure, tail))
      .with("with", with ? of.value : of.reference, in)
      .with("without", with ? of.reference : of.value, in);
  if (late) {
    return made.with("change", in_points(of.difference))
        .with("low", in_points(range.low))
        .with("high", in_points(range.high))
        .with("effect", "has " + word + " late frames");
  }
  return made.with("change", of.ratio - 1, unit::change)
      .with("low", range.low, unit::change)
      .with("high", range.high, unit::change)
      .with("effect", "is " + word);
}

void add_inversions(const finding_source& from, std::vector<finding>& to) {
  grouped_findings cases;
  finding all{"priority_inversions"};
  for (const auto& who : from.labels.all()) {
    const auto& waits = from.summary.configurations[who.configuration].members[who.member].waits;
    auto made = inversion_finding(waits);
    if (!made) continue;
    all.how = std::max(all.how, made->how);
    made->key = "inversions_of";
    made->subjects.clear();
    cases.add(std::move(*made), who);
  }
  cases.add_as_cases(std::move(all), from.labels, to);
}

}  // namespace

void add_timing_findings(const finding_source& from, std::vector<finding>& to) {
  const auto all = timed_configurations(from);
  for (const auto& one : all) {
    to.push_back(cost_of(one, from.summary));
    if (one.method != timing_method::sync) continue;
    if (auto reason = lost_overlap(one)) to.push_back(std::move(*reason));
  }
  add_launches(all, to);
}

void add_priority_findings(const finding_source& from, std::vector<finding>& to) {
  for (const auto& pair : from.record.pairs) {
    const auto without_keys = [&](std::size_t c) {
      return from.several_at_once(c) && from.record.configurations[c].assignments.empty();
    };
    const bool both_at_once =
        without_keys(pair.what.configuration) && without_keys(pair.reference.configuration);
    if (!both_at_once && !from.differ_only_in(pair, "priorities")) continue;
    const auto what = from.runs_of(pair.what);
    const auto reference = from.runs_of(pair.reference);
    if (what.empty() || reference.empty()) continue;
    const bool with = what.front()->run.priorities;
    if (with == reference.front()->run.priorities) continue;
    const auto* compared = telling(from.summary, pair);
    if (compared == nullptr || !compared->change_range()) continue;
    grouped_findings one;
    one.add(effect_of(*compared, with, from.record.how.tail), pair.what);
    to.push_back(one.all(from.labels).front());
  }
}

void add_scheduling_findings(const finding_source& from, std::vector<finding>& to) {
  const auto add_effects = [&](auto settings::*member, std::string_view key) {
    grouped_findings cases;
    for (const auto& pair : from.record.pairs) {
      const auto what = from.runs_of(pair.what);
      const auto reference = from.runs_of(pair.reference);
      if (what.empty() || reference.empty() || !from.differ_only_in(pair, key)) continue;
      const auto* compared = telling(from.summary, pair);
      if (compared == nullptr || !compared->change_range() || !decided(compared->verdict)) continue;
      finding effect = effect_of(*compared, true, from.record.how.tail);
      effect.key = "effect_against";
      cases.add(std::move(effect.with("reference", written(reference.front()->run.*member))),
                pair.what);
    }
    finding all{"setting_took_effect"};
    all.with("setting", std::string(key));
    cases.add_as_cases(std::move(all), from.labels, to);
  };
  add_effects(&settings::policy, "policy");
  add_effects(&settings::window, "window");
  add_effects(&settings::streams, "streams");
  add_effects(&settings::late, "late");
  grouped_findings some;
  grouped_findings none;
  for (const auto& who : from.labels.all()) {
    auto made = policy_finding(from.runs_of(who));
    if (!made) continue;
    if (made->key == "policy_decided") {
      made->key = "decided_in";
      some.add(std::move(*made), who);
    } else {
      none.add({"never_decided_in"}, who);
    }
  }
  some.add_as_cases({"policies_decided"}, from.labels, to);
  none.add_as_cases({"policies_never_decided"}, from.labels, to);
  add_inversions(from, to);
}

void add_chain_findings(const finding_source& from, std::vector<finding>& to) {
  const auto case_of = [&](finding what, std::size_t chain, auto times, std::size_t configuration) {
    what.subjects = {from.record.chains[chain].name};
    return what.with("time", times == &chain_summary::age ? "age" : "reaction time")
        .with("configurations", from.labels.of(configuration));
  };
  finding changed{"chains_changed"};
  verdict by_p50 = verdict::same;
  for (const comparison& one : from.summary.chain_comparisons) {
    const bool told = one.figure == figure::tail && decided(by_p50);
    if (one.figure == figure::p50) by_p50 = one.verdict;
    if (told || !decided(one.verdict)) continue;
    finding effect = effect_of(one, true, from.record.how.tail);
    effect.key = "chain_changed";
    effect.with("reference", from.labels.of(one.pair.reference.configuration));
    changed.cases.push_back(case_of(effect, one.chain, one.times, one.pair.what.configuration));
  }
  finding exceeded{"chains_exceed_bounds", finding_severity::failure};
  for (const chain_summary& one : from.summary.chains) {
    const chain_record& chain = from.record.chains[one.chain];
    for (const auto times : {&chain_summary::age, &chain_summary::reaction}) {
      const auto& check = (one.*times).bound;
      if (!check || check->verdict != bound_verdict::fails) continue;
      finding made{"chain_exceeds_bound"};
      made.with("late", check->late).with("times", check->frames);
      made.with("bound", times == &chain_summary::age ? chain.age : chain.reaction, unit::duration);
      exceeded.cases.push_back(case_of(made, one.chain, times, one.configuration));
    }
  }
  if (!changed.cases.empty()) to.push_back(std::move(changed));
  if (!exceeded.cases.empty()) to.push_back(std::move(exceeded));
}

}  // namespace graphline
