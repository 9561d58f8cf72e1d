#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "framework/base/utf8.hpp"
#include "framework/base/version.hpp"
#include "framework/report/render/cells.hpp"
#include "framework/report/render/page_parts.hpp"
#include "framework/report/render/render.hpp"
#include "framework/report/sentences.hpp"

namespace graphline::report {

namespace {

using json = nlohmann::ordered_json;

/// Returns JSON for a script element. Escapes '<', so that no text ends the element. U+FFFD
/// replaces control characters and marks that change the text direction; line breaks and tabs stay.
std::string script_json(const json& data) {
  const auto text = data.dump(-1, ' ', false, json::error_handler_t::replace);
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\\') {  // dump() escapes all characters below U+0020
      const char escape = text[at + 1];
      const std::size_t bytes = escape == 'u' ? 6 : 2;
      const bool is_control = escape == 'u' || escape == 'b' || escape == 'f';
      result += is_control ? "\uFFFD" : text.substr(at, bytes);
      at += bytes;
      continue;
    }
    const auto [code, bytes] = utf8_at(text, at);
    if (text[at] == '<') {
      result += "\\u003c";
    } else if (code && is_control(*code)) {
      result += "\uFFFD";
    } else {
      result.append(text, at, bytes);
    }
    at += bytes;
  }
  return result;
}

/// Returns a finding as a sentence that begins with a capital letter and ends with a period.
std::string sentence_of(const finding& of) {
  auto text = sentence(of);
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') {
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  }
  if (!text.empty() && text.back() != '.') text += '.';
  return text;
}

json page_json(const column& of, const std::string& shown_title) {
  json made = {{"title", shown_title}, {"number", of.in.has_value()}};
  // If text omits a column of words, the page shows them below the name of the row.
  if (!of.in && (of.where & in_text) == 0) made["below"] = true;
  if (!of.help.empty()) made["help"] = of.title + ": " + of.help;
  return made;
}

json page_json(const cell& of, const std::string& shown_text) {
  json made = {{"text", shown_text}};
  if (const auto number = of.number()) made["value"] = number->value;
  if (const auto* some = std::get_if<judgment>(&of.value)) {
    constexpr const char* tones[] = {"good", "bad", "faint"};
    made["tone"] = tones[static_cast<std::size_t>(some->is)];
  } else if (std::holds_alternative<sampled>(of.value)) {
    made["tone"] = "histogram";
  } else if (!of.known()) {
    made["known"] = false;
  }
  return made;
}

json page_json(const table& of) {
  const shown_table shown(of, in_page);
  json columns = json::array();
  for (std::size_t i = 0; i < shown.columns.size(); ++i) {
    columns.push_back(page_json(of.columns[shown.columns[i]], shown.titles[i]));
  }
  json rows = json::array();
  for (std::size_t r = 0; r < shown.rows.size(); ++r) {
    const auto& from = *shown.lines[r];
    json cells = json::array();
    for (std::size_t i = 0; i < shown.columns.size(); ++i) {
      cells.push_back(page_json(from.cells[shown.columns[i]], shown.rows[r][i]));
    }
    json made = {{"cells", std::move(cells)}};
    if (from.level > 0)
      made["class"] = "inner";
    else if (from.apart)
      made["class"] = "apart";
    if (shown.is_total(r)) made["total"] = true;
    rows.push_back(std::move(made));
  }
  return {{"type", "table"}, {"columns", std::move(columns)}, {"rows", std::move(rows)}};
}

json figures_of(const facts& of) {
  json list = json::array();
  for (const auto& one : of.list) {
    if (!is_shown(one)) continue;
    json notes = json::array();
    if (const auto* some = std::get_if<estimate>(&one.value.value)) {
      notes.push_back(interval_text(*some));
    }
    if (!one.note.empty()) notes.push_back(one.note);
    list.push_back({{"title", one.title},
                    {"text", shown_fact(of, one)},
                    {"number", one.value.number().has_value()},
                    {"notes", std::move(notes)}});
  }
  return {{"type", "figures"}, {"list", std::move(list)}};
}

/// Returns facts as pairs of name and text. Nested values get names like "params.batch".
json lookup_of(const facts& of) {
  json list = json::array();
  for (const auto& one : of.list) {
    if (const auto* nested = std::get_if<std::vector<named_value>>(&one.value.value)) {
      for (const auto& inner : *nested) {
        list.push_back({one.title + '.' + inner.key, shown_value(cell(inner))});
      }
    } else {
      list.push_back({one.title, shown_value(one.value)});
    }
  }
  return {{"type", of.key == "sources" ? "files" : "lookup"}, {"list", std::move(list)}};
}

json page_json(const facts& of) {
  return of.folded ? lookup_of(of) : figures_of(of);
}

json page_json(const chart& of) {
  return {{"type", "chart"}, {"help", of.help}, {"data", chart_data(of)}};
}

json page_json(const document& of) {
  json findings = json::array();
  for (const auto& found : of.findings) {
    findings.push_back({{"severity", to_word(found.how)}, {"text", sentence_of(found)}});
  }
  json parts = json::array();
  for (const auto& part : of.parts) {
    if (!is_in(in_page, part)) continue;
    parts.push_back(std::visit(
        [](const auto& some) -> json {
          if constexpr (requires { some.text; }) {
            return {{"type", "note"}, {"text", some.text}};
          } else {
            auto made = page_json(some);
            made["key"] = some.key;
            made["title"] = some.title;
            return made;
          }
        },
        part));
  }
  return {{"kind", of.kind},          {"predicted", of.predicted},
          {"title", of.title},        {"description", of.description},
          {"lines", of.lines},        {"findings", std::move(findings)},
          {"parts", std::move(parts)}};
}

}  // namespace

std::string as_html(const document& of) {
  const bool charts = std::any_of(of.parts.begin(), of.parts.end(), [](const auto& part) {
    return std::holds_alternative<chart>(part);
  });
  const auto if_charts = [charts](std::string_view text) { return charts ? text : ""; };
  return fmt::format(
      fmt::runtime(page_template), fmt::arg("style", page_style), fmt::arg("version", version()),
      fmt::arg("document", script_json(page_json(of))), fmt::arg("script", page_script),
      fmt::arg("chart_library", if_charts(chart_library)),
      fmt::arg("chart_script", if_charts(chart_script)));
}

}  // namespace graphline::report
