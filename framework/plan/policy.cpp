#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/plan/draft.hpp"
#include "framework/plan/policies/policies.hpp"
#include "framework/spec/node_reading.hpp"
#include "framework/spec/settings_table.hpp"
#include "framework/spec/yaml_reader.hpp"

namespace graphline::planning {
namespace {

/// A policy's name and parameters, as written.
struct policy_text {
  std::string name;
  node parameters;
};

/// Reads "random" or "{random: {seed: 2}}". Empty after a syntax error.
std::optional<policy_text> parse(const std::string& written) {
  diagnostics found;
  const node n = read_yaml(std::make_shared<source_text>("policy", written), found);
  if (found.has_errors()) return std::nullopt;
  if (n.is_scalar()) return policy_text{n.text(), {}};
  if (!n.is_mapping() || n.members().size() != 1) return std::nullopt;
  return policy_text{n.members()[0].key.text, n.members()[0].value};
}

/// Reports what the policy needs and the pipeline lacks.
void check_needs(const draft& d, const policy_kind& kind, const place& where) {
  if (kind.needs_deadline && !d.target.shares_policy && !has_deadline(d.spec)) {
    d.out.error(where, fmt::format("policy: {} needs deadlines; add a deadline to the run or to "
                                   "stages, such as deadline: 20ms",
                                   kind.name));
  }
  if (kind.needs_times && d.spec.run.warmup == 0) {
    d.out.error(where, fmt::format("policy: {} needs the expected times of stages, which the "
                                   "warm-up measures; use warmup: 1 or more",
                                   kind.name));
  }
}

}  // namespace

void resolve_policy(draft& d) {
  const settings_places& places = d.spec.run_places;
  if (places.unread.contains("policy")) return;
  const auto given = places.each.find("policy");
  const place& where = given != places.each.end() ? given->second : d.spec.name.place;
  const auto written = parse(d.spec.run.policy);
  if (!written) {
    d.out.error(where, fmt::format("'policy' must be a name or a mapping from it to parameters, "
                                   "such as {{random: {{seed: 2}}}}, found {}",
                                   quote(d.spec.run.policy)));
    return;
  }
  const policy_kind* kind = nullptr;
  try {
    const auto known = all_policies(d.registry);
    kind = find_policy(known, written->name);
    if (kind == nullptr) {
      throw input_error(fmt::format("unknown policy {}{}", quote(written->name),
                                    policy_suggestion(known, written->name)));
    }
  } catch (const input_error& e) {
    d.out.error(where, e.what());
    return;
  }
  diagnostics found;
  auto bound =
      bind_arguments(kind->parameters, written->parameters, "policy " + kind->name, {}, "", found);
  for (const diagnostic& each : found.all()) d.out.error(where, each.message);
  if (found.has_errors() || !has_workers(d.spec.run)) return;
  check_needs(d, *kind, where);
  if (kind->name != default_policy) d.policy = {kind, std::move(bound)};
}

}  // namespace graphline::planning
