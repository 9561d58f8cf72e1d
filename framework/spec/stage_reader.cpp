#include "framework/spec/stage_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "framework/base/utf8.hpp"
#include "framework/spec/key_table.hpp"
#include "framework/spec/names.hpp"
#include "framework/spec/node_reading.hpp"

namespace graphline {
namespace {

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

void check_duplicates(const std::vector<stage_spec>& stages, diagnostics& out) {
  std::unordered_map<std::string_view, const place*> first;
  for (const stage_spec& stage : stages) {
    if (stage.name.text.empty()) continue;
    const auto [earlier, is_new] = first.emplace(stage.name.text, &stage.name.place);
    if (is_new) continue;
    out.error(stage.name.place, fmt::format("a stage named {} is there already, on line {}",
                                            quote(stage.name.text), earlier->second->line));
  }
}

}  // namespace

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
  check_duplicates(stages, out);
  return stages;
}

}  // namespace graphline
