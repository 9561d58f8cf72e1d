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

/// The options --fail-if and --junit. Parsing checks the conditions of --fail-if.
class gate_options {
 public:
  void add_to(CLI::App& command, gated what, result_files& files);

  const std::vector<gate>& gates() const noexcept { return gates_; }

  /// @throws input_error if `why_never` returns a reason why a condition cannot be evaluated
  void refuse(const std::function<std::string(const gate&)>& why_never) const;

  /// Evaluates the conditions, prints a line for each, adds their results to `suite` (empty on
  /// entry) and writes the file of --junit. With `quiet`, prints only failed conditions, to
  /// standard error. Returns `gate_failed` if `ended` is `done` and a condition failed; else
  /// returns `ended`.
  exit_status judge(const std::function<gate_result(const gate&)>& judged, report::gate_suite suite,
                    result_outputs& outputs, bool quiet, exit_status ended) const;

 private:
  std::vector<gate> gates_;
};

}  // namespace graphline
