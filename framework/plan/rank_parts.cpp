#include "framework/plan/rank_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "framework/plan/schedules/schedule.hpp"
#include "framework/spec/settings_table.hpp"

namespace graphline {
namespace {

const stage_spec& named_stage(const pipeline_spec& spec, std::string_view name) {
  return *std::ranges::find(spec.stages, name, [](const stage_spec& s) { return s.name.text; });
}

/// Calls `visit` with each tensor that the stage needs.
template <class Visit>
void each_needed(const stage_spec& stage, const Visit& visit) {
  for (const auto* list : {&stage.reads, &stage.otherwise}) {
    for (const named& tensor : *list) visit(tensor.text);
  }
  for (const named* tensor : {&stage.rows, &stage.when}) {
    if (!tensor->text.empty()) visit(tensor->text);
  }
}

bool needs(const stage_spec& stage, const rank_transfer& transfer) {
  if (transfer.signal) {
    return std::ranges::find(stage.after, transfer.name, &named::text) != stage.after.end();
  }
  bool found = false;
  each_needed(stage, [&](const std::string& name) { found = found || name == transfer.name; });
  return found;
}

place place_of(const pipeline_spec& spec, const char* key) {
  const auto given = spec.run_places.each.find(key);
  if (given != spec.run_places.each.end()) return given->second;
  return spec.run_places.section ? spec.run_places.section : spec.name.place;
}

void check_settings_of_ranks(const pipeline_spec& spec, diagnostics& out) {
  const auto refuse = [&](bool given, const char* key, const char* why) {
    if (!given) return;
    out.error(place_of(spec, key),
              fmt::format("'{}' does not work in a pipeline on several ranks: {}", key, why));
  };
  const settings& run = spec.run;
  refuse(properties_of(run).one_launch, "graphs",
         "a graph belongs to one device; use graphs: stage");
  refuse(run.batch_frames > 1, "batch_frames", "all ranks must run the same frames; omit it");
  refuse(run.late != late_rule::finish, "late", "all ranks must run the same frames; omit it");
  refuse(run.when_full != queue_policy::block, "when_full",
         "all ranks must run the same frames; use when_full: block");
  refuse(run.max_time.has_value(), "max_time", "all ranks must run the same frames; use 'frames'");
}

/// Reports a rank without stages before one with stages, and returns false.
bool check_numbers(const pipeline_spec& spec, diagnostics& out) {
  std::set<int> with_stages;
  for (const stage_spec& stage : spec.stages) with_stages.insert(stage.rank);
  int expected = 0;
  for (const int rank : with_stages) {
    if (rank > expected) {
      const auto after = std::ranges::find(spec.stages, rank, &stage_spec::rank);
      out.error(after->name.place,
                fmt::format("stage '{}' is on rank {}, but none is on rank {}; number the ranks "
                            "from 0 without gaps",
                            after->name.text, rank, expected));
      return false;
    }
    ++expected;
  }
  return true;
}

/// Returns the declared stage that writes a tensor; null for an input and for a copy.
const planned_stage* producer_of(const plan& whole, const planned_tensor& tensor) {
  if (tensor.input) return nullptr;
  const planned_stage& stage = whole.stages[tensor.producer];
  return stage.inserted ? nullptr : &stage;
}

stage_spec link_stage(const char* kind, std::string name, std::size_t transfer) {
  stage_spec made;
  made.name.text = std::move(name);
  made.kind.text = kind;
  made.parameters = node::mapping({{{"transfer"}, node(fmt::to_string(transfer))}});
  return made;
}

std::string receiver_name(const rank_transfer& transfer) {
  return (transfer.signal ? "await:" : "receive:") + transfer.name;
}

std::string sender_name(const rank_transfer& transfer) {
  return fmt::format("{}:{}@rank{}", transfer.signal ? "signal" : "send", transfer.name,
                     transfer.to);
}

/// Returns the planned stage that writes the tensor of a transfer, or is done with a signal.
std::size_t source_of(const plan& whole, const rank_transfer& transfer) {
  if (!transfer.signal) {
    return std::ranges::find(whole.tensors, transfer.name, &planned_tensor::name)->producer;
  }
  const auto stage = std::ranges::find(whole.stages, transfer.name, &planned_stage::name);
  return static_cast<std::size_t>(stage - whole.stages.begin());
}

/// Returns true if the source of `later` waits for what `earlier` carries.
bool depends(const pipeline_spec& spec, const plan& whole, const rank_transfer& later,
             const rank_transfer& earlier) {
  const std::size_t source = source_of(whole, later);
  for (std::size_t s = 0; s < whole.stages.size(); ++s) {
    if (whole.stages[s].inserted) continue;
    const stage_spec& reader = named_stage(spec, whole.stages[s].name);
    const bool leads = s == source || whole.reach[s][source];
    if (leads && reader.rank == earlier.to && needs(reader, earlier)) return true;
  }
  return false;
}

/// Removes from the settings what makes frames due: they are due on rank 0.
void begin_when_there_is_room(pipeline_spec& spec) {
  const settings defaults;
  each_setting([&](auto member, const setting_entry& of) {
    const std::string_view key = of.key;
    if (!of.on_schedule && key != "arrival" && key != "deadline") return;
    spec.run.*member = defaults.*member;
    spec.run_places.each.erase(std::string(key));
  });
}

}  // namespace

std::vector<rank_transfer> transfers_of(const pipeline_spec& spec, const plan& whole,
                                        diagnostics& out) {
  check_settings_of_ranks(spec, out);
  std::vector<rank_transfer> made;
  if (!check_numbers(spec, out)) return made;
  const auto is_needed = [&](const rank_transfer& of) {
    return of.to != of.from && std::ranges::any_of(spec.stages, [&](const stage_spec& s) {
             return s.rank == of.to && needs(s, of);
           });
  };
  for (const planned_tensor& tensor : whole.tensors) {
    const planned_stage* const stage = producer_of(whole, tensor);
    if (stage == nullptr) continue;
    const stage_spec& producer = named_stage(spec, stage->name);
    for (int to = 0; to < whole.ranks; ++to) {
      const rank_transfer next{tensor.name, false, tensor.type, producer.rank, to};
      if (!is_needed(next)) continue;
      if (stage->conditional) {
        out.error(producer.name.place,
                  fmt::format("stage '{}' may be skipped, so rank {} cannot send what it writes to "
                              "rank {}; read it on rank {}",
                              stage->name, producer.rank, to, producer.rank));
      }
      made.push_back(next);
    }
  }
  for (const planned_stage& stage : whole.stages) {
    if (stage.inserted) continue;
    const stage_spec& earlier = named_stage(spec, stage.name);
    for (int to = 0; to < whole.ranks; ++to) {
      const rank_transfer next{stage.name, true, {}, earlier.rank, to};
      if (is_needed(next)) made.push_back(next);
    }
  }
  return made;
}

pipeline_spec part_of_rank(const pipeline_spec& spec, const plan& whole, int rank) {
  const std::vector<rank_transfer>& transfers = whole.transfers;
  pipeline_spec part = spec;
  part.stages.clear();
  for (const planned_stage& planned : whole.stages) {
    if (planned.inserted) continue;
    stage_spec stage = named_stage(spec, planned.name);
    if (stage.rank != rank) continue;
    for (std::size_t t = 0; t < transfers.size(); ++t) {
      const rank_transfer& transfer = transfers[t];
      if (transfer.to != rank || !needs(stage, transfer)) continue;
      if (transfer.signal) {
        std::ranges::find(stage.after, transfer.name, &named::text)->text = receiver_name(transfer);
      }
      const bool known = std::ranges::any_of(
          part.stages, [&](const stage_spec& s) { return s.name.text == receiver_name(transfer); });
      if (known) continue;
      auto& added = part.stages.emplace_back(
          link_stage(transfer.signal ? await_kind : receive_kind, receiver_name(transfer), t));
      if (!transfer.signal) added.writes = {{transfer.name, {}}};
      for (const rank_transfer& sent : transfers) {
        if (sent.from == rank && depends(spec, whole, transfer, sent)) {
          added.after.push_back({sender_name(sent)});
        }
      }
    }
    part.stages.push_back(stage);
    for (std::size_t t = 0; t < transfers.size(); ++t) {
      const rank_transfer& transfer = transfers[t];
      if (transfer.from != rank) continue;
      if (whole.stages[source_of(whole, transfer)].name != stage.name.text) continue;
      auto& added = part.stages.emplace_back(
          link_stage(transfer.signal ? signal_kind : send_kind, sender_name(transfer), t));
      (transfer.signal ? added.after : added.reads) = {{transfer.name, {}}};
    }
  }
  for (stage_spec& stage : part.stages) stage.rank = 0;
  std::erase_if(part.inputs, [&](const input_spec& input) {
    return std::ranges::none_of(part.stages, [&](const stage_spec& stage) {
      bool read = false;
      each_needed(stage, [&](const std::string& name) { read = read || name == input.name.text; });
      return read;
    });
  });
  part.run.frames = whole.run.frames;  // a trace may have fewer than declared
  if (rank > 0) begin_when_there_is_room(part);
  return part;
}

}  // namespace graphline
