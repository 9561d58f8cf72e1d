#include <fmt/format.h>

#include "framework/base/utf8.hpp"
#include "framework/report/render/cells.hpp"
#include "framework/report/render/render.hpp"
#include "framework/report/sentences.hpp"

namespace graphline::report {

namespace {

/// Text that Markdown and HTML within it take as text.
std::string markdown_text(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    if (std::string_view("\\`*_[]<>|~").find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

std::string text_of(const table& of) {
  const shown_table shown(of, in_text);
  std::string text = fmt::format("### {}\n\n", of.title);
  std::string rule = "|";
  text += '|';
  for (std::size_t i = 0; i < shown.columns.size(); ++i) {
    text += fmt::format(" {} |", markdown_text(shown.titles[i]));
    rule += of.columns[shown.columns[i]].in ? " ---: |" : " --- |";
  }
  text += '\n' + rule + '\n';
  for (std::size_t r = 0; r < shown.rows.size(); ++r) {
    text += shown.lines[r]->level > 0 ? "| &nbsp;&nbsp;" : "| ";
    for (const auto& value : shown.rows[r]) text += fmt::format("{} | ", markdown_text(value));
    text.back() = '\n';
  }
  return text;
}

std::string text_of(const facts& of) {
  std::string text = fmt::format("### {}\n\n", of.title);
  for (const auto& one : of.list) {
    if (!is_shown(one)) continue;
    text += fmt::format("- {}: **{}**{}{}\n", markdown_text(one.title),
                        markdown_text(shown_value(one.value)), one.note.empty() ? "" : ", ",
                        markdown_text(one.note));
  }
  return text;
}

}  // namespace

std::string as_markdown(const document& of) {
  std::string text = fmt::format("## {}\n", markdown_text(of.title));
  for (const auto& line : of.lines) text += fmt::format("\n{}  ", markdown_text(line));
  text += '\n';
  for (const auto how :
       {finding_severity::failure, finding_severity::warning, finding_severity::note}) {
    std::string list;
    for (const auto& found : of.findings) {
      if (found.how != how) continue;
      const auto* before = how == finding_severity::note      ? "- "
                           : how == finding_severity::warning ? "- ⚠ "
                                                              : "- ❌ ";
      list += before + markdown_text(sentence(found)) + '\n';
    }
    if (!list.empty()) text += '\n' + list;
  }
  for (const auto& part : of.parts) {
    if (!is_in(in_text, part)) continue;
    if (const auto* some = std::get_if<facts>(&part)) text += '\n' + text_of(*some);
    if (const auto* some = std::get_if<table>(&part)) text += '\n' + text_of(*some);
  }
  return text;
}

}  // namespace graphline::report
