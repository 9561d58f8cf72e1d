#pragma once

#include <string>
#include <utility>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/node.hpp"
#include "framework/spec/node_budget.hpp"
#include "framework/spec/pipeline_reader.hpp"

namespace graphline {

/// Backends for which a parameter may have its own value: {cuda: 32, host: 1}.
const std::vector<std::string>& parameter_backends();

/// Values of a file's `params:` section for one backend, with the options applied; substitutes
/// `$name`.
class parameter_values {
 public:
  /// Reads the section: a mapping from names to a scalar, a list, or a mapping from backends to
  /// either. `section` may be null.
  parameter_values(const node& section, const reading_options& options, diagnostics& out);

  /// Replaces each unquoted `$name` in `n` by its value, which keeps its own place. Reports unknown
  /// names and leaves them. Null, after one error, once all results exceed a `node_budget`.
  node substitute(const node& n, diagnostics& out);

  /// Whether the `node_budget` is exceeded: the file cannot be checked further.
  bool exhausted() const noexcept { return exhausted_; }

  /// Warns of parameters that were never substituted.
  void report_unused(diagnostics& out) const;

  /// Name and value of each, in declared order.
  std::vector<std::pair<std::string, std::string>> resolved() const;

 private:
  struct value {
    named name;
    node content;  ///< null after an error
    bool used = false;
  };

  /// Reports `$name/...`, which begins like a parameter but would not be substituted. Returns
  /// whether it did.
  bool refuse_part(const node& n, diagnostics& out);
  value* find(std::string_view name) noexcept;
  node replaced(const node& n, diagnostics& out);
  std::vector<std::string> names() const;

  std::vector<value> values_;
  node_budget budget_;
  bool exhausted_ = false;
};

}  // namespace graphline
