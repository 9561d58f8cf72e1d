#include "framework/spec/experiment_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <utility>

#include "framework/base/text_file.hpp"
#include "framework/base/utf8.hpp"
#include "framework/spec/configuration_reader.hpp"
#include "framework/spec/key_table.hpp"
#include "framework/spec/node_reading.hpp"
#include "framework/spec/pipeline_reader.hpp"
#include "framework/spec/settings_reader.hpp"
#include "framework/spec/yaml_reader.hpp"

namespace graphline {
namespace {

setting<experiment_settings> tail_setting() {
  parameter key{.name = "tail",
                .type = parameter_type::choice,
                .help = "The percentile of end-to-end times that is compared beside p50."};
  for (const auto& [name, quantile] : shown_percentiles) {
    if (quantile > 0.5) key.choices.emplace_back(name);
    if (quantile == experiment_settings{}.tail) key.default_value = name;
  }
  return {std::move(key), [](experiment_settings& how, const arguments::value& v) {
            how.tail =
                std::ranges::find(shown_percentiles, std::get<std::string>(v), &word<double>::first)
                    ->second;
          }};
}

const std::vector<setting<experiment_settings>>& all_experiment_settings() {
  using how = experiment_settings;
  static const std::vector<setting<how>> table = {
      setting_of(&how::trials, {.name = "trials",
                                .help = "Maximum number of trials of each configuration.",
                                .minimum = 1,
                                .maximum = 10'000}),
      setting_of(&how::time_limit, {.name = "time_limit",
                                    .type = parameter_type::duration,
                                    .help = "No block of trials begins after this time.",
                                    .minimum = 1}),
      setting_of(&how::narrow_to,
                 {.name = "narrow_to",
                  .type = parameter_type::percent,
                  .help = "Stop when the 95 % interval of every ratio of p50s reaches at most this "
                          "far to either side."}),
      {{.name = "margin",
        .type = parameter_type::percent,
        .help = "A ratio that differs from 1 by at most this counts as the same.",
        .default_value = "1%"},
       [](how& to, const arguments::value& v) { to.margin = std::get<double>(v); }},
      tail_setting(),
      setting_of(&how::seed,
                 {.name = "seed", .help = "Seed of the random order of trials.", .minimum = 0}),
      setting_of(&how::repeat_affected,
                 {.name = "repeat_affected",
                  .help = "Repeat blocks of trials that machine noise disturbed."}),
      setting_of(&how::share,
                 {.name = "share",
                  .help = "What the pipelines of 'together' share under one policy: the workers of "
                          "CPU stages, the window of device stages, or both."}),
      setting_of(&how::horizon,
                 {.name = "horizon",
                  .type = parameter_type::duration,
                  .help = "How long all pipelines of 'together' are measured, from a common start; "
                          "takes the place of 'frames'.",
                  .minimum = 1}),
  };
  return table;
}

/// Keys that cannot be combined with `together`. Each member has its own pipeline and parameters.
constexpr const char* not_with_together[] = {"pipeline", "params"};

/// Keys that cannot be combined with `configurations`.
constexpr const char* not_with_configurations[] = {"vary", "exclude"};

/// Keys that have no meaning without configurations.
constexpr const char* only_with_compared[] = {"baseline", "exclude"};

/// Run settings that an experiment may also have at the top level.
constexpr const char* keys_at_top[] = {"frames", "warmup"};

/// Returns the member with this key, or null.
const node::member* find_member(const node& mapping, std::string_view key) {
  const auto found = std::ranges::find_if(mapping.members(),
                                          [&](const node::member& m) { return m.key.text == key; });
  return found == mapping.members().end() ? nullptr : &*found;
}

/// Reports each of `keys` that is present, because the key `owner` excludes it.
void refuse_beside(const node& root, std::string_view owner, std::span<const char* const> keys,
                   diagnostics& out) {
  for (const char* key : keys) {
    const node::member* found = find_member(root, key);
    if (found == nullptr) continue;
    out.error(found->key.place,
              fmt::format("'{}' cannot be combined with '{}'; remove one of the two", key, owner));
  }
}

/// Reports every `$name`.
void refuse_references(const node& n, diagnostics& out) {
  for (const node& item : n.items()) refuse_references(item, out);
  for (const node::member& m : n.members()) refuse_references(m.value, out);
  if (!parameter_reference(n)) return;
  out.error(n.where(), fmt::format("{} cannot stand here: an experiment has no parameters of its "
                                   "own, so write the value; put a text that begins with '$' in "
                                   "quotes",
                                   n.describe()));
}

named read_pipeline_path(const node& of, const std::vector<parameter>& keys, const place& where,
                         const char* missing, diagnostics& out) {
  const node* value = of.find("pipeline");
  if (value == nullptr) {
    const bool reported = member_meant(of, "pipeline", names_of(keys)) != nullptr;
    if (!reported) out.error(where, missing);
    return {"", of.where()};
  }
  if (!value->is_scalar() || value->text().empty()) {
    report_mismatch(*value, "pipeline", "the path of a pipeline file", out);
  }
  return {value->text(), value->where()};
}

/// Reads `run:` and the run settings at the top of the file.
std::vector<assignment> read_common_run(const node& root, diagnostics& out) {
  std::vector<assignment> list;
  if (const node* n = root.find("run")) list = read_run_assignments(*n, out);
  for (const char* key : keys_at_top) {
    const node::member* found = find_member(root, key);
    if (found == nullptr) continue;
    check_value(found->key, found->value, out);
    list.push_back({found->key, found->value});
  }
  return list;
}

void read_one_pipeline(const node& root, experiment_spec& spec, diagnostics& out) {
  spec.pipeline =
      read_pipeline_path(root, experiment_keys(), {spec.source},
                         "the key 'pipeline' is missing; it is the path of the pipeline whose "
                         "configurations are compared",
                         out);
  if (const node* n = root.find("params")) spec.params = read_parameter_assignments(*n, out);
  const bool compares = root.find("vary") != nullptr || root.find("configurations") != nullptr;
  // A misspelled `vary` is reported as an unknown key.
  if (compares || member_meant(root, "vary", names_of(experiment_keys())) != nullptr) return;
  out.error({spec.source},
            "there is nothing to compare: 'vary' or 'configurations' is missing, such as "
            "vary: {timing: [none, event]}");
}

/// Reads `vary` or `configurations`, if there is one.
void read_compared(const node& root, experiment_spec& spec, diagnostics& out) {
  const node* baseline = root.find("baseline");
  if (const node* list = root.find("configurations")) {
    refuse_beside(root, "configurations", not_with_configurations, out);
    spec.configurations = read_configurations(*list, baseline, out);
  } else if (const node* vary = root.find("vary")) {
    spec.varied = true;
    spec.configurations = read_grid(*vary, baseline, root.find("exclude"), out);
  } else {
    refuse_beside(root, "together' without 'vary", only_with_compared, out);
  }
}

/// Returns the given name, else the stem of the pipeline's file name; empty after an error.
named read_member_name(const node& item, const named& pipeline, diagnostics& out) {
  const node* given = item.find("name");
  if (given == nullptr && pipeline.text.empty()) return pipeline;
  const auto stem = std::filesystem::path(pipeline.text).stem().string();
  return read_name(given != nullptr ? *given : node::scalar(stem, true, pipeline.place), "name",
                   "a member", check_label, out);
}

member_spec read_member(const node& item, diagnostics& out) {
  check_keys(item, "a member of 'together'", names_of(member_keys()), out);
  member_spec member;
  member.pipeline =
      read_pipeline_path(item, member_keys(), item.where(),
                         "a member of 'together' needs a 'pipeline', the path of its file", out);
  member.name = read_member_name(item, member.pipeline, out);
  if (const node* n = item.find("priority")) member.priority = read_priority(*n, out);
  if (const node* n = item.find("run")) member.run = read_run_assignments(*n, out);
  if (const node* n = item.find("params")) member.params = read_parameter_assignments(*n, out);
  return member;
}

std::vector<member_spec> read_members(const node& section, diagnostics& out) {
  std::vector<member_spec> members;
  if (!section.is_sequence()) {
    report_mismatch(section, "together", "a list of members, each with a 'pipeline'", out);
    return members;
  }
  if (section.items().size() < 2) {
    out.error(section.where(),
              "'together' needs at least two members; for a single pipeline use 'pipeline' with "
              "'vary' or 'configurations'");
  }
  for (const node& item : section.items()) {
    if (item.is_mapping()) {
      members.push_back(read_member(item, out));
    } else {
      report_mismatch(item, "together", "a list of mappings with 'name' and 'pipeline'", out);
    }
  }
  check_distinct(members, "member", out);
  return members;
}

/// Reads a list of stages, or a mapping with `stages` and bounds.
chain_spec read_chain(const node::member& entry, diagnostics& out) {
  const std::string what = fmt::format("chains.{}", printable(entry.key.text));
  chain_spec chain{entry.key, {}, {}, {}};
  check_label(chain.name, "a chain", out);
  const node* stages = &entry.value;
  if (entry.value.is_mapping()) {
    check_keys(entry.value, "a chain", {"stages", "age", "reaction"}, out);
    for (const auto& [key, bound] :
         {std::pair{"age", &chain.age}, std::pair{"reaction", &chain.reaction}}) {
      if (const node* n = entry.value.find(key)) *bound = read_duration(*n, key, out);
    }
    stages = entry.value.find("stages");
  }
  if (stages != nullptr && stages->is_sequence() && stages->items().size() >= 2) {
    chain.stages = read_names(*stages, what, out);
  } else {
    report_mismatch(stages != nullptr ? *stages : entry.value, what,
                    "a list of at least two stages MEMBER.STAGE, or a mapping with 'stages' and "
                    "the bounds 'age' and 'reaction'",
                    out);
  }
  return chain;
}

std::vector<chain_spec> read_chains(const node& section, diagnostics& out) {
  std::vector<chain_spec> chains;
  if (!check_mapping(section, "chains", out)) return chains;
  for (const node::member& entry : section.members()) chains.push_back(read_chain(entry, out));
  return chains;
}

/// Reports a `horizon` without `together`, and each `frames` of the experiment beside it.
void check_horizon(const node& root, const experiment_spec& spec, diagnostics& out) {
  if (spec.together.empty()) {
    out.error(find_member(root, "horizon")->key.place,
              "'horizon' needs several pipelines: list them under 'together'; the length of a "
              "single pipeline's run is 'frames' or 'max_time'");
    return;
  }
  const auto refuse = [&](const std::vector<assignment>& list) {
    for (const assignment& a : list) {
      if (a.key.text != "frames" && !a.key.text.ends_with(".frames")) continue;
      out.error(a.key.place, fmt::format("'{}' has no effect with 'horizon', which sets how long "
                                         "all pipelines run; remove one of the two",
                                         a.key.text));
    }
  };
  refuse(spec.run);
  for (const member_spec& member : spec.together) refuse(member.run);
  for (const configuration_spec& c : spec.configurations) refuse(c.assignments);
}

}  // namespace

const std::vector<parameter>& experiment_setting_keys() {
  static const std::vector<parameter> keys = keys_of(all_experiment_settings());
  return keys;
}

experiment_settings read_experiment_settings(const node& root, diagnostics& out) {
  experiment_settings how;
  for (const setting<experiment_settings>& s : all_experiment_settings()) {
    const node* given = root.find(s.key.name);
    if (given == nullptr) continue;
    if (const auto read = read_value(s.key, *given, "", out)) s.store(how, *read);
  }
  return how;
}

const std::vector<parameter>& experiment_keys() {
  static const std::vector<parameter> keys = [] {
    std::vector<parameter> list = {
        required(structure_key("experiment", "name", "Name of the experiment, in every result.")),
        {.name = "description", .type = parameter_type::text, .help = "What it is, for people."},
        {.name = "pipeline",
         .type = parameter_type::path,
         .help = "File of the pipeline whose configurations are compared, relative to the "
                 "experiment's folder; required unless there is 'together'."},
        structure_key("params", "mapping of parameters",
                      "Values of the pipeline's parameters, for all configurations."),
        structure_key("run", "mapping of settings", "Settings of all configurations and members.")};
    for (const char* key : keys_at_top) {
      list.push_back(*find_parameter(run_keys(), key));
      list.back().default_value.reset();  // by default the value in the pipeline's file
    }
    list.insert(
        list.end(),
        {structure_key("vary", "mapping to lists of values",
                       "A grid: settings and parameters of the pipeline, each with the values to "
                       "compare."),
         structure_key("baseline", "name or mapping of values",
                       "What others are compared with: some values of 'vary', or the name of one "
                       "of the 'configurations'; the first when left out."),
         structure_key("configurations", "list of configurations",
                       "What is compared, in the place of 'vary'."),
         structure_key("exclude", "list of mappings of values",
                       "Parts of the grid of 'vary' that do not run."),
         structure_key("together", "list of members",
                       "Pipelines that run at once: compared with each alone or, with 'vary' or "
                       "'configurations', in these. A key MEMBER.KEY there is of one member."),
         structure_key("chains", "mapping of chains",
                       "Cause-effect chains across members: NAME: [MEMBER.STAGE, ...], or a "
                       "mapping with 'stages' and the bounds 'age' and 'reaction'.")});
    const std::vector<parameter>& how = experiment_setting_keys();
    list.insert(list.end(), how.begin(), how.end());
    return list;
  }();
  return keys;
}

const std::vector<parameter>& member_keys() {
  static const std::vector<parameter> keys = {
      structure_key("name", "label", "Name of the member; that of its file when left out."),
      {.name = "pipeline",
       .type = parameter_type::path,
       .help = "Pipeline file, relative to the experiment's folder.",
       .required = true},
      priority_key("Of all its stages and streams; as in its file when left out."),
      structure_key("run", "mapping of settings", "Settings that differ from its file's."),
      structure_key("params", "mapping of parameters", "Values of its parameters.")};
  return keys;
}

experiment_spec read_experiment(std::shared_ptr<const source_text> source, diagnostics& out) {
  experiment_spec spec;
  spec.source = source;
  spec.directory = folder_of(source->name());
  const place file{source};

  const node root = read_document(
      source,
      {"an experiment", "'experiment', 'pipeline' and 'vary'", "stages", "a pipeline", "run"}, out);
  if (root.is_null()) return spec;

  refuse_references(root, out);
  check_keys(root, "an experiment", names_of(experiment_keys()), out);
  spec.name = read_document_name(root, file, "experiment", "an experiment",
                                 names_of(experiment_keys()), out);
  if (spec.name.text.starts_with('-')) {
    out.error(spec.name.place,
              fmt::format("{} cannot be the name of an experiment: the name of its trials' file "
                          "begins with it, and that of an option with '-'",
                          quote(spec.name.text)));
  }
  if (const node* n = root.find("description")) {
    spec.description = read_text(*n, "description", out).value_or("");
  }
  spec.how = read_experiment_settings(root, out);
  if (const node* together = root.find("together")) {
    refuse_beside(root, "together", not_with_together, out);
    spec.together = read_members(*together, out);
    if (const node* chains = root.find("chains")) spec.chains = read_chains(*chains, out);
  } else {
    read_one_pipeline(root, spec, out);
    if (const node::member* chains = find_member(root, "chains")) {
      out.error(chains->key.place, "'chains' needs several pipelines: list them under 'together'");
    }
  }
  spec.run = read_common_run(root, out);
  read_compared(root, spec, out);
  if (spec.together.empty() && spec.how.share != sharing::none) {
    out.error(find_member(root, "share")->key.place,
              "'share' needs several pipelines: list them under 'together'");
  }
  if (spec.how.horizon) check_horizon(root, spec, out);
  return spec;
}

}  // namespace graphline
