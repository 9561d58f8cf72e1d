#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "framework/plan/draft.hpp"

namespace graphline {

stage_config config_for_rows(const planned_stage& stage, std::int64_t rows) {
  stage_config config = stage.config;
  for (const std::size_t i : stage.row_reads) config.inputs[i] = first_rows(config.inputs[i], rows);
  for (const std::size_t i : stage.row_writes) {
    config.outputs[i] = first_rows(config.outputs[i], rows);
  }
  return config;
}

std::optional<std::string> why_only_selecting(const plan& p) {
  if (!p.schedule.properties.one_launch) return std::nullopt;
  // A CPU stage is a host node, which decides by itself.
  const auto decided = std::ranges::find_if(p.stages, [](const planned_stage& stage) {
    return stage.on == side::device && stage.decided_per_frame();
  });
  if (decided == p.stages.end()) return std::nullopt;
  return fmt::format(
      "stage '{}' depends on the frame, which graphs: frame supports only with a driver for CUDA "
      "12.8 or later; use graphs: stage",
      decided->name);
}

}  // namespace graphline

namespace graphline::planning {
namespace {

bool reads(const draft_stage& stage, std::size_t tensor) {
  return std::ranges::find(stage.reads, tensor) != stage.reads.end();
}

/// Returns the guards of a tensor's producer: the tensor is missing in a frame that fails one.
std::vector<std::size_t> guards_of(const draft& d, std::size_t tensor) {
  if (tensor == none || d.tensors[tensor].producer == none) return {};
  return d.stages[d.tensors[tensor].producer].guards;
}

void add_guards(draft_stage& stage, const std::vector<std::size_t>& guards) {
  std::vector<std::size_t> all;
  std::ranges::set_union(stage.guards, guards, std::back_inserter(all));
  stage.guards = std::move(all);
}

/// Reports a tensor of `rows` or `when` that is not one whole number.
void check_number(draft& d, draft_stage& stage, std::string_view key, const named& name,
                  std::size_t tensor) {
  if (tensor == none || !d.tensors[tensor].type) return;
  if (d.tensors[tensor].rows != none) {
    d.error(stage, name.place,
            fmt::format("'{}' cannot decide about stage '{}': it is undefined in a frame in which "
                        "'{}' is 0; write it by a stage without 'rows'",
                        name.text, stage.spec->name.text, d.tensors[d.tensors[tensor].rows].name));
    return;
  }
  const tensor_type& type = *d.tensors[tensor].type;
  if (type == tensor_type{{1}, dtype::int64}) return;
  d.error(stage, name.place,
          fmt::format("'{}' of stage '{}' must be a tensor int64 [1], but '{}' is {}", key,
                      stage.spec->name.text, name.text, to_string(type)));
}

/// Returns the names, each once, of the tensors that a stage reads and that may be missing.
std::vector<std::string> missing_reads(const draft& d, const draft_stage& stage) {
  std::vector<std::string> names;
  for (const std::size_t t : stage.reads) {
    if (guards_of(d, t).empty()) continue;
    const std::string& name = d.tensors[t].name;
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

/// Returns the tensor that an entry of `otherwise` replaces; empty after an error.
std::optional<named> replaced_by(draft& d, draft_stage& stage, std::size_t entry) {
  const stage_spec& spec = *stage.spec;
  const named& by = spec.otherwise[entry];
  const std::vector<std::string> missing = missing_reads(d, stage);
  if (missing.empty()) {
    d.error(stage, by.place,
            fmt::format("'otherwise' has no effect: stage '{}' reads nothing that can be skipped; "
                        "remove it",
                        spec.name.text));
    return std::nullopt;
  }
  if (!spec.otherwise_reads.empty()) {
    const named& read = spec.otherwise_reads[entry];
    if (std::ranges::find(missing, read.text) != missing.end()) return read;
    d.error(stage, read.place,
            fmt::format("'otherwise' of stage '{}' can only replace what it reads and what can be "
                        "skipped, found '{}'{}",
                        spec.name.text, read.text, suggestion(read.text, missing)));
    return std::nullopt;
  }
  if (missing.size() == 1) return named{missing.front(), by.place};
  d.error(stage, by.place,
          fmt::format("stage '{}' reads {} tensors that can be skipped; state which one to "
                      "replace: otherwise: {{{}: {}}}",
                      spec.name.text, missing.size(), missing.front(), by.text));
  return std::nullopt;
}

void check_alternative(draft& d, draft_stage& stage, const named& read, const named& by,
                       std::size_t replaced, std::size_t tensor) {
  const auto& wanted = d.tensors[replaced].type;
  const auto& found = d.tensors[tensor].type;
  if (wanted && found && *wanted != *found) {
    d.error(stage, by.place,
            fmt::format("'{}' is {}, but '{}', which it replaces in stage '{}', is {}", by.text,
                        to_string(*found), read.text, stage.spec->name.text, to_string(*wanted)));
  }
  if (d.tensors[replaced].rows != d.tensors[tensor].rows) {
    const auto rows_of = [&](std::size_t t) {
      const std::size_t rows = d.tensors[t].rows;
      return rows == none ? "all" : fmt::format("those that '{}' counts", d.tensors[rows].name);
    };
    d.error(
        stage, by.place,
        fmt::format("'{}' cannot replace '{}' in stage '{}', since they have different rows: "
                    "{}, and {}",
                    by.text, read.text, stage.spec->name.text, rows_of(tensor), rows_of(replaced)));
  }
  const auto of_read = guards_of(d, replaced);
  const auto of_tensor = guards_of(d, tensor);
  if (std::ranges::includes(of_tensor, of_read)) {
    d.out.warning(by.place, fmt::format("'otherwise' of stage '{}' has no effect: a frame that "
                                        "skips '{}' also skips '{}'; name a tensor that such a "
                                        "frame has",
                                        stage.spec->name.text, read.text, by.text));
    return add_guards(stage, of_read);
  }
  if (std::ranges::includes(of_read, of_tensor)) return add_guards(stage, of_tensor);
  d.out.warning(by.place, fmt::format("stage '{}' is skipped in a frame that has neither '{}' nor "
                                      "'{}'",
                                      stage.spec->name.text, read.text, by.text));
  // One of two conditions suffices, which is a condition of its own.
  add_guards(stage, {d.tensors.size() + static_cast<std::size_t>(&stage - d.stages.data())});
}

void settle_alternatives(draft& d, draft_stage& stage) {
  const stage_spec& spec = *stage.spec;
  if (stage.alternatives.size() > 1 && stage.kind->on == side::device) {
    d.error(stage, spec.otherwise[1].place,
            fmt::format("stage '{}' runs on the device, where 'otherwise' can replace only one "
                        "tensor, found {}; replace the others in stages before it",
                        spec.name.text, stage.alternatives.size()));
    return;
  }
  for (std::size_t entry = 0; entry < stage.alternatives.size(); ++entry) {
    const std::size_t tensor = stage.alternatives[entry];
    const auto read = replaced_by(d, stage, entry);
    if (!read || tensor == none) continue;
    const std::size_t replaced = d.tensor_named.at(read->text);
    if (replaced == tensor) {
      d.error(stage, spec.otherwise[entry].place,
              fmt::format("'otherwise' of stage '{}' cannot replace '{}' with itself; name another "
                          "tensor",
                          spec.name.text, read->text));
      continue;
    }
    check_alternative(d, stage, *read, spec.otherwise[entry], replaced, tensor);
    for (std::size_t i = 0; i < stage.reads.size(); ++i) {
      if (stage.reads[i] == replaced) stage.otherwise.push_back({i, tensor});
    }
  }
}

/// Returns the indices of the ports with rows among `count` tensors. Further tensors belong to the
/// last port, which repeats.
std::vector<std::size_t> with_rows(const std::vector<port>& ports, std::size_t count) {
  std::vector<std::size_t> list;
  for (std::size_t i = 0; i < count; ++i) {
    if (ports[std::min(i, ports.size() - 1)].rows) list.push_back(i);
  }
  return list;
}

/// Reports a tensor of which the stage may read undefined rows.
void check_rows_read(draft& d, draft_stage& stage) {
  const auto by_rows = with_rows(stage.ports->inputs, stage.reads.size());
  for (std::size_t i = 0; i < stage.reads.size(); ++i) {
    const draft_tensor& tensor = d.tensors[stage.reads[i]];
    if (tensor.rows == none || reads(stage, tensor.rows)) continue;
    const bool can = std::ranges::find(by_rows, i) != by_rows.end();
    if (can && tensor.rows == stage.rows) continue;
    const std::string& count = d.tensors[tensor.rows].name;
    const std::string remedy =
        !can                 ? fmt::format(", but kind '{}' reads all rows", stage.kind->name)
        : stage.rows == none ? fmt::format("; add 'rows: {}'", count)
                             : fmt::format(", but its 'rows' is '{}'", d.tensors[stage.rows].name);
    d.error(stage, i < stage.read_names.size() ? stage.read_names[i].place : stage.spec->name.place,
            fmt::format("stage '{}' reads '{}', which has only the rows that '{}' counts{}",
                        stage.spec->name.text, tensor.name, count, remedy));
  }
}

/// Returns the first extent of all tensors with rows; empty after an error.
std::optional<std::int64_t> capacity_of(draft& d, draft_stage& stage) {
  const named& rows = stage.spec->rows;
  std::optional<std::int64_t> capacity;
  bool alike = true;
  std::string found;
  const auto look = [&](std::size_t t) {
    const draft_tensor& tensor = d.tensors[t];
    if (!tensor.type) return;
    found += fmt::format("{}'{}' {}", found.empty() ? "" : ", ", tensor.name,
                         to_string(tensor.type->shape));
    const bool scalar = tensor.type->shape.rank() == 0;
    alike = alike && !scalar && capacity.value_or(tensor.type->shape[0]) == tensor.type->shape[0];
    if (!scalar) capacity = tensor.type->shape[0];
  };
  for (const std::size_t i : stage.row_reads) look(stage.reads[i]);
  for (const std::size_t i : stage.row_writes) look(stage.writes[i]);
  if (alike && capacity) return capacity;
  if (!alike) {
    d.error(stage, rows.place,
            fmt::format("the tensors of stage '{}' must have the same number of rows (first "
                        "extent), found {}",
                        stage.spec->name.text, found));
  }
  return std::nullopt;
}

std::vector<std::int64_t> powers_of_two(std::int64_t capacity) {
  std::vector<std::int64_t> list;
  for (std::int64_t rows = 1; rows < capacity; rows *= 2) list.push_back(rows);
  list.push_back(capacity);
  return list;
}

/// Returns the buckets of a device stage; empty after an error.
std::vector<std::int64_t> buckets_of(draft& d, draft_stage& stage) {
  const std::vector<std::int64_t>& given = stage.spec->buckets.rows;
  if (given.empty()) return powers_of_two(stage.capacity);
  const bool ascending =
      given.front() >= 1 && std::ranges::adjacent_find(given, std::greater_equal()) == given.end();
  if (ascending && given.back() == stage.capacity) return given;
  d.error(stage, stage.spec->buckets.place,
          ascending ? fmt::format("the last bucket of stage '{}' must be {}, the first extent of "
                                  "its tensors, found {}",
                                  stage.spec->name.text, stage.capacity, given.back())
                    : fmt::format("'buckets' of stage '{}' must ascend from at least 1, found [{}]",
                                  stage.spec->name.text, fmt::join(given, ", ")));
  return {};
}

/// Reports a stage, prepared for one number of rows, that combines them.
void check_independence(draft& d, draft_stage& stage, const prepared_stage& prepared) {
  if (prepared.combined_rows.empty() || !stage.sound) return;
  d.error(stage, stage.spec->rows.place,
          fmt::format("stage '{}' cannot compute only its first rows: {}; omit 'rows', or move the "
                      "layer to a stage without 'rows'",
                      stage.spec->name.text, prepared.combined_rows));
}

/// Reports `rows` that another stage counts along another dimension than the first.
void check_count(draft& d, draft_stage& stage) {
  if (stage.rows == none || d.tensors[stage.rows].producer == none) return;
  const draft_stage& giver = d.stages[d.tensors[stage.rows].producer];
  if (giver.prepared == nullptr) return;
  const auto port = std::ranges::find(giver.writes, stage.rows) - giver.writes.begin();
  const auto found = giver.prepared->other_counts.find(static_cast<std::size_t>(port));
  if (found == giver.prepared->other_counts.end()) return;
  d.error(
      stage, stage.spec->rows.place,
      fmt::format("stage '{}' cannot compute only its first rows: {}; read the count in a stage "
                  "that computes with it, such as one of a plug-in",
                  stage.spec->name.text, found->second));
}

void settle_rows(draft& d, draft_stage& stage, const std::vector<tensor_type>& inputs) {
  const stage_spec& spec = *stage.spec;
  if (spec.rows.text.empty()) {
    if (!spec.buckets.rows.empty()) {
      d.error(stage, spec.buckets.place,
              fmt::format("'buckets' has no effect on stage '{}' without 'rows'; remove it",
                          spec.name.text));
    }
    return check_rows_read(d, stage);
  }
  check_number(d, stage, "rows", spec.rows, stage.rows);
  check_count(d, stage);
  stage.row_reads = with_rows(stage.ports->inputs, stage.reads.size());
  stage.row_writes = with_rows(stage.ports->outputs, stage.writes.size());
  if ((stage.row_reads.empty() && stage.row_writes.empty()) ||
      stage.row_writes.size() != stage.writes.size()) {
    d.error(stage, spec.rows.place,
            fmt::format("stage '{}' cannot compute only its first rows, because kind '{}' combines "
                        "rows or fixes their number; remove 'rows'",
                        spec.name.text, stage.kind->name));
    return;
  }
  check_rows_read(d, stage);
  if (!stage.sound) return;
  stage.capacity = capacity_of(d, stage).value_or(0);
  for (const std::size_t i : stage.row_writes) d.tensors[stage.writes[i]].rows = stage.rows;
  if (stage.capacity == 0) return;
  if (stage.kind->on == side::cpu && !stage.kind->moves) {
    if (spec.buckets.rows.empty()) return;
    d.error(stage, spec.buckets.place,
            fmt::format("'buckets' has no effect on stage '{}', which runs on the CPU and computes "
                        "exactly the rows of a frame; remove it",
                        spec.name.text));
    return;
  }
  check_independence(d, stage, *stage.prepared);
  if (!stage.sound) return;
  const auto buckets =
      prepare_buckets(d, *stage.kind, spec.name.text, stage.arguments, inputs, stage.row_reads,
                      stage.row_writes, stage.prepared, buckets_of(d, stage));
  stage.sound = stage.sound && buckets;
  stage.buckets = buckets.value_or(stage.buckets);
  for (const auto& bucket : stage.buckets) check_independence(d, stage, *bucket.prepared);
}

std::string types_text(const std::vector<tensor_type>& types) {
  std::vector<std::string> texts;
  for (const tensor_type& type : types) texts.push_back(to_string(type));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string rows_text(std::int64_t rows) {
  return fmt::format("{} row{}", rows, rows == 1 ? "" : "s");
}

}  // namespace

std::optional<std::vector<planned_bucket>> prepare_buckets(
    draft& d, const stage_kind& kind, const std::string& name, const arguments& given,
    const std::vector<tensor_type>& inputs, const std::vector<std::size_t>& row_reads,
    const std::vector<std::size_t>& row_writes, const std::shared_ptr<const prepared_stage>& whole,
    const std::vector<std::int64_t>& buckets) {
  std::vector<planned_bucket> list;
  for (const std::int64_t rows : buckets) {
    if (rows == buckets.back()) {
      list.push_back({rows, whole});
      break;
    }
    std::vector<tensor_type> types = inputs;
    for (const std::size_t i : row_reads) types[i] = first_rows(types[i], rows);
    diagnostics found;
    const auto prepared = d.prepared.prepare(kind, name, given, types, found);
    // Its warnings are those of the whole stage.
    if (prepared == nullptr) {
      for (const diagnostic& each : found.all()) {
        d.out.error(each.place,
                    fmt::format("with a bucket of {}: {}; state 'buckets' without it, or remove "
                                "'rows'",
                                rows_text(rows), each.message));
      }
      return std::nullopt;
    }
    std::vector<tensor_type> wanted = whole->outputs;
    for (const std::size_t i : row_writes) wanted[i] = first_rows(wanted[i], rows);
    if (prepared->outputs != wanted) {
      d.out.error(given.where(),
                  fmt::format("stage '{}' cannot compute only its first rows: with a bucket of {}, "
                              "its kind '{}' writes {}, expected {}; remove 'rows'",
                              name, rows_text(rows), kind.name, types_text(prepared->outputs),
                              types_text(wanted)));
      return std::nullopt;
    }
    list.push_back({rows, prepared});
  }
  return list;
}

void settle_decisions(draft& d, draft_stage& stage, const std::vector<tensor_type>& inputs) {
  const stage_spec& spec = *stage.spec;
  if (!spec.when.text.empty()) {
    check_number(d, stage, "when", spec.when, stage.when);
    if (stage.when != none) add_guards(stage, {stage.when});
  }
  settle_alternatives(d, stage);
  for (std::size_t i = 0; i < stage.reads.size(); ++i) {
    const bool replaced =
        std::ranges::find(stage.otherwise, i, &alternative_read::input) != stage.otherwise.end();
    if (!replaced) add_guards(stage, guards_of(d, stage.reads[i]));
  }
  for (const std::size_t t : {stage.rows, stage.when}) add_guards(stage, guards_of(d, t));
  if (stage.prepared != nullptr && stage.sound) settle_rows(d, stage, inputs);
}

}  // namespace graphline::planning
