#include <fmt/format.h>

#include "framework/base/utf8.hpp"
#include "framework/report/render/cells.hpp"
#include "framework/report/render/render.hpp"
#include "framework/report/sentences.hpp"

namespace graphline::report {

namespace {

/// Invisible character that prevents links. Backslashes and entities do not prevent them.
constexpr std::string_view no_link = "&#8203;";

/// Returns true if the character at byte `at` of a line may start a list, a heading or a rule.
bool begins_block(std::string_view text, std::size_t at) {
  const char c = text[at];
  const auto before = text.substr(0, at);
  const bool first = before.find_first_not_of(' ') == before.npos;
  const bool apart = at + 1 == text.size() || text[at + 1] == ' ';
  if (c == '.' || c == ')') {
    return apart && !first && before.find_first_not_of("0123456789 ") == before.npos;
  }
  if (c == '-' || c == '+') {  // a lone '-' means unknown
    return first && at + 1 < text.size() && (text[at + 1] == ' ' || text[at + 1] == c);
  }
  return first && c == '=';
}

/// Escapes text so that Markdown sites show it without markup, links or mentions.
std::string markdown_text(std::string_view of) {
  const auto text = printable(of);
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool mark = std::string_view("\\`*_[]<>|~$").find(c) != std::string_view::npos;
    if (c == '&') {
      result += "&amp;";
      continue;
    }
    if (mark || begins_block(text, at)) result += '\\';
    result += c;
    const auto rest = std::string_view(text).substr(at);
    const auto behind = std::string_view(text).substr(0, at + 1);
    if (c == '@' || c == '#' || rest.starts_with("://") ||
        (behind.ends_with("www") && rest.starts_with("w.")) || behind.ends_with("GH-")) {
      result += no_link;
    }
  }
  return result;
}

std::string text_of(const table& of) {
  const shown_table shown(of, in_text);
  std::string text = fmt::format("### {}\n\n", markdown_text(of.title));
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
  std::string text = fmt::format("### {}\n\n", markdown_text(of.title));
  for (const auto& one : of.list) {
    if (!is_shown(one)) continue;
    text += fmt::format("- {}: **{}**{}{}\n", markdown_text(one.title),
                        markdown_text(shown_fact(of, one)), one.note.empty() ? "" : ", ",
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
