#include "framework/spec/member_reader.hpp"

#include <filesystem>
#include <string>

#include "framework/spec/assignment_reader.hpp"
#include "framework/spec/key_table.hpp"
#include "framework/spec/node_reading.hpp"

namespace graphline {
namespace {

named read_pipeline_path(const node& item, diagnostics& out) {
  const node* value = item.find("pipeline");
  if (value == nullptr) {
    out.error(item.where(), "a member of 'together' needs a 'pipeline', the path of its file");
    return {"", item.where()};
  }
  const auto text = read_text(*value, "pipeline", out);
  if (text && text->empty()) {
    out.error(value->where(),
              "'pipeline' must be the path of a pipeline file, found an empty text");
  }
  return {text.value_or(""), value->where()};
}

/// As given; else after the file; empty where that has been reported.
named read_member_name(const node& item, const named& pipeline, diagnostics& out) {
  named name{std::filesystem::path(pipeline.text).stem().string(), pipeline.place};
  if (const node* value = item.find("name")) {
    const auto text = read_text(*value, "name", out);
    if (!text) return {"", value->where()};
    name = {*text, value->where()};
  } else if (pipeline.text.empty()) {
    return {"", pipeline.place};
  }
  if (!check_label(name, "a member", out)) name.text.clear();
  return name;
}

member_spec read_member(const node& item, diagnostics& out) {
  check_keys_beside_run(item, "a member of 'together'", "write it under 'run' of the member",
                        names_of(member_keys()), out);
  member_spec member;
  member.pipeline = read_pipeline_path(item, out);
  member.name = read_member_name(item, member.pipeline, out);
  if (const node* n = item.find("priority")) {
    member.priority = read_word<priority>(*n, "priority", out);
  }
  if (const node* n = item.find("run")) member.run = read_run_assignments(*n, out);
  if (const node* n = item.find("params")) member.params = read_parameter_assignments(*n, out);
  return member;
}

}  // namespace

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

}  // namespace graphline
