#include "framework/spec/pipeline_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "framework/base/text_file.hpp"
#include "framework/base/utf8.hpp"
#include "framework/spec/key_table.hpp"
#include "framework/spec/node_reading.hpp"
#include "framework/spec/parameter_substitution.hpp"
#include "framework/spec/settings_reader.hpp"

namespace graphline {
namespace {

/// Reads the `inputs:` section, a mapping from names to inputs. An input whose shape could not be
/// read is left out.
std::vector<input_spec> read_inputs(const node& section, diagnostics& out) {
  std::vector<input_spec> inputs;
  if (section.is_null() || !check_mapping(section, "inputs", out)) return inputs;
  for (const auto& [name, value] : section.members()) {
    if (!check_name(name, "an input", out)) continue;
    const std::string owner = "input " + quote(name.text);
    // Kept even when nothing else of it can be understood, so that its readers are not told off.
    input_spec& input = inputs.emplace_back();
    input.name = name;
    input.typed = false;
    if (value.is_null()) {
      out.error(name.place, owner + " needs a 'shape', such as {shape: [1, 3, 224, 224]}");
      continue;
    }
    if (!check_mapping(value, name.text, out)) continue;
    check_keys(value, owner, names_of(input_keys()), out);

    if (const node* n = value.find("shape")) {
      const auto extents = read_shape(*n, "shape", out);
      if (extents) input.type.shape = *extents;
      input.typed = extents.has_value();
    } else {
      out.error(name.place, owner + " needs a 'shape'");
    }
    if (const node* n = value.find("dtype")) {
      const auto element = read_dtype(*n, "dtype", out);
      if (element) input.type.element = *element;
      input.typed = input.typed && element.has_value();
    }
    if (const node* n = value.find("fill")) {
      input.fill = read_word<fill>(*n, "fill", out).value_or(input.fill);
    }
    if (const node* n = value.find("on")) input.on = read_word<side>(*n, "on", out);
  }
  return inputs;
}

bool is_stage_key(const std::string& key) {
  return find_parameter(stage_keys(), key) != nullptr;
}

/// The key that was likely meant to be `missing`, one that every stage has: "nmae" is more likely a
/// slip than a parameter of the stage's kind. Null when `missing` is there or nothing is near.
const node::member* slip_for(const node& stage, std::string_view missing) {
  if (stage.find(missing) != nullptr) return nullptr;
  const auto found = std::ranges::find_if(stage.members(), [&](const node::member& m) {
    return !is_stage_key(m.key.text) && nearest(m.key.text, names_of(stage_keys())) == missing;
  });
  return found == stage.members().end() ? nullptr : &*found;
}

/// The text of a key that every stage has. Empty, and at the stage's place, when it is not there.
named read_required(const node& stage, std::string_view key, std::string_view owner,
                    diagnostics& out) {
  if (const node* value = stage.find(key)) {
    const auto text = read_text(*value, key, out);
    if (text && text->empty()) {
      out.error(value->where(), fmt::format("the '{}' of {} is empty", key, owner));
    }
    return {text.value_or(""), value->where()};
  }
  if (const node::member* slip = slip_for(stage, key)) {
    out.error(slip->key.place, fmt::format("{} needs a '{}', found {} (did you mean '{}'?)", owner,
                                           key, quote(slip->key.text), key));
  } else {
    out.error(stage.where(), fmt::format("{} needs a '{}'", owner, key));
  }
  return {"", stage.where()};
}

stage_spec read_stage(const node& item, diagnostics& out) {
  stage_spec stage;
  stage.name = read_required(item, "name", "a stage", out);
  if (!stage.name.text.empty() && !check_name(stage.name, "a stage", out)) stage.name.text.clear();
  const std::string owner = stage.name.text.empty() ? "a stage" : "stage " + quote(stage.name.text);
  stage.kind = read_required(item, "kind", owner, out);
  if (const node* n = item.find("reads")) stage.reads = read_names(*n, "reads", out);
  if (const node* n = item.find("writes")) stage.writes = read_names(*n, "writes", out);
  if (const node* n = item.find("after")) stage.after = read_names(*n, "after", out);
  if (const node* n = item.find("priority")) {
    stage.priority = read_word<priority>(*n, "priority", out).value_or(stage.priority);
  }

  const node::member* slips[] = {slip_for(item, "name"), slip_for(item, "kind")};
  std::vector<node::member> parameters;
  for (const node::member& m : item.members()) {
    const bool is_slip = std::ranges::find(slips, &m) != std::end(slips);
    if (!is_stage_key(m.key.text) && !is_slip) parameters.push_back(m);
  }
  stage.parameters = node::mapping(std::move(parameters), item.where());
  return stage;
}

/// Reads the `stages:` section, a list of mappings. Keys that every stage has are taken out; the
/// others are the parameters of its kind, which are not looked at here. Reports duplicate names. A
/// stage whose name or kind could not be read is kept, with that text empty.
std::vector<stage_spec> read_stages(const node& section, diagnostics& out) {
  std::vector<stage_spec> stages;
  if (!section.is_sequence()) {
    report_mismatch(section, "stages", "a list of stages", out);
    return stages;
  }
  if (section.items().empty()) out.error(section.where(), "'stages' needs at least one stage");
  for (const node& item : section.items()) {
    if (item.is_mapping()) {
      stages.push_back(read_stage(item, out));
    } else {
      report_mismatch(item, "stages", "a list of mappings with 'name' and 'kind'", out);
    }
  }
  check_distinct(stages, "stage", "", out);
  return stages;
}

/// Whether the document is a pipeline at all; says what it is if not.
bool check_document(const node& root, const place& file, diagnostics& out) {
  if (!check_document(root, file, "a pipeline", "'pipeline' and 'stages'", out)) return false;
  for (const auto& [key, value] : root.members()) {
    if (key.text != "experiment") continue;
    out.error(key.place,
              "this file declares an experiment, not a pipeline; compare its "
              "configurations with 'graphline compare'");
    return false;
  }
  return check_no_result(root, "a pipeline", out);
}

/// The document with every `$name` outside of `params` replaced.
node resolve(const node& root, parameter_values& parameters, diagnostics& out) {
  std::vector<node::member> members;
  for (const auto& [key, value] : root.members()) {
    if (key.text == "params") continue;
    members.push_back({key, parameters.substitute(value, out)});
  }
  return node::mapping(std::move(members), root.where());
}

named read_pipeline_name(const node& root, const place& file, diagnostics& out) {
  const node* value = root.find("pipeline");
  if (value == nullptr) {
    out.error(file, "the key 'pipeline' is missing; it names the pipeline");
    return {};
  }
  return read_name(*value, "pipeline", "a pipeline", check_name, out);
}

/// A path or a list of paths; nothing is looked for on disk.
std::vector<named> read_plugins(const node& section, diagnostics& out) {
  std::vector<named> paths;
  const auto read = [&](const node& item) {
    if (!item.is_scalar() || is_unresolved(item)) {
      report_mismatch(item, "plugins", "a path or a list of paths", out);
    } else if (item.text().empty()) {
      out.error(item.where(), "a member of 'plugins' must be a path, found an empty text");
    } else {
      paths.push_back({item.text(), item.where()});
    }
  };
  if (section.is_sequence()) {
    std::ranges::for_each(section.items(), read);
  } else if (!section.is_null()) {
    read(section);
  }
  return paths;
}

}  // namespace

const std::vector<parameter>& pipeline_keys() {
  static const std::vector<parameter> keys = {
      required(structure_key("pipeline", "name", "Name of the pipeline, in every result.")),
      {.name = "description", .type = parameter_type::text, .help = "What it is, for people."},
      structure_key("params", "mapping of parameters",
                    "Values that '$NAME' stands for elsewhere in the file, and that --set and "
                    "experiments override."),
      structure_key("plugins", "path or list of paths",
                    "Shared libraries that bring stage kinds, relative to the file's folder."),
      structure_key("inputs", "mapping of inputs",
                    "Tensors that are there before the first frame and stay the same."),
      required(structure_key("stages", "list of stages", "What the pipeline does.")),
      structure_key("run", "mapping of settings",
                    "How it runs, unless the command line says otherwise.")};
  return keys;
}

const std::vector<parameter>& input_keys() {
  static const std::vector<parameter> keys = {
      {.name = "shape",
       .type = parameter_type::shape,
       .help = "Its extents, outermost first.",
       .required = true},
      {.name = "dtype",
       .type = parameter_type::element,
       .help = "Type of its elements.",
       .default_value = std::string(to_string(tensor_type{}.element))},
      word_key("fill", "What it is filled with before the first frame.",
               std::optional(input_spec{}.fill)),
      word_key<side>("on", "Where it lives; where it is read first when left out.")};
  return keys;
}

const std::vector<parameter>& stage_keys() {
  static const std::vector<parameter> keys = {
      required(structure_key("name", "name", "Name of the stage, in every table.")),
      {.name = "kind",
       .type = parameter_type::text,
       .help = "What the stage does; 'graphline stages' lists the kinds.",
       .required = true},
      structure_key("reads", "name or list of names",
                    "Tensors that it reads: inputs of the pipeline, or what other stages write."),
      structure_key("writes", "name or list of names",
                    "Names of the tensors that it writes; named after the stage when left out."),
      structure_key("after", "name or list of names",
                    "Stages that must finish first without handing over data."),
      word_key("priority", "Of the stage's stream.", std::optional(stage_spec{}.priority))};
  return keys;
}

pipeline_spec read_pipeline(std::shared_ptr<const source_text> source,
                            const reading_options& options, diagnostics& out) {
  pipeline_spec spec;
  spec.source = source;
  spec.directory = folder_of(source->name());
  const place file{source};

  const std::size_t before = out.all().size();
  const node document = without_own_keys(read_yaml(source, out));
  const bool unreadable = document.is_null() && out.all().size() > before;
  if (unreadable || !check_document(document, file, out)) return spec;

  const node* params = document.find("params");
  parameter_values parameters(params ? *params : node(), options, out);
  const node root = resolve(document, parameters, out);
  parameters.report_unused(out);
  spec.parameters = parameters.resolved();

  check_keys(document, "a pipeline", names_of(pipeline_keys()), out);
  spec.name = read_pipeline_name(root, file, out);
  if (const node* n = root.find("description")) {
    spec.description = read_text(*n, "description", out).value_or("");
  }
  if (const node* n = root.find("plugins")) spec.plugins = read_plugins(*n, out);
  if (const node* n = root.find("inputs")) spec.inputs = read_inputs(*n, out);
  if (const node* n = root.find("stages")) {
    spec.stages = read_stages(*n, out);
  } else {
    out.error(file, "the key 'stages' is missing; it lists what the pipeline does");
  }
  if (const node* n = root.find("run")) read_settings(spec.run, spec.run_places, *n, out);
  return spec;
}

}  // namespace graphline
