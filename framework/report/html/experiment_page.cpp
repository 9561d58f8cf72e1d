#include "framework/report/html/experiment_page.hpp"

#include <algorithm>
#include <utility>

#include "framework/analysis/experiment/experiment_findings.hpp"
#include "framework/analysis/experiment/experiment_summary.hpp"
#include "framework/base/utf8.hpp"
#include "framework/base/version.hpp"
#include "framework/report/html/experiment_data.hpp"
#include "framework/report/html/experiment_data_parts.hpp"
#include "framework/report/html/html_page.hpp"
#include "framework/report/html/origin_data.hpp"
#include "framework/report/html/page_parts.hpp"
#include "framework/report/render/page_parts.hpp"
#include "framework/report/sentences.hpp"
#include "framework/report/terminal/experiment_sentences.hpp"

namespace graphline {

namespace {

using json = nlohmann::ordered_json;

/// What a reader must know before the figures: [{"tone": "bad" | "warning", "text"}...].
json notices(const experiment_record& record, const experiment_summary& summary) {
  json list = json::array();
  const auto add = [&](const char* tone, std::string text) {
    list.push_back({{"tone", tone}, {"text", std::move(text)}});
  };
  const auto failure = printable(record.failure.value_or(""));
  bool told = failure.empty();
  for (const auto& [bad, text] : endings_of(record, summary)) {
    add(bad ? "bad" : "warning", text);
    told = told || text.ends_with(failure);
  }
  if (!told) add("bad", failure);
  if (record.trials.empty()) {
    add("warning", "No trial was measured.");
    return list;
  }
  if (auto lack = lack_of_verdicts(record, summary); !lack.empty()) add("warning", std::move(lack));
  for (const auto& warning : report::sentences_of(trial_warnings(record))) {
    add("warning", printable(warning));
  }
  return list;
}

/// The lines below the title: what it was, how it was set, how much of it there is.
void add_subject(const experiment_record& record, json& data) {
  const auto lines = subject_lines(record);
  data["subject"] = lines.empty() ? "" : lines.front();
  std::string way;
  for (std::size_t i = 1; i < lines.size(); ++i) way += (way.empty() ? "" : "\n") + lines[i];
  const auto amount = lines.empty() ? std::string() : extent_of(record);
  data["way"] = way.empty() ? amount : way;
  if (!way.empty()) data["amount"] = amount;
}

json findings(const experiment_record& record, const experiment_summary& summary) {
  return record.trials.empty() ? json::array()
                               : json(report::sentences_of(findings_of(record, summary)));
}

}  // namespace

std::string experiment_html(const experiment_record& record, const experiment_summary& summary) {
  auto data = json::object();
  data["kind"] = "experiment";
  data["title"] = record.name;
  data["description"] = record.description;
  data["program"] = "graphline " + std::string(version());
  add_subject(record, data);
  data["notices"] = notices(record, summary);
  data["findings"] = findings(record, summary);
  data["notes"] = record.trials.empty() ? json::array() : json(note_lines(record, summary));
  data["experiment"] = experiment_data(record, summary);
  data["origin"] = origin_data(record);
  return html_page(record.name, data);
}

std::string experiment_html(const experiment_record& record) {
  return experiment_html(record, summarize(record));
}

std::uint64_t expected_experiment_html_bytes(const experiment_plan& planned) {
  constexpr std::uint64_t steps = most_steps * sizeof "[123456789012,123456],";
  constexpr std::uint64_t trial = 2 * sizeof "123456789012.5," + sizeof "60,200,";
  constexpr std::uint64_t stage = 400;  // its cell and its comparison
  std::uint64_t bytes = chart_library.size() + page_script.size() + page_style.size();
  for (const auto& source : planned.sources) bytes += source->text().size();
  const auto trials = static_cast<std::uint64_t>(std::max<std::int64_t>(planned.how.trials, 0));
  for (const auto& configuration : planned.configurations) {
    for (const auto& member : configuration.members) {
      bytes += 8'192 + steps + trials * trial + stage * member.stages.size();
    }
  }
  return bytes;
}

}  // namespace graphline
