#include "framework/report/terminal/diff_origin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "framework/analysis/experiment/comparison_text.hpp"
#include "framework/base/units.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/terminal/text_table.hpp"

namespace graphline {

namespace {

using enum text_table::align;

/// Columns for a value: of two of them and the names, a line.
std::size_t value_width(const look& as) {
  constexpr std::size_t at_eighty = 25;
  constexpr std::size_t least = 10;
  const auto lacking = (80 - std::min<std::size_t>(80, as.width)) / 2;
  return std::max(least, as.room(at_eighty) - std::min(at_eighty, lacking));
}

/// "2026-11-21 08:01 UTC" of "2026-11-21T08:01:43Z"; anything else as it is.
std::string short_date(const std::string& date) {
  const bool usual = date.size() == 20 && date[10] == 'T' && date.back() == 'Z';
  return usual ? fmt::format("{} {} UTC", printable(date.substr(0, 10)),
                             printable(date.substr(11, 5)))
               : printable(date);
}

std::string backend_of(const saved_origin& origin) {
  for (const auto& [name, text] : origin.device) {
    if (name == "backend") return text;
  }
  return "";
}

std::string file_line(std::string_view word, const saved_origin& origin, const look& as) {
  auto text = fmt::format("{:<8}{}", word, printable(origin.file));
  if (!origin.date.empty()) text += ", " + short_date(origin.date);
  return paragraph(text, 8, as);
}

/// Which of the two were disturbed, and by what; empty for none.
std::string disturbed_line(const origin_diff& origin, const look& as) {
  const auto before = printable(origin.origins.before.disturbed);
  const auto after = printable(origin.origins.after.disturbed);
  if (before.empty() && after.empty()) return "";
  const auto text =
      before.empty() || after.empty()
          ? fmt::format("the result {} was disturbed (machine noise): {}",
                        after.empty() ? "before" : "after", after.empty() ? before : after)
          : fmt::format("both results were disturbed (machine noise): before, {}; after, {}",
                        before, after);
  return paragraph("warning: " + text, 2, as, tone::warning);
}

std::vector<std::string> lines_of(const std::optional<std::string>& text, const look& as) {
  std::vector<std::string> lines;
  if (!text) return {"-"};
  std::istringstream all(wrapped(printable(*text), 0, value_width(as)));
  for (std::string line; std::getline(all, line);) lines.push_back(line);
  return lines;
}

/// A row for each line of the longer text; section and name stand in the first.
void add_rows(text_table& table, std::string section, const fact_change& fact, const look& as) {
  auto before = lines_of(fact.texts.before, as);
  auto after = lines_of(fact.texts.after, as);
  const auto count = std::max(before.size(), after.size());
  before.resize(count);
  after.resize(count);
  auto name = table_name(fact.name, 20);
  for (std::size_t i = 0; i < count; ++i) {
    table.add_row({std::move(section), std::move(name), before[i], after[i]});
    section.clear();
    name.clear();
  }
}

/// "stages.work.duration: 3ms -> 5ms".
std::string source_line(const fact_change& change, const look& as) {
  const auto& [before, after] = change.texts;
  auto text = "  " + printable(change.name) + ": ";
  if (before && after) {
    text += printable(*before) + " -> " + printable(*after);
  } else {
    text += before ? "removed, was " + printable(*before) : "added, is " + printable(*after);
  }
  return paragraph(text, 4, as);
}

}  // namespace

std::string subjects_line(const origin_diff& origin, std::string_view noun, const look& as) {
  if (!origin.other_subject()) return "";
  return paragraph(fmt::format("different {}: {} before, {} after", noun,
                               printable(origin.origins.before.subject),
                               printable(origin.origins.after.subject)),
                   2, as);
}

std::string subject_prefix(const origin_diff& origin) {
  if (origin.other_subject()) return "";
  auto text = printable(origin.origins.before.subject);
  const auto backend = backend_of(origin.origins.before);
  if (!backend.empty() && backend == backend_of(origin.origins.after)) {
    text += " on " + printable(backend);
  }
  return text + ": ";
}

std::string file_lines(const origin_diff& origin, const look& as) {
  const auto& [before, after] = origin.origins;
  auto text = file_line("before", before, as) + file_line("after", after, as);
  // Dates of this form are ordered as texts.
  if (!after.date.empty() && before.date > after.date) {
    text += paragraph("What stands as before is the newer of the two.", 0, as);
  }
  return text + disturbed_line(origin, as);
}

std::string ending_lines(const origin_diff& origin, const before_after<bool>& interrupted,
                         const before_after<std::optional<std::string>>& failure, const look& as) {
  std::string text;
  const auto add = [&](const saved_origin& of, bool stopped,
                       const std::optional<std::string>& failed) {
    const auto file = printable(of.file);
    if (failed) {
      text += paragraph(fmt::format("{}: FAILED: {}", file, printable(*failed)), 2, as, tone::bad);
    }
    if (stopped) text += paragraph(file + ": INTERRUPTED", 2, as, tone::bad);
  };
  add(origin.origins.before, interrupted.before, failure.before);
  add(origin.origins.after, interrupted.after, failure.after);
  return text.empty() ? "" : "\n" + text;
}

std::string differences_table(const origin_diff& origin, const look& as) {
  text_table table({{"differs", left}, {"", left, 8}, {"before", left, 8}, {"after", left, 8}});
  bool any = false;
  const auto add = [&](std::string section, const std::vector<fact_change>& facts) {
    for (const auto& fact : facts) {
      add_rows(table, std::move(section), fact, as);
      section.clear();
      any = true;
    }
  };
  add("settings", origin.settings);
  add("device", origin.device);
  add("environment", origin.environment);
  std::string text = any ? table.text(as) : "";
  if (!origin.source.empty()) {
    text += any ? "\nsource\n" : "source\n";
    for (const auto& change : origin.source) text += source_line(change, as);
  } else if (!any) {
    const bool compared = origin.has_source() && origin.source_unknown.empty();
    text += fmt::format("{}ettings, device and environment are the same.\n",
                        compared ? "Source, s" : "S");
  }
  if (!origin.source_unknown.empty()) {
    text +=
        paragraph("The source could not be compared: " + printable(origin.source_unknown), 0, as);
  }
  return text;
}

std::string durations_in_words(const figure_change& change) {
  const auto word = [](const std::optional<double>& ns) {
    return ns ? format_duration(*ns) : std::string("not known");
  };
  auto text = fmt::format("{} before, {} after", word(change.before), word(change.after));
  if (change.relative()) text += fmt::format(", {} %", percent_cell(change));
  return text;
}

std::string percent_cell(const figure_change& change) {
  const auto relative = change.relative();
  return relative ? percent_change(1 + *relative) : "-";
}

}  // namespace graphline
