#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/analysis/gate.hpp"
#include "framework/base/file/text_sink.hpp"
#include "framework/report/document.hpp"
#include "framework/report/json/json_text.hpp"
#include "framework/report/json/result_kinds.hpp"
#include "framework/report/render/terminal_style.hpp"

namespace graphline::report {

/// Returns text for a terminal: tables as wide as the terminal, and no charts.
std::string as_text(const document& of, const terminal_style& as = {});

/// Returns Markdown for a pull request: GitHub's tables, and no charts.
std::string as_markdown(const document& of);

/// Returns the table `table_of_csv` with a line for each row and measured times in whole
/// nanoseconds. Empty if there is no such table.
std::string as_csv(const document& of);

/// Writes one object: the document under its keys with times in ms, then the record from which the
/// document was made, without loss. A calibration is its own record.
void write_json(text_sink& to, const document& of, std::optional<record_view> record = {});

/// The gates of a command, for CI.
struct gate_suite {
  std::string name;  ///< "graphline run two_models"
  std::vector<std::pair<std::string, std::string>> properties;
  std::vector<gate_result> results;
};

/// Returns a JUnit test suite with a test case for each gate, failed if it cannot be judged.
std::string as_junit(const gate_suite& of);

/// Returns a chart as JSON for the page: {"kind": "roofline", ...}.
nlohmann::ordered_json chart_data(const chart& of);

/// Returns a self-contained page. The page contains the document as JSON, and its script draws it.
std::string as_html(const document& of);

}  // namespace graphline::report
