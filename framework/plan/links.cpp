#include <fmt/format.h>

#include <algorithm>

#include "framework/plan/draft.hpp"

namespace graphline::planning {
namespace {

/// Where the count of what a stage reads is wrong.
void check_read_count(draft& d, draft_stage& stage) {
  const stage_kind& kind = *stage.kind;
  const std::size_t count = stage.spec->reads.size();
  const std::size_t most = kind.inputs.size();
  const std::size_t least = most - std::min(kind.optional_inputs, most);
  if (count >= least && (count <= most || kind.repeat_last_input)) return;
  const std::string wanted = kind.repeat_last_input ? fmt::format("at least {}", least)
                             : least == most        ? fmt::format("{}", most)
                                                    : fmt::format("{} to {}", least, most);
  d.error(stage, count > most ? stage.spec->reads[most].place : stage.spec->name.place,
          fmt::format("stage '{}' reads {} tensor{}, but kind '{}' reads {}: {}{}",
                      stage.spec->name.text, count, count == 1 ? "" : "s", kind.name, wanted,
                      list_ports(kind.inputs), kind.repeat_last_input ? ", ..." : ""));
}

/// Whether `name` may be what a stage writes by default whose kind or name is not known, and whose
/// own error is enough.
bool may_be_written(const draft& d, const std::string& name) {
  const std::string_view prefix = std::string_view(name).substr(0, name.find('.'));
  return std::any_of(d.stages.begin(), d.stages.end(), [&](const draft_stage& stage) {
    const std::string& known = stage.spec->name.text;
    return stage.spec->writes.empty() &&
           (known.empty() || (stage.kind == nullptr && known == prefix));
  });
}

/// " (did you mean 'features'?)", or what the stage writes if a stage was named.
std::string tensor_hint(const draft& d, const std::string& name) {
  const auto stage = d.stage_named.find(name);
  if (stage != d.stage_named.end()) {
    std::string list;
    for (const std::size_t t : d.stages[stage->second].writes) {
      if (t != none) list += fmt::format("{}'{}'", list.empty() ? "" : ", ", d.tensors[t].name);
    }
    if (!list.empty()) return fmt::format(" (stage '{}' writes {})", name, list);
  }
  std::vector<std::string> known;
  for (const draft_tensor& t : d.tensors) known.push_back(t.name);
  return suggestion(name, known);
}

void resolve_reads(draft& d, std::size_t index) {
  draft_stage& stage = d.stages[index];
  const std::string& name = stage.spec->name.text;
  for (const named& read : stage.spec->reads) {
    const auto found = d.tensor_named.find(read.text);
    if (found == d.tensor_named.end()) {
      stage.sound = false;
      stage.reads.push_back(none);
      if (may_be_written(d, read.text)) continue;
      d.out.error(read.place, fmt::format("stage '{}' reads '{}', which nothing writes{}", name,
                                          read.text, tensor_hint(d, read.text)));
      continue;
    }
    draft_tensor& tensor = d.tensors[found->second];
    stage.reads.push_back(found->second);
    if (tensor.producer == index) {
      d.error(stage, read.place,
              fmt::format("stage '{}' reads '{}', which it writes itself", name, read.text));
      continue;
    }
    if (tensor.readers.empty() || tensor.readers.back() != index) tensor.readers.push_back(index);
    if (tensor.producer != none) {
      stage.links.push_back({tensor.producer, found->second, read.place});
    }
  }
  if (stage.kind != nullptr) check_read_count(d, stage);
}

void resolve_after(draft& d, std::size_t index) {
  draft_stage& stage = d.stages[index];
  const std::string& name = stage.spec->name.text;
  for (const named& after : stage.spec->after) {
    if (after.text == name) {
      d.error(stage, after.place, fmt::format("stage '{}' cannot run after itself", name));
      continue;
    }
    const auto found = d.stage_named.find(after.text);
    if (found != d.stage_named.end()) {
      stage.links.push_back({found->second, none, after.place});
      continue;
    }
    const auto tensor = d.tensor_named.find(after.text);
    std::vector<std::string> known;
    for (const draft_stage& s : d.stages) known.push_back(s.spec->name.text);
    const bool written =
        tensor != d.tensor_named.end() && d.tensors[tensor->second].producer != none;
    d.error(stage, after.place,
            fmt::format(
                "stage '{}' is to run after '{}', which is no stage{}", name, after.text,
                written ? fmt::format(" (the tensor '{}' is written by stage '{}')", after.text,
                                      d.stages[d.tensors[tensor->second].producer].spec->name.text)
                        : suggestion(after.text, known)));
  }
}

}  // namespace

void resolve_links(draft& d) {
  for (std::size_t i = 0; i < d.stages.size(); ++i) {
    resolve_reads(d, i);
    resolve_after(d, i);
  }
  for (const draft_tensor& tensor : d.tensors) {
    if (tensor.input != nullptr && tensor.readers.empty()) {
      d.out.warning(tensor.where, fmt::format("no stage reads the input '{}'", tensor.name));
    }
  }
}

}  // namespace graphline::planning
