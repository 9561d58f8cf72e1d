#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "framework/base/utf8.hpp"
#include "framework/base/version.hpp"
#include "framework/report/json/json_text.hpp"
#include "framework/report/render/cells.hpp"
#include "framework/report/render/page_parts.hpp"
#include "framework/report/render/render.hpp"
#include "framework/report/sentences.hpp"

namespace graphline::report {

namespace {

/// Text as text in HTML, in an attribute too. Line breaks and tabs stay; other control characters,
/// which HTML cannot hold or which turn around the text that follows, become U+FFFD.
std::string html_text(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const auto [code, bytes] = utf8_at(text, at);
    const auto character = text.substr(at, bytes);
    at += bytes;
    const bool is_space = character == "\n" || character == "\r" || character == "\t";
    if (!code || (is_control(*code) && !is_space)) {
      result += "\uFFFD";
      continue;
    }
    switch (*code) {
      case '<':
        result += "&lt;";
        break;
      case '&':
        result += "&amp;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += character;
    }
  }
  return result;
}

/// Text that may hold a name, kept apart from what is around it: one written from right to left
/// turns nothing else around.
std::string named(std::string_view text) {
  return fmt::format("<bdi class=\"name\">{}</bdi>", html_text(text));
}

/// As a sentence that stands by itself.
std::string sentence_of(const finding& of) {
  auto text = sentence(of);
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') {
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  }
  if (!text.empty() && text.back() != '.') text += '.';
  return text;
}

/// What stands in a row of figures; other facts are lists to look things up in.
bool is_figures(const document::part& part) {
  const auto* some = std::get_if<facts>(&part);
  return some != nullptr && !some->folded;
}

// ---- Tables -------------------------------------------------------------------------------------

/// For sorting: the number of a cell, if it is one.
std::string sort_value(const cell& of) {
  const auto number = of.number();
  return number ? fmt::format(" data-value=\"{}\"", number->value) : "";
}

std::string_view class_of(const column& in, const cell& of) {
  if (const auto* some = std::get_if<judgment>(&of.value)) {
    return some->is == judgment::kind::good  ? " class=\"good\""
           : some->is == judgment::kind::bad ? " class=\"bad\""
                                             : " class=\"faint\"";
  }
  if (std::holds_alternative<sampled>(of.value)) return " class=\"histogram\"";
  return in.in ? " class=\"number\"" : "";
}

/// Words that the page has and a terminal has no room for stand below the name of their row.
bool stands_below(const column& of) {
  return !of.in && (of.where & in_text) == 0;
}

std::string html_of(const table& of) {
  const shown_table shown(of, in_page);
  std::string text = fmt::format(
      "<div class=\"scroll\" role=\"region\" aria-label=\"{0}\"><table class=\"sorted\">"
      "<caption class=\"unseen\">{0}</caption><thead><tr>",
      html_text(of.title));
  for (std::size_t i = 0; i < shown.columns.size(); ++i) {
    const auto& column = of.columns[shown.columns[i]];
    if (stands_below(column)) continue;
    text += fmt::format("<th scope=\"col\"{}>{}</th>", column.in ? " class=\"number\"" : "",
                        html_text(shown.titles[i]));
  }
  text += "</tr></thead><tbody>\n";
  for (std::size_t r = 0; r < shown.rows.size(); ++r) {
    const auto& row = *shown.lines[r];
    if (shown.is_total(r)) text += "</tbody><tfoot>\n";
    std::string below;
    std::string cells;
    for (std::size_t i = 1; i < shown.columns.size(); ++i) {
      const auto& column = of.columns[shown.columns[i]];
      const auto& cell = row.cells[shown.columns[i]];
      if (!stands_below(column)) {
        cells += fmt::format("<td{}{}>{}</td>", class_of(column, cell), sort_value(cell),
                             column.in ? html_text(shown.rows[r][i]) : named(shown.rows[r][i]));
      } else if (cell.known()) {
        below += (below.empty() ? "" : " · ") + shown.rows[r][i];
      }
    }
    text += fmt::format(
        "<tr{}><th scope=\"row\">{}{}</th>{}</tr>\n",
        row.level > 0 ? " class=\"inner\""
        : row.apart   ? " class=\"apart\""
                      : "",
        named(shown.rows[r].front()),
        below.empty() ? "" : fmt::format("<span class=\"under\">{}</span>", named(below)), cells);
  }
  text += of.total ? "</tfoot></table></div>\n" : "</tbody></table></div>\n";
  std::string notes;
  for (const auto c : shown.columns) {
    const auto& column = of.columns[c];
    if (!column.help.empty())
      notes += fmt::format("<li>{}: {}</li>", html_text(column.title), html_text(column.help));
  }
  return notes.empty() ? text : text + fmt::format("<ul class=\"notes\">{}</ul>\n", notes);
}

