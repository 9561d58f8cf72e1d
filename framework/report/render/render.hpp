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

/// For a terminal: tables as wide as it is, no charts.
std::string as_text(const document& of, const terminal_style& as = {});

/// For a pull request: GitHub's tables, no charts.
std::string as_markdown(const document& of);

/// The table `table_of_csv`, one line per row, measured times in whole nanoseconds. Empty without
/// that table.
std::string as_csv(const document& of);

/// One object: the document under its keys, times in ms; then the record it was made of, without
/// loss. A calibration is its own record.
void write_json(text_sink& to, const document& of, std::optional<record_view> record = {});

/// The gates of a command, for CI.
struct gate_suite {
  std::string name;  ///< "graphline run two_models"
  std::vector<std::pair<std::string, std::string>> properties;
  std::vector<gate_result> results;
};

/// A JUnit test suite with a test case for each gate; one that cannot be judged is a failure.
std::string as_junit(const gate_suite& of);

/// A chart as JSON for the page: {"kind": "roofline", ...}.
nlohmann::ordered_json chart_data(const chart& of);

/// A self-contained page. The page holds the document as JSON, and its script draws it.
std::string as_html(const document& of);

}  // namespace graphline::report
