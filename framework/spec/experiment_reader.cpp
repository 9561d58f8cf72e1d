#include "framework/spec/experiment_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "framework/base/text_file.hpp"
#include "framework/base/utf8.hpp"
#include "framework/spec/configuration_reader.hpp"
#include "framework/spec/key_table.hpp"
#include "framework/spec/node_reading.hpp"
#include "framework/spec/settings_reader.hpp"
#include "framework/spec/yaml_reader.hpp"

namespace graphline {
namespace {

constexpr std::pair<const char*, double> tails[] = {
    {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}, {"p99.9", 0.999}};

setting<experiment_settings> tail_setting() {
  parameter key{.name = "tail",
                .type = parameter_type::choice,
                .help = "The percentile of end-to-end times that is compared beside p50."};
  for (const auto& [name, quantile] : tails) {
    key.choices.emplace_back(name);
    if (quantile == experiment_settings{}.tail) key.default_value = name;
  }
  return {std::move(key), [](experiment_settings& how, const arguments::value& v) {
            how.tail = std::ranges::find(tails, std::get<std::string>(v),
                                         &std::pair<const char*, double>::first)
                           ->second;
          }};
}

const std::vector<setting<experiment_settings>>& all_settings() {
  using how = experiment_settings;
  static const std::vector<setting<how>> table = {
      setting_of(&how::trials, {.name = "trials",
                                .help = "Maximum number of trials of each configuration.",
                                .minimum = 1,
                                .maximum = 10'000}),
      setting_of(&how::time_limit, {.name = "time_limit",
                                    .type = parameter_type::duration,
                                    .help = "No block of trials begins after this time.",
                                    .unit = "s",
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
  };
  return table;
}

/// Keys that cannot stand beside `together`: each member has its own, or there is nothing to vary.
constexpr const char* not_with_together[] = {"pipeline", "params",         "run",
                                             "frames",   "warmup",         "vary",
                                             "baseline", "configurations", "exclude"};

/// The settings of the run that stand at the top of an experiment on one pipeline.
constexpr const char* keys_at_top[] = {"frames", "warmup"};

bool stands_at_top(const std::string& key) {
  return std::ranges::find(keys_at_top, key) != std::end(keys_at_top);
}

/// The member of a mapping that has this key, with the key's place, or null.
const node::member* find_member(const node& mapping, std::string_view key) {
  const auto found = std::ranges::find_if(mapping.members(),
                                          [&](const node::member& m) { return m.key.text == key; });
  return found == mapping.members().end() ? nullptr : &*found;
}

/// Whether the document is an experiment at all; says what it is if not.
bool check_document(const node& root, const place& file, diagnostics& out) {
  if (!check_document(root, file, "an experiment", "'experiment', 'pipeline' and 'vary'", out)) {
    return false;
  }
  if (root.find("experiment") != nullptr) return true;
  if (!check_no_result(root, "an experiment", out)) return false;
  const bool compares = root.find("vary") != nullptr || root.find("configurations") != nullptr ||
                        root.find("together") != nullptr;
  const node::member* stages = find_member(root, "stages");
  const node::member* pipeline = find_member(root, "pipeline");
  if (stages == nullptr && (compares || pipeline == nullptr)) return true;
  out.error((pipeline != nullptr ? pipeline : stages)->key.place,
            "this file declares a pipeline, not an experiment; run it with 'graphline run'");
  return false;
}

/// Reports every `$name`, once where an alias repeats it.
void refuse_references(const node& n, std::set<std::pair<std::size_t, std::size_t>>& seen,
                       diagnostics& out) {
  for (const node& item : n.items()) refuse_references(item, seen, out);
  for (const node::member& m : n.members()) refuse_references(m.value, seen, out);
  if (!parameter_reference(n) || !seen.emplace(n.where().line, n.where().column).second) return;
  out.error(n.where(), fmt::format("{} cannot stand here: an experiment has no parameters of its "
                                   "own, so write the value; put a text that begins with '$' in "
                                   "quotes",
                                   n.describe()));
}

named read_experiment_name(const node& root, const place& file, diagnostics& out) {
  const node* value = root.find("experiment");
  if (value == nullptr) {
    out.error(file, "the key 'experiment' is missing; it names the experiment");
    return {};
  }
  return read_name(*value, "experiment", "an experiment", check_name, out);
}

named read_pipeline_path(const node& of, const place& where, const char* missing,
                         diagnostics& out) {
  const node* value = of.find("pipeline");
  if (value == nullptr) {
    out.error(where, missing);
    return {"", of.where()};
  }
  const auto text = read_text(*value, "pipeline", out);
  if (text && text->empty()) {
    out.error(value->where(),
              "'pipeline' must be the path of a pipeline file, found an empty text");
  }
  return {text.value_or(""), value->where()};
}

/// `run:` with `frames` and `warmup`, which stand beside it.
std::vector<assignment> read_common_run(const node& root, diagnostics& out) {
  std::vector<assignment> list;
  const auto at_top = [](const assignment& a) { return stands_at_top(a.key.text); };
  if (const node* n = root.find("run")) list = read_run_assignments(*n, out);
  for (const assignment& a : list) {
    if (!at_top(a)) continue;
    out.error(a.key.place, fmt::format("'{}' stands at the top of an experiment, beside 'trials'; "
                                       "move it there",
                                       a.key.text));
  }
  std::erase_if(list, at_top);
  for (const char* key : keys_at_top) {
    const node::member* found = find_member(root, key);
    if (found == nullptr) continue;
    check_value(found->key, found->value, out);
    list.push_back({found->key, found->value});
  }
  return list;
}

/// What varies cannot be the same for all.
void check_varied(const node& vary, const experiment_spec& spec, diagnostics& out) {
  for (const auto& [key, values] : vary.members()) {
    for (const std::vector<assignment>* common : {&spec.run, &spec.params}) {
      const assignment* found = find_assignment(*common, key.text);
      if (found == nullptr) continue;
      out.error(key.place, fmt::format("{} varies here but is set for all configurations on line "
                                       "{}; take it out of one of the two",
                                       quote(key.text), found->key.place.line));
    }
  }
}

void read_one_pipeline(const node& root, experiment_spec& spec, diagnostics& out) {
  spec.pipeline =
      read_pipeline_path(root, {spec.source},
                         "the key 'pipeline' is missing; it is the path of the pipeline whose "
                         "configurations are compared",
                         out);
  spec.run = read_common_run(root, out);
  if (const node* n = root.find("params")) spec.params = read_parameter_assignments(*n, out);

  const node* vary = root.find("vary");
  const node* baseline = root.find("baseline");
  const node* exclude = root.find("exclude");
  if (const node::member* list = find_member(root, "configurations")) {
    if (vary != nullptr) {
      out.error(list->key.place,
                "'configurations' cannot stand beside 'vary': configurations are either a list or "
                "a grid");
    } else {
      spec.configurations = read_configurations(list->value, baseline, out);
      if (exclude != nullptr) {
        out.error(find_member(root, "exclude")->key.place,
                  "'exclude' leaves out parts of the grid of 'vary'; of 'configurations' take off "
                  "the list what is not to run");
      }
      return;
    }
  }
  if (vary == nullptr) {
    out.error({spec.source},
              "there is nothing to compare: 'vary' or 'configurations' is missing, such as "
              "vary: {timing: [none, event]}");
    return;
  }
  spec.varied = true;
  spec.configurations = read_grid(*vary, baseline, exclude, out);
  check_varied(*vary, spec, out);
}

/// As given; else after the file; empty where that has been reported.
named read_member_name(const node& item, const named& pipeline, diagnostics& out) {
  const node* given = item.find("name");
  if (given == nullptr && pipeline.text.empty()) return pipeline;
  const auto stem = std::filesystem::path(pipeline.text).stem().string();
  return read_name(given != nullptr ? *given : node::scalar(stem, true, pipeline.place), "name",
                   "a member", check_label, out);
}

member_spec read_member(const node& item, diagnostics& out) {
  check_keys_beside_run(item, "a member of 'together'", "write it under 'run' of the member",
                        names_of(member_keys()), out);
  member_spec member;
  member.pipeline = read_pipeline_path(
      item, item.where(), "a member of 'together' needs a 'pipeline', the path of its file", out);
  member.name = read_member_name(item, member.pipeline, out);
  if (const node* n = item.find("priority")) {
    member.priority = read_word<priority>(*n, "priority", out);
  }
  if (const node* n = item.find("run")) member.run = read_run_assignments(*n, out);
  if (const node* n = item.find("params")) member.params = read_parameter_assignments(*n, out);
  return member;
}

/// Pipelines that run at once. A member without a `name` is called as its pipeline's file is,
/// without the extension.
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
  check_distinct(members, "member", "; give each a 'name' of its own", out);
  return members;
}

void read_together(const node& root, const node& together, experiment_spec& spec,
                   diagnostics& out) {
  for (const char* key : not_with_together) {
    const node::member* found = find_member(root, key);
    if (found == nullptr) continue;
    out.error(found->key.place,
              fmt::format("'{}' cannot stand beside 'together', where each member has its own "
                          "'pipeline', 'run' and 'params' and is compared with itself alone",
                          key));
  }
  spec.together = read_members(together, out);
}

}  // namespace

const std::vector<parameter>& experiment_setting_keys() {
  static const std::vector<parameter> keys = keys_of(all_settings());
  return keys;
}

experiment_settings read_experiment_settings(const node& root, diagnostics& out) {
  experiment_settings how;
  for (const setting<experiment_settings>& s : all_settings()) {
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
        structure_key("run", "mapping of common settings", "Settings of all configurations.")};
    for (const char* key : keys_at_top) {
      list.push_back(*find_parameter(run_keys(), key));
      list.back().default_value.reset();  // as in the pipeline's file
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
                       "Pipelines that run at once, compared with each alone.")});
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
      word_key<priority>("priority", "Of all its streams; as in its file when left out."),
      structure_key("run", "mapping of settings", "Settings that differ from its file's."),
      structure_key("params", "mapping of parameters", "Values of its parameters.")};
  return keys;
}

std::vector<std::string> keys_not_beside_together() {
  return {std::begin(not_with_together), std::end(not_with_together)};
}

std::vector<parameter> common_run_keys() {
  std::vector<parameter> keys = run_keys();
  std::erase_if(keys, [](const parameter& p) { return stands_at_top(p.name); });
  return keys;
}

experiment_spec read_experiment(std::shared_ptr<const source_text> source, diagnostics& out) {
  experiment_spec spec;
  spec.source = source;
  spec.directory = folder_of(source->name());
  const place file{source};

  const std::size_t before = out.all().size();
  const node root = without_own_keys(read_yaml(source, out));
  const bool unreadable = root.is_null() && out.all().size() > before;
  if (unreadable || !check_document(root, file, out)) return spec;

  std::set<std::pair<std::size_t, std::size_t>> seen;
  refuse_references(root, seen, out);
  check_keys_beside_run(root, "an experiment",
                        "write it under 'run', or under 'vary' with a list of values",
                        names_of(experiment_keys()), out);
  spec.name = read_experiment_name(root, file, out);
  if (const node* n = root.find("description")) {
    spec.description = read_text(*n, "description", out).value_or("");
  }
  spec.how = read_experiment_settings(root, out);
  if (const node* together = root.find("together")) {
    read_together(root, *together, spec, out);
  } else {
    read_one_pipeline(root, spec, out);
  }
  return spec;
}

}  // namespace graphline
