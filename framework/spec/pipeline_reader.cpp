#include "framework/spec/pipeline_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>

#include "framework/base/error.hpp"
#include "framework/base/file/npy_file.hpp"
#include "framework/base/text_file.hpp"
#include "framework/base/utf8.hpp"
#include "framework/spec/key_table.hpp"
#include "framework/spec/node_reading.hpp"
#include "framework/spec/parameter_substitution.hpp"
#include "framework/spec/settings_reader.hpp"

namespace graphline {
namespace {

/// Takes an input's type from the header of its NumPy file. Reports an error and returns false if
/// the file is unreadable or contradicts the other keys.
bool take_type_of_file(const node& value, const arguments& given, input_spec& input,
                       diagnostics& out) {
  const std::size_t before = out.all().size();
  input.file = given.text("file");
  if (value.find("fill") != nullptr) {
    out.error(given.where("fill"), "'fill' does not go with 'file': omit one of them");
  }
  std::optional<dtype> stated;
  if (value.find("dtype") != nullptr) stated = given.element("dtype");
  try {
    const npy_file file(input.file);
    input.type = file.type();
    if (given.has("shape") && given.extents("shape") != input.type.shape) {
      out.error(given.where("shape"),
                fmt::format("NumPy file '{}' holds {}: omit 'shape', or make it {}", input.file,
                            to_string(input.type), to_string(input.type.shape)));
    }
    if (const auto problem = file.dtype_problem(stated); !problem.empty()) {
      out.error(given.where(stated ? "dtype" : "file"), problem);
    }
  } catch (const input_error& problem) {
    out.error(given.where("file"), problem.what());
    return false;
  }
  return out.all().size() == before;
}

/// Reads the `inputs:` section. Marks invalid inputs as not `typed`, so that stages that read them
/// report no follow-on errors.
std::vector<input_spec> read_inputs(const node& section, const std::string& directory,
                                    diagnostics& out) {
  std::vector<input_spec> inputs;
  if (section.is_null() || !check_mapping(section, "inputs", out)) return inputs;
  for (const auto& [name, value] : section.members()) {
    if (!check_name(name, "an input", out)) continue;
    input_spec& input = inputs.emplace_back();
    input.name = name;
    const std::string owner = "input " + quote(name.text);
    const std::size_t before = out.all().size();
    const arguments given = bind_arguments(input_keys(), value, owner, name.place, directory, out);
    input.typed = out.all().size() == before && !holds_unresolved(value);
    if (!given.has("dtype")) continue;  // the input is not a mapping
    input.fill = from_word<fill>(given.text("fill")).value();
    if (given.has("on")) input.on = from_word<side>(given.text("on"));
    if (given.has("file")) {
      input.typed = input.typed && take_type_of_file(value, given, input, out);
    } else if (given.has("shape")) {
      input.type = {given.extents("shape"), given.element("dtype")};
    } else if (input.typed) {
      out.error(name.place, owner + " needs 'shape' (shape) or 'file' (path)");
      input.typed = false;
    }
  }
  return inputs;
}

/// Reads a required key of a stage. If the key is missing, returns an empty text at the stage's
/// place and removes a misspelling of the key from `parameters`.
named read_required(const node& stage, const std::string& key, std::string_view owner,
                    std::vector<node::member>& parameters, diagnostics& out) {
  const node* value = stage.find(key);
  if (value == nullptr) {
    if (const auto* meant = member_meant(stage, key, names_of(stage_keys()))) {
      out.error(meant->key.place, fmt::format("unknown key {} in {} (did you mean '{}'?)",
                                              quote(meant->key.text), owner, key));
      std::erase_if(parameters,
                    [meant](const node::member& m) { return m.key.text == meant->key.text; });
      return {"", stage.where()};
    }
    out.error(stage.where(), fmt::format("{} needs a '{}'", owner, key));
    return {"", stage.where()};
  }
  const auto text = read_text(*value, key, out);
  if (text && text->empty()) {
    out.error(value->where(), fmt::format("the '{}' of {} is empty", key, owner));
  }
  return {text.value_or(""), value->where()};
}

/// Reads `reads` or `writes`: names, or a mapping from ports to names.
void read_tensors(const node& stage, std::string_view key, std::vector<named>& names,
                  std::vector<named>& ports, diagnostics& out) {
  const node* value = stage.find(key);
  if (value == nullptr) return;
  if (!value->is_mapping()) {
    names = read_names(*value, key, out);
    return;
  }
  for (const auto& [port, tensor] : value->members()) {
    const std::string what = fmt::format("a tensor in '{}'", key);
    named name = read_name(tensor, port.text, what, check_name, out);
    if (name.text.empty()) continue;
    names.push_back(std::move(name));
    ports.push_back(port);
  }
}

constexpr int most_rank = 9999;

/// Splits "rank1.left" into 1 and "left". Without a rank, it is 0. "rank01" and "rank-1" name no
/// rank.
std::pair<int, std::string> rank_and_device(const std::string& text) {
  constexpr std::string_view word = "rank";
  if (!text.starts_with(word)) return {0, text};
  const auto end = std::min(text.find('.'), text.size());
  int rank = 0;
  const std::string_view number = std::string_view(text).substr(0, end).substr(word.size());
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (number.empty() || !std::ranges::all_of(number, is_digit) || end + 1 == text.size() ||
      (number.size() > 1 && number.front() == '0')) {
    return {0, text};
  }
  const auto [at, problem] = std::from_chars(number.data(), number.data() + number.size(), rank);
  if (problem != std::errc()) return {most_rank + 1, ""};
  return {rank, end == text.size() ? "" : text.substr(end + 1)};
}

/// Reads "DEVICE", "rankN" or "rankN.DEVICE".
void read_place(const node& n, stage_spec& stage, diagnostics& out) {
  const auto [rank, device] = n.is_scalar() ? rank_and_device(n.text()) : std::pair(0, n.text());
  if (rank > most_rank) {
    out.error(n.where(), fmt::format("a pipeline has ranks 0 to {}", most_rank));
    return;
  }
  stage.rank = rank;
  if (n.is_scalar() && device.empty() && !n.text().empty()) return;
  const node name = n.is_scalar() ? node::scalar(device, n.quoted(), n.where()) : n;
  stage.on = read_name(name, "on", "a device", check_name, out);
}

stage_spec read_stage(const node& item, diagnostics& out) {
  stage_spec stage;
  std::vector<node::member> parameters = item.members();
  // Keeps `priority` among the parameters, because the planner checks whether the kind takes it.
  std::erase_if(parameters, [](const node::member& m) {
    return m.key.text != "priority" && find_parameter(stage_keys(), m.key.text) != nullptr;
  });
  stage.name = read_required(item, "name", "a stage", parameters, out);
  if (!stage.name.text.empty() && !check_name(stage.name, "a stage", out)) stage.name.text.clear();
  const std::string owner = stage.name.text.empty() ? "a stage" : "stage " + quote(stage.name.text);
  stage.kind = read_required(item, "kind", owner, parameters, out);
  read_tensors(item, "reads", stage.reads, stage.read_ports, out);
  read_tensors(item, "writes", stage.writes, stage.write_ports, out);
  if (const node* n = item.find("after")) stage.after = read_names(*n, "after", out);
  const auto read_tensor = [&](const char* key) {
    const node* n = item.find(key);
    return n == nullptr ? named{}
                        : read_name(*n, key, fmt::format("a tensor in '{}'", key), check_name, out);
  };
  stage.rows = read_tensor("rows");
  stage.when = read_tensor("when");
  if (const node* n = item.find("buckets")) {
    stage.buckets = {read_integers(*n, "buckets", out).value_or(std::vector<std::int64_t>{}),
                     n->where()};
    // After an error in `rows`, the planner cannot know whether the stage has rows.
    if (item.find("rows") != nullptr && stage.rows.text.empty()) stage.buckets.rows.clear();
  }
  if (const node* n = item.find("cores")) {
    stage.cores.place = n->where();
    if (const auto cores = read_value(*find_parameter(stage_keys(), "cores"), *n, "", out)) {
      const auto& list = std::get<std::vector<std::int64_t>>(*cores);
      const std::set<std::int64_t> ascending(list.begin(), list.end());
      for (const std::int64_t core : ascending) stage.cores.cpus.push_back(static_cast<int>(core));
      if (stage.cores.cpus.empty()) out.error(n->where(), "'cores' needs at least one core");
    }
  }
  if (const node* n = item.find("on")) read_place(*n, stage, out);
  read_tensors(item, "otherwise", stage.otherwise, stage.otherwise_reads, out);
  if (const node* n = item.find("priority")) stage.priority = read_priority(*n, out).value_or(0);
  if (const node* n = item.find("deadline")) {
    const auto given = read_value(*find_parameter(stage_keys(), "deadline"), *n, "", out);
    if (given) stage.deadline = std::get<nanoseconds>(*given);
  }
  stage.parameters = node::mapping(std::move(parameters), item.where());
  return stage;
}

/// Reads the `stages:` section. Also keeps stages with an invalid name or kind.
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
  return stages;
}

/// Reads the `devices:` section.
std::vector<device_spec> read_devices(const node& section, diagnostics& out) {
  std::vector<device_spec> devices;
  if (!check_mapping(section, "devices", out)) return devices;
  if (section.members().empty() || section.members().size() > most_devices) {
    out.error(section.where(), fmt::format("'devices' needs 1 to {} devices, found {}",
                                           most_devices, section.members().size()));
  }
  for (const auto& [name, value] : section.members()) {
    if (!check_name(name, "a device", out)) continue;
    if (!value.is_mapping()) {
      const auto text = read_text(value, name.text, out);
      if (text) devices.push_back({name, {*text, value.where()}});
      continue;
    }
    const auto given =
        bind_arguments(device_keys(), value, "device " + quote(name.text), name.place, "", out);
    if (!given.has("kind")) continue;
    devices.push_back({name, {given.text("kind"), given.where("kind")}});
    if (given.has("threads")) devices.back().threads = given.integer("threads");
  }
  return devices;
}

/// Returns the backend in the name of a device; that of the program for "auto".
std::string backend_of(const device_spec& device, const std::string& otherwise) {
  const auto& text = device.device.text;
  return text == "auto" ? otherwise : text.substr(0, text.find(':'));
}

/// Replaces every `$name` in `stages:`. A value that differs by backend is that of the stage's
/// device, the first of `devices` unless the stage names another.
/// @param program Backend of the program, for "auto".
node resolve_stages(const node& section, const std::vector<device_spec>& devices,
                    const std::string& first, const std::string& program,
                    parameter_values& parameters, diagnostics& out) {
  if (devices.size() < 2 || !section.is_sequence()) return parameters.substitute(section, out);
  std::vector<node> stages;
  for (const node& item : section.items()) {
    const node* on = item.find("on");
    const std::string name =
        on == nullptr ? "" : rank_and_device(parameters.substitute(*on, out).text()).second;
    const auto device = std::ranges::find(devices, name, [](const auto& d) { return d.name.text; });
    if (device != devices.end()) parameters.choose_for(backend_of(*device, program));
    stages.push_back(parameters.substitute(item, out));
    parameters.choose_for(first);
  }
  return node::sequence(std::move(stages), section.where());
}

/// Returns the document without `params` and `devices` and with every `$name` replaced.
node resolve(const node& root, const std::vector<device_spec>& devices, const std::string& first,
             const std::string& program, parameter_values& parameters, diagnostics& out) {
  std::vector<node::member> members;
  for (const auto& [key, value] : root.members()) {
    if (key.text == "params" || key.text == "devices") continue;
    members.push_back({key, key.text == "stages"
                                ? resolve_stages(value, devices, first, program, parameters, out)
                                : parameters.substitute(value, out)});
  }
  return node::mapping(std::move(members), root.where());
}

/// Reads a path or a list of paths.
std::vector<named> read_plugins(const node& section, diagnostics& out) {
  std::vector<named> paths;
  const auto read = [&](const node& item) {
    if (item.is_scalar() && !is_unresolved(item)) {
      paths.push_back({item.text(), item.where()});
    } else {
      report_mismatch(item, "plugins", "a path or a list of paths", out);
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

parameter priority_key(std::string help) {
  return {.name = "priority",
          .type = parameter_type::integer,
          .help = std::move(help),
          .minimum = -most_level,
          .maximum = most_level,
          .choices = word_list<priority>()};
}

std::optional<int> read_priority(const node& value, diagnostics& out) {
  const auto read = read_value(priority_key(""), value, "", out);
  if (!read) return std::nullopt;
  const auto* word = std::get_if<std::string>(&*read);
  return word != nullptr ? level_of(from_word<priority>(*word).value())
                         : static_cast<int>(std::get<std::int64_t>(*read));
}

const std::vector<parameter>& pipeline_keys() {
  static const std::vector<parameter> keys = {
      required(structure_key("pipeline", "name", "Name of the pipeline, in every result.")),
      {.name = "description", .type = parameter_type::text, .help = "What it is, for people."},
      structure_key("params", "mapping of parameters",
                    "Values that '$NAME' stands for elsewhere in the file, and that --set and "
                    "experiments override."),
      structure_key("plugins", "path or list of paths",
                    "Shared libraries that bring stage kinds, relative to the file's folder."),
      structure_key("devices", "mapping of devices",
                    "Devices by name, each as for --device or as a mapping; stages choose one with "
                    "'on'. In place of --device."),
      structure_key("inputs", "mapping of inputs",
                    "Tensors that are there before the first frame and stay the same."),
      required(structure_key("stages", "list of stages", "What the pipeline does.")),
      structure_key("run", "mapping of settings",
                    "How it runs, unless the command line says otherwise.")};
  return keys;
}

const std::vector<parameter>& device_keys() {
  static const std::vector<parameter> keys = {
      {.name = "kind",
       .type = parameter_type::text,
       .help = "The device, as for --device: host, cuda, cuda:1.",
       .required = true},
      {.name = "threads",
       .type = parameter_type::integer,
       .help = "Compute threads of a host device; those of the setting 'threads' when left out.",
       .minimum = 1,
       .maximum = 1024}};
  return keys;
}

const std::vector<parameter>& input_keys() {
  static const std::vector<parameter> keys = {
      {.name = "shape",
       .type = parameter_type::shape,
       .help = "Its extents, outermost first; required where there is no 'file'."},
      {.name = "dtype",
       .type = parameter_type::element,
       .help = "Type of its elements; with 'file', that of the file.",
       .default_value = std::string(to_string(tensor_type{}.element))},
      word_key("fill", "What it is filled with before the first frame.",
               std::optional(input_spec{}.fill)),
      {.name = "file",
       .type = parameter_type::path,
       .help = "NumPy file (.npy) with its numbers, in place of 'shape' and 'fill'."},
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
      structure_key("reads", "name or list or mapping of names",
                    "Tensors that it reads: inputs of the pipeline, or what other stages write; in "
                    "the order of its inputs, or by their names."),
      structure_key(
          "writes", "name or list or mapping of names",
          "Names of the tensors that it writes, likewise; named after the stage when left out."),
      structure_key("after", "name or list of names",
                    "Stages that must finish first without handing over data."),
      structure_key(
          "rows", "name",
          "Tensor int64 [1] with the number of rows that the frame has: the stage computes "
          "the first rows of its tensors only, and does not run for 0. Available for kinds "
          "whose rows are independent."),
      {.name = "buckets",
       .type = parameter_type::integers,
       .help =
           "Numbers of rows for which a device stage with 'rows' is prepared, ascending; a frame "
           "takes the smallest that holds its rows. Powers of two and the first extent of its "
           "tensors when left out or empty; the last must be that extent.",
       .minimum = 1},
      structure_key("on", "name",
                    "Device on which a device stage runs, by its name under 'devices'; the first "
                    "when left out. Under MPI also the rank that runs the stage, with or without a "
                    "device: rank1, rank1.left; rank 0 when left out."),
      {.name = "cores",
       .type = parameter_type::integers,
       .help =
           "Cores, by their numbers, on which the thread that runs a CPU stage stays during the "
           "stage; any core when left out.",
       .minimum = 0,
       .maximum = CPU_SETSIZE - 1},
      structure_key(
          "when", "name",
          "Tensor int64 [1]: 0 skips the stage, and the stages that read what it writes."),
      structure_key(
          "otherwise", "name or mapping of names",
          "Tensor that the stage reads instead of one whose writer was skipped, so that it "
          "runs all the same; with several, a mapping from the skipped tensors."),
      priority_key(
          "Of a device stage's stream, and of any stage with 'policy: fixed_priority'; higher "
          "numbers are more urgent. high is 1, normal 0, low -1; streams have these three only."),
      {.name = "deadline",
       .type = parameter_type::duration,
       .help = "Time from the frame's due time by which the stage must be done, such as 5ms; for "
               "policies. The run's 'deadline' when left out.",
       .minimum = 1}};
  return keys;
}

node read_pipeline_document(std::shared_ptr<const source_text> source, diagnostics& out) {
  return read_document(
      std::move(source),
      {"a pipeline", "'pipeline' and 'stages'", "experiment", "an experiment", "compare"}, out);
}

pipeline_spec read_pipeline(std::shared_ptr<const source_text> source,
                            const reading_options& options, diagnostics& out) {
  const node document = read_pipeline_document(source, out);
  return read_pipeline(std::move(source), document, options, out);
}

pipeline_spec read_pipeline(std::shared_ptr<const source_text> source, const node& document,
                            const reading_options& options, diagnostics& out) {
  pipeline_spec spec;
  spec.source = source;
  spec.directory = folder_of(source->name());
  const place file{source};
  if (document.is_null()) return spec;

  const node* params = document.find("params");
  reading_options reading = options;
  const node* devices = document.find("devices");
  if (devices != nullptr) {  // the first one decides which values parameters have
    diagnostics ignored;
    parameter_values known(params ? *params : node(), options, ignored);
    const auto named = read_devices(known.substitute(*devices, ignored), ignored);
    if (!named.empty()) reading.backend = backend_of(named.front(), options.backend);
  }
  reading.several_backends = devices != nullptr;
  parameter_values parameters(params ? *params : node(), reading, out);
  if (devices != nullptr) spec.devices = read_devices(parameters.substitute(*devices, out), out);
  const node root =
      resolve(document, spec.devices, reading.backend, options.backend, parameters, out);
  if (parameters.exhausted()) return spec;
  parameters.report_unused(out);
  spec.parameters = parameters.resolved();

  const auto known = names_of(pipeline_keys());
  check_keys(document, "a pipeline", known, out);
  spec.name = read_document_name(root, file, "pipeline", "a pipeline", known, out);
  if (const node* n = root.find("description")) {
    spec.description = read_text(*n, "description", out).value_or("");
  }
  if (const node* n = root.find("plugins")) spec.plugins = read_plugins(*n, out);
  if (const node* n = root.find("inputs")) spec.inputs = read_inputs(*n, spec.directory, out);
  if (const node* n = root.find("stages")) {
    spec.stages = read_stages(*n, out);
  } else if (member_meant(root, "stages", known) == nullptr) {
    out.error(file, "the key 'stages' is missing; it lists what the pipeline does");
  }
  if (const node* n = root.find("run")) read_settings(spec.run, spec.run_places, *n, out);
  return spec;
}

}  // namespace graphline