// ---- Facts --------------------------------------------------------------------------------------

std::string figures_of(const facts& of) {
  std::string text = "<dl class=\"figures\">";
  for (const auto& one : of.list) {
    if (!is_shown(one)) continue;
    const bool number = one.value.number().has_value();
    text += fmt::format("<div><dt>{}</dt><dd class=\"{}\">{}</dd>", html_text(one.title),
                        number ? "value" : "words", named(shown_fact(of, one)));
    if (const auto* some = std::get_if<estimate>(&one.value.value)) {
      text += fmt::format("<dd class=\"note\">{}</dd>", html_text(interval_text(*some)));
    }
    if (!one.note.empty()) text += fmt::format("<dd class=\"note\">{}</dd>", html_text(one.note));
    text += "</div>";
  }
  return text + "</dl>\n";
}

std::string html_row(const std::string& name, const cell& value) {
  return fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>", named(name),
                     named(shown_value(value)));
}

/// What is nested as "params.batch".
std::string rows_of(const std::vector<fact>& list) {
  std::string rows;
  for (const auto& one : list) {
    if (const auto* nested = std::get_if<std::vector<named_value>>(&one.value.value)) {
      for (const auto& inner : *nested) rows += html_row(one.title + '.' + inner.key, inner);
    } else {
      rows += html_row(one.title, one.value);
    }
  }
  return rows;
}

std::string folded(const facts& of) {
  if (of.list.empty()) return {};
  if (of.key == "sources") {
    std::string text;
    for (const auto& file : of.list) {
      text += fmt::format(
          "<details class=\"facts\" open><summary>{}</summary><pre tabindex=\"0\" dir=\"ltr\">{}"
          "</pre></details>\n",
          named(file.title), html_text(std::get<std::string>(file.value.value)));
    }
    return text;
  }
  return fmt::format(
      "<details class=\"facts\"><summary>{0}</summary><div class=\"scroll\" role=\"region\" "
      "aria-label=\"{0}\"><table><tbody>{1}</tbody></table></div></details>\n",
      html_text(of.title), rows_of(of.list));
}

// ---- The page -----------------------------------------------------------------------------------

/// JSON within a script element, which ends at the first "</script" whatever stands around it.
std::string in_script(const nlohmann::ordered_json& data) {
  const auto text = json_in_one_line(data);
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      result += "\\u003c";
    } else {
      result += c;
    }
  }
  return result;
}

std::string html_of(const chart& of) {
  auto text = fmt::format(
      "<figure class=\"drawn\"><script type=\"application/json\">{}</script></figure>\n",
      in_script(chart_data(of)));
  if (!of.help.empty()) text += fmt::format("<p class=\"note\">{}</p>\n", html_text(of.help));
  return text;
}

std::string html_of(const facts& of) {
  return of.folded ? folded(of) : figures_of(of);
}

std::string html_of(const note& of) {
  std::string lines = html_text(of.text);
  for (std::size_t at = 0; (at = lines.find('\n', at)) != lines.npos;) lines.replace(at, 1, "<br>");
  return fmt::format("<p class=\"note\">{}</p>\n", lines);
}

