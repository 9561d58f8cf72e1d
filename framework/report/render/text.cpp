#include <fmt/format.h>

#include <algorithm>

#include "framework/base/utf8.hpp"
#include "framework/report/render/cells.hpp"
#include "framework/report/render/render.hpp"
#include "framework/report/render/text_table.hpp"
#include "framework/report/sentences.hpp"

namespace graphline::report {

namespace {

text_table::align align_of(const column& of, const table& in, std::size_t at) {
  using enum text_table::align;
  const bool spans = std::any_of(in.rows.begin(), in.rows.end(), [at](const row& one) {
    return std::holds_alternative<span_of>(one.cells[at].value);
  });
  if (!of.in || spans) return left;
  const bool own_unit = of.in == unit::bytes || of.in == unit::flops || of.in == unit::ratio ||
                        of.in == unit::none || of.in == unit::count;
  return own_unit ? right : number;
}

std::string column_notes(const shown_table& shown, const std::vector<std::size_t>& columns,
                         const terminal_style& as) {
  std::string notes;
  for (const auto c : columns) {
    const auto& column = shown.of.columns[shown.columns[c]];
    if (column.help.empty()) continue;
    notes +=
        paragraph(printable(fmt::format("{}: {}", column.title, column.help)), 2, as, color::faint);
  }
  const bool unknown = std::any_of(shown.rows.begin(), shown.rows.end(), [](const auto& texts) {
    return std::find(texts.begin(), texts.end(), "-") != texts.end();
  });
  if (unknown && !notes.empty()) notes += paragraph("-: not known", 2, as, color::faint);
  return notes.empty() ? notes : '\n' + notes;
}

/// Returns true if cells of a column may be cut, because they contain names or uncolored words.
bool is_cut(const table& of, std::size_t column) {
  const bool is_words = std::none_of(of.rows.begin(), of.rows.end(), [&](const row& one) {
    const auto& value = one.cells[column].value;
    return std::holds_alternative<judgment>(value) || std::holds_alternative<span_of>(value) ||
           std::holds_alternative<sampled>(value);
  });
  return column == 0 || (!of.columns[column].in && is_words);
}

std::string colored_cell(const cell& of, const std::string& text, const terminal_style& as) {
  const auto* some = std::get_if<judgment>(&of.value);
  if (some == nullptr) return text;
  switch (some->is) {
    case judgment::kind::good:
      return colored(text, color::good, as);
    case judgment::kind::bad:
      return colored(text, color::bad, as);
    case judgment::kind::faint:
      break;
  }
  return colored(text, color::faint, as);
}

std::string text_of(const table& of, const terminal_style& as) {
  const shown_table shown(of, in_text);
  std::vector<text_table::column> columns;
  for (std::size_t i = 0; i < shown.columns.size(); ++i) {
    const auto& from = of.columns[shown.columns[i]];
    columns.push_back({printable(shown.titles[i]), align_of(from, of, shown.columns[i]),
                       is_cut(of, shown.columns[i]) ? least_name : 0, from.rank, from.differs});
  }
  text_table made(std::move(columns));
  for (std::size_t r = 0; r < shown.rows.size(); ++r) {
    auto texts = shown.rows[r];
    const auto indent = 2 * static_cast<std::size_t>(shown.lines[r]->level);
    texts.front() = std::string(indent, ' ') + printable(texts.front());
    for (std::size_t i = 1; i < texts.size(); ++i) {
      texts[i] = colored_cell(shown.lines[r]->cells[shown.columns[i]], printable(texts[i]), as);
    }
    if (shown.lines[r]->apart) made.add_row(std::vector<std::string>(texts.size()));
    made.add_row(std::move(texts));
  }
  const auto title = of.titled ? paragraph(printable(of.title), 2, as, color::heading) : "";
  const auto laid_out = made.lay_out(as);
  return title + laid_out.text + column_notes(shown, laid_out.columns, as);
}

std::string text_of(const facts& of, const terminal_style& as) {
  std::size_t titles = 0;
  std::size_t values = 0;
  for (const auto& one : of.list) {
    if (!is_shown(one)) continue;
    titles = std::max(titles, text_width(one.title));
    if (one.note.empty()) continue;
    values = std::max(values, text_width(shown_fact(of, one)));
  }
  auto text = colored(printable(of.title), color::heading, as) + '\n';
  for (const auto& one : of.list) {
    if (!is_shown(one)) continue;
    const auto value = printable(shown_fact(of, one));
    auto line =
        fmt::format("{}{}  {}", one.title, std::string(titles - text_width(one.title), ' '), value);
    if (!one.note.empty()) {
      line += fmt::format("{}  {}", std::string(values - text_width(value), ' '), one.note);
    }
    text += paragraph(printable(line), titles + 2, as);
  }
  return text;
}

/// Returns no text, because tables contain the figures of charts.
std::string text_of(const chart&, const terminal_style&) {
  return {};
}

std::string text_of(const note& of, const terminal_style& as) {
  std::string text;
  for (std::size_t at = 0; at < of.text.size();) {
    const auto end = std::min(of.text.find('\n', at), of.text.size());
    text += paragraph(printable(of.text.substr(at, end - at)), 2, as, color::faint);
    at = end + 1;
  }
  return text;
}

std::string findings_of(const document& of, finding_severity how, const terminal_style& as) {
  std::string text;
  for (const auto& found : of.findings) {
    if (found.how != how) continue;
    const auto says = printable(sentence(found));
    switch (how) {
      case finding_severity::failure:
        text += paragraph(says, 2, as, color::bad);
        break;
      case finding_severity::warning:
        text += paragraph("warning: " + says, 2, as, color::warning);
        break;
      case finding_severity::note:
        text += paragraph("- " + says, 2, as);
    }
  }
  return text;
}

}  // namespace

std::string as_text(const document& of, const terminal_style& as) {
  std::string text;
  const auto add = [&](const std::string& block) {
    if (!block.empty()) text += (text.empty() ? "" : "\n") + block;
  };
  for (const auto& line : of.lines) {
    text += paragraph(printable(line), 2, as, text.empty() ? color::heading : color::plain);
  }
  add(findings_of(of, finding_severity::failure, as));
  for (const auto& part : of.parts) {
    if (!is_in(in_text, part)) continue;
    add(std::visit([&](const auto& some) { return text_of(some, as); }, part));
  }
  add(findings_of(of, finding_severity::note, as));
  add(findings_of(of, finding_severity::warning, as));
  return text;
}

}  // namespace graphline::report
