#include "framework/spec/pipeline_reader.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/base/text_file.hpp"
#include "framework/spec/input_reader.hpp"
#include "framework/spec/key_table.hpp"
#include "framework/spec/names.hpp"
#include "framework/spec/node_reading.hpp"
#include "framework/spec/parameter_reference.hpp"
#include "framework/spec/parameter_substitution.hpp"
#include "framework/spec/settings_reader.hpp"
#include "framework/spec/stage_reader.hpp"
#include "framework/spec/yaml_reader.hpp"

namespace graphline {
namespace {

/// Whether the document is a pipeline at all; says what it is if not.
bool check_document(const node& root, const place& file, diagnostics& out) {
  if (root.is_null()) {
    out.error(
        file,
        "there is nothing in this file but comments; a pipeline has at least the keys 'pipeline' "
        "and 'stages'");
    return false;
  }
  if (!root.is_mapping()) {
    out.error(root.where(),
              "a pipeline file must be a mapping with the keys 'pipeline' and "
              "'stages', found " +
                  root.describe());
    return false;
  }
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
  const auto text = read_text(*value, "pipeline", out);
  if (!text) return {"", value->where()};
  named name{*text, value->where()};
  if (!check_name(name, "a pipeline", out)) name.text.clear();
  return name;
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
