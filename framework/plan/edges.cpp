#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <queue>

#include "framework/plan/draft.hpp"

namespace graphline::planning {
namespace {

/// Returns true if the outputs of any stage are unknown because the stage has an error.
bool may_be_written(const draft& d) {
  return std::ranges::any_of(d.stages, [](const draft_stage& stage) {
    return stage.spec->writes.empty() && (!stage.ports || stage.spec->name.text.empty());
  });
}

/// Finds a tensor that a stage reads, and links the stage to its producer. Reports an unknown or an
/// own tensor. `key` is the key that names it.
/// @return none after an error
std::size_t resolve_read(draft& d, std::size_t index, const named& read, std::string_view key) {
  draft_stage& stage = d.stages[index];
  const std::string& name = stage.spec->name.text;
  const auto found = d.tensor_named.find(read.text);
  if (found == d.tensor_named.end()) {
    stage.sound = false;
    if (may_be_written(d)) return none;
    std::vector<std::string> known;
    for (const draft_tensor& t : d.tensors) known.push_back(t.name);
    const std::string what =
        key == "reads" ? fmt::format("stage '{}' reads '{}', which nothing writes", name, read.text)
                       : fmt::format(
                             "'{}' of stage '{}' must name a tensor, but nothing writes "
                             "'{}'",
                             key, name, read.text);
    d.out.error(read.place, what + suggestion(read.text, known));
    return none;
  }
  const draft_tensor& tensor = d.tensors[found->second];
  if (tensor.producer == index) {
    d.error(stage, read.place,
            fmt::format("stage '{}' reads '{}', which it writes itself", name, read.text));
  } else if (tensor.producer != none) {
    stage.links.push_back({tensor.producer, found->second, read.place});
  }
  return found->second;
}

/// Adds a stage to a list of stages, once.
void add_once(std::vector<std::size_t>& stages, std::size_t index) {
  if (stages.empty() || stages.back() != index) stages.push_back(index);
}

void resolve_reads(draft& d, std::size_t index) {
  draft_stage& stage = d.stages[index];
  const stage_spec& spec = *stage.spec;
  const auto read = [&](const named& name, std::string_view key) {
    const std::size_t t = resolve_read(d, index, name, key);
    if (t != none && d.tensors[t].producer != index) add_once(d.tensors[t].readers, index);
    return t;
  };
  for (const named& name : stage.read_names) stage.reads.push_back(read(name, "reads"));
  for (const named& name : spec.otherwise) stage.alternatives.push_back(read(name, "otherwise"));
  const auto decide = [&](const named& name, std::string_view key) {
    if (name.text.empty()) return none;
    const std::size_t t = resolve_read(d, index, name, key);
    if (t != none) add_once(d.tensors[t].deciders, index);
    return t;
  };
  stage.rows = decide(spec.rows, "rows");
  stage.when = decide(spec.when, "when");
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
    std::vector<std::string> known;
    for (const draft_stage& s : d.stages) known.push_back(s.spec->name.text);
    d.error(stage, after.place,
            fmt::format("stage '{}' is to run after '{}', which is no stage{}", name, after.text,
                        suggestion(after.text, known)));
  }
}

}  // namespace

void resolve_links(draft& d) {
  for (std::size_t i = 0; i < d.stages.size(); ++i) {
    resolve_reads(d, i);
    resolve_after(d, i);
  }
  for (const draft_tensor& tensor : d.tensors) {
    if (tensor.input != nullptr && tensor.readers.empty() && tensor.deciders.empty()) {
      d.out.warning(tensor.where, fmt::format("no stage reads the input '{}'", tensor.name));
    }
  }
}

