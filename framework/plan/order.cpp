#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <queue>

#include "framework/plan/draft.hpp"

namespace graphline::planning {
namespace {

/// A link of `stage` to one that is not in the order yet.
const draft_link* open_link(const draft_stage& stage, const std::vector<bool>& ordered) {
  const auto open = std::find_if(stage.links.begin(), stage.links.end(),
                                 [&](const draft_link& l) { return !ordered[l.earlier]; });
  return open == stage.links.end() ? nullptr : &*open;
}

/// Stages that wait for each other, each for the one before it and the first for the last, starting
/// with the one declared first. There must be stages left, each waiting for another that is left.
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
  // The earliest declared of all stages that are free comes next.
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
    // Taken out as a whole, so that what stands apart from the cycle is still checked.
    for (const std::size_t s : cycle) {
      d.stages[s].sound = false;
      if (!ordered[s]) take(s);
    }
  }
}

}  // namespace graphline::planning
