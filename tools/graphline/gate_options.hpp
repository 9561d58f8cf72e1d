#pragma once

#include <functional>
#include <string>
#include <vector>

#include "framework/analysis/gate.hpp"
#include "framework/base/error.hpp"
#include "framework/report/render/render.hpp"
#include "tools/graphline/result_outputs.hpp"

namespace CLI {
class App;
}

namespace graphline {

/// The part of a command line that says under which conditions a result fails: --fail-if, which is
/// checked as it is read, and --junit.
class gate_options {
 public:
  void add_to(CLI::App& command, gated what, result_files& files);

  /// Conditions as they were understood.
  const std::vector<gate>& gates() const noexcept { return gates_; }

  /// Throws an `input_error` for one of which `why_never` tells why it can never be judged.
  void refuse(const std::function<std::string(const gate&)>& why_never) const;

  /// Judges each, shows a line for it, where `quiet` on standard error and of those alone that did
  /// not pass, and writes --junit; `suite` without results. Answers `ended`, or `gate_failed` where
  /// that is `done` and not all passed.
  exit_status judge(const std::function<gate_result(const gate&)>& judged, report::gate_suite suite,
                    result_outputs& outputs, bool quiet, exit_status ended) const;

 private:
  std::vector<gate> gates_;
};

}  // namespace graphline
