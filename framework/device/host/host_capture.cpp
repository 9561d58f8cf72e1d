#include "framework/device/host/host_capture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "framework/base/error.hpp"
#include "framework/device/host/host_stream.hpp"

namespace graphline {

capture_session::capture_session(host_captures& registry, host_stream& origin)
    : registry_(registry), origin_name_(origin.name()) {
  if (origin.capture() != nullptr) {
    throw run_error(fmt::format("stream '{}' is being captured already; a capture cannot be nested",
                                origin.name()));
  }
  branches_.push_back({&origin, {}});
  number_ = registry_.add(*this);
  origin.set_capture(this);
}

capture_session::~capture_session() {
  for (const branch& b : branches_) b.stream->set_capture(nullptr);
  registry_.remove(*this);
}

void capture_session::add(const host_stream& s, const command& c, std::string type) {
  branch& b = branch_of(s);
  const std::size_t index = captured_.nodes.size();
  captured_.nodes.push_back({name_of(c), std::move(type), b.frontier});
  captured_.commands.push_back(c);
  captured_.branches.push_back(number_of(b));
  b.frontier = {index};
}

void capture_session::record(const host_stream& s, host_event& e) {
  recorded_[&e] = branch_of(s).frontier;
  e.recorded(recorded_point::in_capture(number_));
}

void capture_session::wait(host_stream& s, const host_event& e) {
  if (s.capture() == nullptr) {
    branches_.push_back({&s, {}});
    s.set_capture(this);
  } else if (s.capture() != this) {
    throw run_error(
        fmt::format("stream '{}' and event '{}' are in different captures, which cannot be merged",
                    s.name(), e.name()));
  }
  node_indices& frontier = branch_of(s).frontier;
  node_indices merged;
  std::ranges::set_union(frontier, recorded_.at(&e), std::back_inserter(merged));
  frontier = std::move(merged);
}

std::shared_ptr<const captured_graph> capture_session::finish() {
  // Every node comes after those it depends on, so one pass backwards finds all that the origin's
  // frontier depends on.
  std::vector<bool> joined(captured_.nodes.size());
  for (const std::size_t i : branches_.front().frontier) joined[i] = true;
  for (std::size_t i = joined.size(); i-- > 0;) {
    if (!joined[i]) continue;
    for (const std::size_t before : captured_.nodes[i].after) joined[before] = true;
  }
  for (const branch& b : branches_) {
    if (!std::ranges::all_of(b.frontier, [&](std::size_t i) { return joined[i]; })) {
      throw run_error(fmt::format(
          "stream '{}' joined the capture of stream '{}' and was not waited for again; record an "
          "event at its end and wait for it on '{}' before the capture ends",
          b.stream->name(), origin_name(), origin_name()));
    }
  }
  captured_.branch_count = branches_.size();
  return std::make_shared<const captured_graph>(std::move(captured_));
}

capture_session::branch& capture_session::branch_of(const host_stream& s) {
  return *std::ranges::find(branches_, &s, &branch::stream);
}

}  // namespace graphline
