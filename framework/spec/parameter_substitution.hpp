#pragma once

#include <string>
#include <utility>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/node.hpp"
#include "framework/spec/node_budget.hpp"
#include "framework/spec/pipeline_reader.hpp"

namespace graphline {

/// The backends by which a parameter may differ: {cuda: 32, host: 1}.
const std::vector<std::string>& parameter_backends();

/// The values of a file's `params:` section for one backend, with what the options set applied,
/// ready to be put in the place of `$name`.
class parameter_values {
 public:
  /// Reads the section, a mapping from names to a scalar, a list, or a mapping from backends to
  /// either; `section` may be null. What is wrong in it or in the options goes to `out`.
  parameter_values(const node& section, const reading_options& options, diagnostics& out);

  /// `n` with every unquoted `$name` replaced by its value, which keeps the place where it was
  /// written: in `params:`, in another file or as an option. Unknown names are reported and left as
  /// they are. Null, after one error, where all that was answered so far is beyond a `node_budget`.
  node substitute(const node& n, diagnostics& out);

  /// Whether that has happened: more cannot be said of the file.
  bool exhausted() const noexcept { return exhausted_; }

  /// Warns of parameters that nothing has used so far.
  void report_unused(diagnostics& out) const;

  /// Name and value of each, in declared order.
  std::vector<std::pair<std::string, std::string>> resolved() const;

 private:
  struct value {
    named name;
    node content;  ///< null if the value was wrong, which has been reported
    bool used = false;
  };

  /// Reports `$name/...`, which begins like a parameter and would be taken as it is; whether it
  /// does.
  bool refuse_part(const node& n, diagnostics& out);
  value* find(std::string_view name) noexcept;
  node replaced(const node& n, diagnostics& out);
  std::vector<std::string> names() const;

  std::vector<value> values_;
  node_budget budget_;
  bool exhausted_ = false;
};

}  // namespace graphline