struct section {
  std::string id;
  std::string title;
  std::string body;
};

section section_of(const document::part& part) {
  const auto of = [](const auto& some) { return section{some.key, some.title, ""}; };
  if (const auto* some = std::get_if<table>(&part)) return of(*some);
  if (const auto* some = std::get_if<chart>(&part)) return of(*some);
  auto made = of(std::get<facts>(part));
  if (made.id.empty()) made.id = "more";
  return made;
}

/// Figures that follow figures share a section, and notes have that of what they follow. What made
/// the result comes last, wherever the document has it.
std::vector<section> sections_of(const document& of) {
  std::vector<section> list;
  std::string findings;
  for (const auto& found : of.findings) {
    if (found.how != finding_severity::note) continue;
    findings += fmt::format("<li>{}</li>", named(sentence_of(found)));
  }
  if (!findings.empty()) {
    list.push_back(
        {"findings", "Findings", fmt::format("<ul class=\"findings\">{}</ul>\n", findings)});
  }
  section origin{"origin", "What made this", ""};
  bool after_figures = false;
  for (const auto& part : of.parts) {
    if (!is_in(in_page, part)) continue;
    const auto body = std::visit([](const auto& some) { return html_of(some); }, part);
    if (std::holds_alternative<facts>(part) && !is_figures(part)) {
      origin.body += body;
      continue;
    }
    const bool joins = std::holds_alternative<note>(part) || (after_figures && is_figures(part));
    if (!joins) list.push_back(section_of(part));
    if (list.empty()) list.push_back({"more", "Notes", ""});
    list.back().body += body;
    after_figures = is_figures(part);
  }
  if (!origin.body.empty()) list.push_back(std::move(origin));
  return list;
}

std::string header_of(const document& of) {
  std::string text =
      fmt::format("<p class=\"kind\">graphline {}</p>\n<h1>{}</h1>\n", of.kind, named(of.title));
  if (!of.description.empty())
    text += fmt::format("<p class=\"lead\">{}</p>\n", named(of.description));
  std::string lines;
  for (const auto& line : of.lines) lines += (lines.empty() ? "" : "<br>") + named(line);
  text += fmt::format("<p class=\"note\">{}</p>\n", lines);
  for (const auto& found : of.findings) {
    if (found.how == finding_severity::note) continue;
    text += fmt::format("<p class=\"notice {}\" role=\"note\">{}</p>\n",
                        found.how == finding_severity::failure ? "bad" : "warning",
                        named(sentence_of(found)));
  }
  return text;
}

}  // namespace

std::string as_html(const document& of) {
  std::string links;
  std::string main;
  for (const auto& one : sections_of(of)) {
    links += fmt::format("<li><a href=\"#{}\">{}</a></li>", one.id, html_text(one.title));
    main += fmt::format(
        "<section id=\"{0}\" aria-labelledby=\"{0}-title\"><h2 "
        "id=\"{0}-title\">{1}</h2>\n{2}</section>\n",
        one.id, html_text(one.title), one.body);
  }
  std::string page = "<!doctype html>\n";
  page += fmt::format(
      "<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n",
      html_text(printable(of.title)), document_style);
  page += fmt::format("<header>\n{}</header>\n<nav aria-label=\"Sections\"><ul>{}</ul></nav>\n",
                      header_of(of), links);
  page += fmt::format("<main>\n{}</main>\n<footer><p>Made by graphline {}.</p></footer>\n", main,
                      version());
  page += fmt::format("<script>{}</script>\n", document_script);
  if (std::any_of(of.parts.begin(), of.parts.end(),
                  [](const auto& part) { return std::holds_alternative<chart>(part); })) {
    page += fmt::format("<script>{}</script>\n<script>{}</script>\n", chart_library, canvas_script);
  }
  return page + "</body>\n</html>\n";
}

}  // namespace graphline::report