namespace {

/// Returns a link to a stage that is not ordered yet, or null.
const draft_link* open_link(const draft_stage& stage, const std::vector<bool>& ordered) {
  const auto open = std::find_if(stage.links.begin(), stage.links.end(),
                                 [&](const draft_link& l) { return !ordered[l.earlier]; });
  return open == stage.links.end() ? nullptr : &*open;
}

/// Finds a cycle, in which each stage waits for the previous one and the first waits for the last.
/// Starts with the stage declared first.
/// @pre some stages are not ordered, and each of them waits for another such stage
std::vector<std::size_t> find_cycle(const draft& d, const std::vector<bool>& ordered) {
  const auto left = std::find(ordered.begin(), ordered.end(), false);
  std::size_t at = static_cast<std::size_t>(left - ordered.begin());
  std::vector<std::size_t> path;
  while (std::find(path.begin(), path.end(), at) == path.end()) {
    path.push_back(at);
    at = open_link(d.stages[at], ordered)->earlier;
  }
  path.erase(path.begin(), std::find(path.begin(), path.end(), at));
  std::reverse(path.begin(), path.end());
  std::rotate(path.begin(), std::min_element(path.begin(), path.end()), path.end());
  return path;
}

void report_cycle(draft& d, const std::vector<std::size_t>& cycle,
                  const std::vector<bool>& ordered) {
  const auto name_of = [&](std::size_t s) -> const std::string& {
    return d.stages[s].spec->name.text;
  };
  std::string path;
  std::string reasons;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    path += name_of(cycle[i]) + " -> ";
    const std::size_t later = cycle[(i + 1) % cycle.size()];
    const draft_link& link = *open_link(d.stages[later], ordered);
    reasons += reasons.empty() ? "" : ", ";
    reasons += link.tensor == none
                   ? fmt::format("'{}' runs after '{}'", name_of(later), name_of(cycle[i]))
                   : fmt::format("'{}' reads '{}' of '{}'", name_of(later),
                                 d.tensors[link.tensor].name, name_of(cycle[i]));
  }
  d.out.error(open_link(d.stages[cycle.front()], ordered)->where,
              fmt::format("cycle: {}{} ({})", path, name_of(cycle.front()), reasons));
}

}  // namespace

void put_in_order(draft& d) {
  const std::size_t count = d.stages.size();
  std::vector<std::vector<std::size_t>> later(count);
  std::vector<std::size_t> open(count, 0);
  for (std::size_t s = 0; s < count; ++s) {
    for (const draft_link& link : d.stages[s].links) {
      later[link.earlier].push_back(s);
      ++open[s];
    }
  }
  // Of the free stages, the one declared first comes next.
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> free;
  for (std::size_t s = 0; s < count; ++s) {
    if (open[s] == 0) free.push(s);
  }
  std::vector<bool> ordered(count, false);
  const auto take = [&](std::size_t s) {
    ordered[s] = true;
    d.order.push_back(s);
    for (const std::size_t l : later[s]) {
      if (--open[l] == 0 && !ordered[l]) free.push(l);
    }
  };
  while (d.order.size() < count) {
    while (!free.empty()) {
      const std::size_t next = free.top();
      free.pop();
      if (!ordered[next]) take(next);
    }
    if (d.order.size() == count) break;
    const std::vector<std::size_t> cycle = find_cycle(d, ordered);
    report_cycle(d, cycle, ordered);
    // Marks the whole cycle as ordered, so that the remaining stages are still checked.
    for (const std::size_t s : cycle) {
      d.stages[s].sound = false;
      if (!ordered[s]) take(s);
    }
  }
}

namespace {

satisfied_by how_satisfied(const plan& p, const planned_stage& earlier, const planned_stage& later,
                           const dependency& edge, bool one_launch) {
  // In a frame's graph, edges of CPU stages are satisfied like all others.
  if (!one_launch) {
    if (earlier.on == side::cpu) return satisfied_by::cpu_return;
    if (later.on == side::cpu || edge.decides) return satisfied_by::completion;
    if (!p.devices[later.device].exchanges_with(earlier.device)) return satisfied_by::completion;
  }
  return earlier.stream == later.stream ? satisfied_by::stream_order : satisfied_by::event_wait;
}

}  // namespace

void settle_edges(plan& p) {
  const std::size_t count = p.stages.size();
  const bool whole_frame = p.schedule.properties.one_launch;
  for (std::size_t s = 0; s < count; ++s) {
    for (dependency& wait : p.stages[s].waits) {
      planned_stage& earlier = p.stages[wait.stage];
      wait.how = how_satisfied(p, earlier, p.stages[s], wait, whole_frame);
      earlier.followers.push_back(s);
      if (!whole_frame && earlier.on != side::device) continue;
      if (wait.how != satisfied_by::stream_order) earlier.signals = true;
      if (wait.how == satisfied_by::completion) earlier.host_waits = true;
    }
  }
  p.reach.assign(count, bit_set(count));
  for (std::size_t s = count; s-- > 0;) {
    planned_stage& stage = p.stages[s];
    // Stages without followers complete the frame.
    if (stage.followers.empty() && (whole_frame || stage.on == side::device)) {
      stage.signals = true;
      stage.host_waits = !whole_frame;
    }
    for (const std::size_t f : stage.followers) {
      p.reach[s] |= p.reach[f];
      p.reach[s].set(f);
    }
  }
}

}  // namespace graphline::planning
