#include "framework/plan/policies/policies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/base/error.hpp"
#include "framework/base/random.hpp"

namespace graphline {
namespace {

using rank_function = policy_rank (*)(const ready_job& job);

/// A policy without parameters.
class simple_policy final : public scheduling_policy {
 public:
  explicit simple_policy(rank_function function) : function_(function) {}
  policy_rank rank(const ready_job& job) const override { return function_(job); }

 private:
  rank_function function_;
};

/// A different rank for each stage and frame, reproducible by seed.
class random_policy final : public scheduling_policy {
 public:
  random_policy(std::span<const policy_stage> stages, std::uint64_t seed) : stages_(stages) {
    for (const policy_stage& stage : stages) {
      seeds_.push_back(mix_seed(seed ^ seed_from(stage.pipeline), stage.position));
    }
  }
  policy_rank rank(const ready_job& job) const override {
    const auto stage = static_cast<std::size_t>(&job.stage - stages_.data());
    const auto frame = static_cast<std::uint64_t>(job.frame);
    return {std::bit_cast<std::int64_t>(mix_seed(seeds_[stage], frame))};
  }

 private:
  std::span<const policy_stage> stages_;
  std::vector<std::uint64_t> seeds_;  ///< of each stage: hashing its name takes too long in a frame
};

policy_kind simple(std::string name, std::string description, std::string source,
                   rank_function rank) {
  policy_kind kind{
      .name = std::move(name), .description = std::move(description), .source = std::move(source)};
  kind.uses_priorities = false;
  kind.make = [rank](const arguments& /*given*/, std::span<const policy_stage> /*stages*/,
                     std::uint64_t /*seed*/) { return std::make_unique<simple_policy>(rank); };
  return kind;
}

policy_kind by_priority() {
  policy_kind kind =
      simple("fixed_priority", "The stage of the highest 'priority', whatever its frame.",
             "Liu and Layland 1973, https://doi.org/10.1145/321738.321743",
             [](const ready_job& job) { return policy_rank{-std::int64_t{job.stage.priority}}; });
  kind.uses_priorities = true;
  kind.order = urgency::priority;
  return kind;
}

policy_kind by_deadline() {
  policy_kind kind =
      simple("deadline",
             "The stage with the earliest absolute deadline (EDF): the frame's due time plus the "
             "'deadline' of the stage or, without one, of the run.",
             "Liu and Layland 1973, https://doi.org/10.1145/321738.321743",
             [](const ready_job& job) { return policy_rank{job.due + job.stage.deadline}; });
  kind.needs_deadline = true;
  kind.order = urgency::deadline;
  return kind;
}

policy_kind by_slack() {
  policy_kind kind = simple(
      "least_slack",
      "The stage that must start first, by expected times, so that it and all stages after it meet "
      "their deadlines.",
      "Mok 1983, MIT/LCS/TR-297, https://apps.dtic.mil/sti/citations/ADA139996",
      [](const ready_job& job) { return policy_rank{job.due + job.stage.latest_start}; });
  kind.needs_deadline = true;
  kind.needs_times = true;
  return kind;
}

policy_kind by_path() {
  policy_kind kind = simple(
      "critical_path",
      "The oldest frame; within it, the stage with the longest path of expected times to the end "
      "of the frame (HLFET).",
      "Adam, Chandy and Dickson 1974, https://doi.org/10.1145/361604.361619",
      [](const ready_job& job) {
        return policy_rank{job.due, -job.stage.path};
      });
  kind.needs_times = true;
  return kind;
}

policy_kind by_time() {
  policy_kind kind = simple("shortest_first",
                            "The stage with the shortest expected time (SPT), whatever its frame.",
                            "Smith 1956, https://doi.org/10.1002/nav.3800030106",
                            [](const ready_job& job) { return policy_rank{job.stage.expected}; });
  kind.needs_times = true;
  return kind;
}

policy_kind at_random() {
  policy_kind kind{.name = "random",
                   .description = "A random order of stages, as a baseline.",
                   .source =
                       "Adam, Chandy and Dickson 1974, "
                       "https://doi.org/10.1145/361604.361619"};
  kind.uses_priorities = false;
  kind.parameters = {{.name = "seed",
                      .type = parameter_type::integer,
                      .help = "Seed of the order; the run's seed when left out.",
                      .minimum = 0}};
  kind.make = [](const arguments& given, std::span<const policy_stage> stages, std::uint64_t seed) {
    return std::make_unique<random_policy>(
        stages, given.has("seed") ? static_cast<std::uint64_t>(given.integer("seed")) : seed);
  };
  return kind;
}

}  // namespace

const std::vector<policy_kind>& builtin_policies() {
  static const std::vector<policy_kind> all = {
      simple(std::string(default_policy),
             "The frame that was due first; within it, planned order. The default.",
             "Conway, Maxwell and Miller 1967, Theory of Scheduling, on first come, first served",
             [](const ready_job& job) { return policy_rank{job.due}; }),
      simple(
          "fifo", "The stage that became ready first.",
          "Conway, Maxwell and Miller 1967, Theory of Scheduling",
          [](const ready_job& job) { return policy_rank{static_cast<std::int64_t>(job.order)}; }),
      simple("declared", "The stage that the pipeline declares first, whatever its frame.",
             "Graham 1966, https://doi.org/10.1002/j.1538-7305.1966.tb01709.x",
             [](const ready_job& job) { return policy_rank{job.stage.position}; }),
      by_priority(),
      by_deadline(),
      by_slack(),
      by_path(),
      by_time(),
      at_random()};
  return all;
}

std::vector<const policy_kind*> all_policies(const stage_registry& registry) {
  std::vector<const policy_kind*> all;
  for (const policy_kind& kind : builtin_policies()) all.push_back(&kind);
  const std::vector<const policy_kind*> built_in = all;
  for (const auto& [name, kind] : registry.policies()) {
    if (find_policy(built_in, name) != nullptr) {
      throw input_error(
          fmt::format("plug-in '{}' brings the policy '{}', the name of a built-in "
                      "policy; give it another name",
                      kind.origin, name));
    }
    all.push_back(&kind);
  }
  return all;
}

const policy_kind* find_policy(const std::vector<const policy_kind*>& among,
                               std::string_view name) {
  const auto found = std::ranges::find(among, name, &policy_kind::name);
  return found == among.end() ? nullptr : *found;
}

std::string policy_suggestion(const std::vector<const policy_kind*>& among, std::string_view name) {
  std::vector<std::string> names;
  for (const policy_kind* kind : among) names.push_back(kind->name);
  return suggestion(name, names, names.size());
}

}  // namespace graphline
