#pragma once

#include <string>
#include <utility>
#include <vector>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/node.hpp"
#include "framework/spec/node_budget.hpp"
#include "framework/spec/pipeline_reader.hpp"

namespace graphline {

/// Returns the backends for which a parameter may have its own value: {cuda: 32, host: 1}.
const std::vector<std::string>& parameter_backends();

/// Parameter values for one backend, from a file's `params:` section and the options.
class parameter_values {
 public:
  /// Reads the section, a mapping from names to values. A value is a scalar, a list, or a mapping
  /// from backends to scalars or lists. `section` may be null.
  parameter_values(const node& section, const reading_options& options, diagnostics& out);

  /// Takes the values of another backend from now on.
  void choose_for(const std::string& backend);

  /// Replaces each unquoted `$name` in `n` by its value, which keeps its own place. Reports and
  /// keeps references with unknown names. Once all inserted values together exceed a `node_budget`,
  /// reports one error and returns null.
  node substitute(const node& n, diagnostics& out);

  /// Returns true if the `node_budget` is exceeded. Then the file cannot be checked further.
  bool exhausted() const noexcept { return exhausted_; }

  /// Warns about parameters that were never substituted.
  void report_unused(diagnostics& out) const;

  /// Returns the name and value of each parameter, in declared order.
  std::vector<std::pair<std::string, std::string>> resolved() const;

 private:
  struct value {
    named name;
    node content;  ///< null after an error
    bool used = false;
    node by_backend = {};  ///< as written, if it is a mapping
  };

  void set(value& of, const node& written, const named& name, diagnostics& out);

  /// Reports text such as `$name/a`, which is not substituted. Returns true after a report.
  bool refuse_part(const node& n, diagnostics& out);
  value* find(std::string_view name) noexcept;
  node replaced(const node& n, diagnostics& out);
  std::vector<std::string> names() const;

  std::vector<value> values_;
  std::string backend_;
  bool several_;
  node_budget budget_;
  bool exhausted_ = false;
};

}  // namespace graphline
