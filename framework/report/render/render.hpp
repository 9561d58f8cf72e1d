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

/// Returns text for a terminal. Tables fit its width; charts are omitted.
std::string as_text(const document& of, const terminal_style& as = {});

/// Returns Markdown for a pull request, with GitHub's tables and without charts.
std::string as_markdown(const document& of);

/// Returns the table `table_of_csv`, with measured times in whole nanoseconds; empty if there is no
/// such table.
std::string as_csv(const document& of);

/// Writes one object: the document with times in ms, then `record` without loss.
void write_json(text_sink& to, const document& of, std::optional<record_view> record = {});

/// The gates of a command, for a JUnit file.
struct gate_suite {
  std::string name;  ///< "graphline run two_models"
  std::vector<std::pair<std::string, std::string>> properties;
  std::vector<gate_result> results;
};

/// Returns a JUnit test suite with a test case for each gate. A gate that cannot be judged fails.
std::string as_junit(const gate_suite& of);

/// Returns a chart as JSON for the page: {"kind": "roofline", ...}.
nlohmann::ordered_json chart_data(const chart& of);

/// Returns a self-contained page. A script draws the document, which the page contains as JSON.
std::string as_html(const document& of);

}  // namespace graphline::report
