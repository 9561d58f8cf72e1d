#include "framework/analysis/experiment/chains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "framework/analysis/experiment/counted_trials.hpp"
#include "framework/analysis/run/overload.hpp"
#include "framework/analysis/run/passes.hpp"
#include "framework/base/words.hpp"

namespace graphline {
namespace {

/// One stage of a chain: when it ran in each pass, and which sample it used there.
struct chain_link {
  const run_record* run = nullptr;
  const stage_record* stage = nullptr;
  const std::vector<stamp_pair>* stamps = nullptr;
  std::vector<std::optional<std::size_t>> samples;

  bool ran_in(std::size_t pass) const { return ran(*stage, pass); }
  nanoseconds begin(std::size_t pass) const { return *run->epoch + (*stamps)[pass].begin; }
  nanoseconds end(std::size_t pass) const { return *run->epoch + (*stamps)[pass].end; }

  /// Returns the passes that ran the stage, in the order in which they ended.
  std::vector<std::size_t> by_end() const {
    std::vector<std::size_t> passes;
    for (std::size_t p = 0; p < stamps->size(); ++p) {
      if (ran_in(p)) passes.push_back(p);
    }
    std::ranges::stable_sort(passes, {}, [this](std::size_t p) { return end(p); });
    return passes;
  }
};

const std::vector<stamp_pair>& stamps_of(const stage_record& stage) {
  if (stage.on == side::cpu) return stage.cpu;
  return stage.device.empty() ? stage.synced : stage.device;
}

/// Returns the links of a chain. If it has no times, sets `why` to the reason.
std::vector<chain_link> links_of(const chain_record& chain, const std::vector<std::string>& members,
                                 const std::vector<run_record>& runs, std::string& why) {
  std::vector<chain_link> links;
  for (const auto& [member, name] : chain.stages) {
    const auto m = static_cast<std::size_t>(std::ranges::find(members, member) - members.begin());
    const auto none = fmt::format("no frame ran {}.{}", member, name);
    if (m >= runs.size()) {
      why = none;
      continue;
    }
    const run_record& run = runs[m];
    const auto stage = std::ranges::find(run.stages, name, &stage_record::name);
    if (stage == run.stages.end() || run.frames.empty()) {
      why = none;
    } else if (!run.epoch) {
      why = "its pipelines have no common clock";
    } else if (const auto& stamps = stamps_of(*stage); stamps.empty()) {
      why = fmt::format("timing: {} does not show when {}.{} begins and ends",
                        to_word(run.run.timing), member, name);
    } else {
      links.push_back({&run, &*stage, &stamps, {}});
      links.back().samples.resize(stamps.size());
    }
  }
  if (links.empty() && why.empty()) why = "it has no stages";
  return links;
}

/// Passes the samples of one stage on to the next.
void pass_on(const chain_link& from, chain_link& to) {
  if (from.run == to.run) {
    for (std::size_t p = 0; p < to.samples.size(); ++p) {
      if (from.ran_in(p) && to.ran_in(p)) to.samples[p] = from.samples[p];
    }
    return;
  }
  const std::vector<std::size_t> published = from.by_end();
  for (std::size_t p = 0; p < to.samples.size(); ++p) {
    if (!to.ran_in(p)) continue;
    const auto next = std::ranges::upper_bound(
        published, to.begin(p), {}, [&](std::size_t earlier) { return from.end(earlier); });
    if (next != published.begin()) to.samples[p] = from.samples[*std::prev(next)];
  }
}

/// Returns the times of a chain from its outputs, which the last link holds.
chain_times times_of(const std::vector<chain_link>& links) {
  const run_record& source = *links.front().run;
  const run_passes passes(source);
  const auto sampled = [&](std::size_t sample) { return *source.epoch + passes[sample].due; };
  nanoseconds start = INT64_MIN;
  nanoseconds stop = INT64_MAX;
  for (const chain_link& link : links) {
    const auto& frames = link.run->frames;
    start = std::max(start, *link.run->epoch + frames.front().begin);
    stop = std::min(stop, *link.run->epoch + std::ranges::max(frames, {}, &frame_record::end).end);
  }
  const auto counts = [&](std::size_t sample) { return sampled(sample) >= start; };

  chain_times result;
  std::map<std::size_t, nanoseconds> last_end;  // by sample
  std::size_t reached = 0;                      // samples before it have a reaction
  const chain_link& output = links.back();
  for (const std::size_t p : output.by_end()) {
    const auto sample = output.samples[p];
    if (!sample || output.end(p) > stop) continue;
    last_end[*sample] = output.end(p);
    for (; reached <= *sample; ++reached) {
      if (reached == 0 || !counts(reached)) continue;
      result.reactions.push_back(output.end(p) - sampled(reached - 1));
    }
  }
  for (std::size_t sample = 0; sample + 1 < reached; ++sample) {
    if (!counts(sample)) continue;
    const auto used = last_end.find(sample);
    if (used == last_end.end()) {
      ++result.unused;
    } else {
      result.ages.push_back(used->second - sampled(sample));
    }
  }
  return result;
}

/// Computes the figures from the times by trial.
void complete(chain_figures& of, std::optional<nanoseconds> bound, double tail, bool grows) {
  std::vector<nanoseconds> times;
  for (const auto& trial : of.by_trial) times.insert(times.end(), trial.begin(), trial.end());
  of.times = distribution::of(times);
  if (!of.times) return;
  if (grows) of.times = std::move(*of.times).unsettled(latency_grows_with_length);
  for (const auto& [name, p] : shown_percentiles) {
    const auto value = of.times->percentile(p);
    if (!value) continue;
    const auto found = check_bound(of.by_trial, p, *value);
    of.intervals.push_back({p, found.low, found.high});
  }
  if (bound) of.bound = check_bound(of.by_trial, tail, *bound);
}

}  // namespace

chain_times chain_times_of(const chain_record& chain, const std::vector<std::string>& members,
                           const std::vector<run_record>& runs) {
  chain_times unknown;
  std::vector<chain_link> links = links_of(chain, members, runs, unknown.why_unknown);
  if (!unknown.why_unknown.empty()) return unknown;
  std::vector<std::optional<std::size_t>>& first = links.front().samples;
  for (std::size_t p = 0; p < first.size(); ++p) {
    if (links.front().ran_in(p)) first[p] = p;
  }
  for (std::size_t i = 1; i < links.size(); ++i) pass_on(links[i - 1], links[i]);
  return times_of(links);
}

std::vector<chain_summary> chains_of(const experiment_record& record,
                                     const counted_trials& trials) {
  std::vector<chain_summary> result;
  for (std::size_t i = 0; i < record.chains.size(); ++i) {
    const chain_record& chain = record.chains[i];
    for (std::size_t c = 0; c < record.configurations.size(); ++c) {
      const auto& members = record.configurations[c].members;
      const bool runs_all = std::ranges::all_of(chain.stages, [&](const auto& stage) {
        return std::ranges::find(members, stage.first) != members.end();
      });
      if (!runs_all || chain.stages.empty()) continue;
      chain_summary& summary = result.emplace_back();
      summary.chain = i;
      summary.configuration = c;
      for (const trial_record* trial : trials.of(c)) {
        chain_times times = chain_times_of(chain, members, trial->members);
        summary.used += times.ages.size();
        summary.unused += times.unused;
        if (summary.why_unknown.empty()) summary.why_unknown = times.why_unknown;
        summary.age.by_trial.push_back(std::move(times.ages));
        summary.reaction.by_trial.push_back(std::move(times.reactions));
      }
      const auto source = std::ranges::find(members, chain.stages.front().first) - members.begin();
      const auto load = overload_of(trials.of({c, static_cast<std::size_t>(source)}));
      complete(summary.age, chain.age, record.how.tail, load && load->growth);
      complete(summary.reaction, chain.reaction, record.how.tail, load && load->growth);
    }
  }
  return result;
}

}  // namespace graphline
