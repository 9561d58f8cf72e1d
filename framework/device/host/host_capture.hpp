#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "framework/device/host/host_graph.hpp"
#include "framework/device/host/host_worker.hpp"
#include "framework/device/host/lane.hpp"

namespace graphline {

class host_event;
class host_stream;

/// One capture, from its beginning to its end, whichever way it ends. Each stream in it is a branch
/// with its frontier: the nodes that its next node depends on. A recorded event keeps the frontier
/// of its stream; a wait for it merges that into the waiting stream's, which thereby joins.
///
/// A session belongs to the thread that runs the capture.
class capture_session {
 public:
  /// Puts `origin` in capture mode. Throws `run_error` when it is in a capture already.
  capture_session(host_captures& registry, host_stream& origin);

  /// Takes every stream out of capture mode.
  ~capture_session();
  capture_session(const capture_session&) = delete;
  capture_session& operator=(const capture_session&) = delete;

  std::uint64_t number() const noexcept { return number_; }
  const std::string& origin_name() const noexcept { return origin_name_; }

  /// Adds a node at the end of the stream's branch.
  void add(const host_stream& s, const command& c, std::string type);

  void record(const host_stream& s, host_event& e);

  /// `e` was recorded in this capture.
  void wait(host_stream& s, const host_event& e);

  /// What was captured. Throws `run_error` when a branch was not joined to the origin's again.
  std::shared_ptr<const captured_graph> finish();

 private:
  using node_indices = std::vector<std::size_t>;  // ascending, each once

  struct branch {
    host_stream* stream;
    node_indices frontier;
  };

  branch& branch_of(const host_stream& s);
  std::size_t number_of(const branch& b) const {
    return static_cast<std::size_t>(&b - branches_.data());
  }

  host_captures& registry_;
  const std::string origin_name_;  // apart from the branches, since other threads may ask for it
  std::vector<branch> branches_;   // the first is the origin's
  std::map<const host_event*, node_indices> recorded_;
  captured_graph captured_;
  std::uint64_t number_;
};

}  // namespace graphline
