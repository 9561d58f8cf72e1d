#include "framework/report/render/kind_manual.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/report/render/text_table.hpp"

namespace graphline {
namespace {

std::vector<std::string> lines_of(const text_table& table) {
  constexpr std::size_t any_width = 10'000;
  std::vector<std::string> lines;
  std::istringstream text(table.text({.width = any_width}));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

/// Returns a note on how often an input may occur, for example " (optional)"; else empty.
std::string input_note(const stage_kind& kind, std::size_t index) {
  const bool optional = index + kind.optional_inputs >= kind.inputs.size();
  const bool repeated = kind.repeat_last_input && index + 1 == kind.inputs.size();
  if (optional) return repeated ? " (optional, any number)" : " (optional)";
  return repeated ? " (one or more)" : "";
}

std::string ports_text(std::string_view title, const std::vector<port>& ports,
                       std::size_t page_width) {
  std::string text = fmt::format("\n{}:{}\n", title, ports.empty() ? " nothing" : "");
  std::size_t width = 0;
  for (const port& p : ports) width = std::max(width, p.name.size());
  for (const port& p : ports) {
    const auto line = fmt::format("  {:{}}  {}{}", p.name, width, p.help, p.rows ? " (rows)" : "");
    text += wrapped(line, width + 4, page_width) + '\n';
  }
  return text;
}

std::string default_cell(const parameter& p) {
  if (p.required) return "required";
  return p.default_value.value_or("optional");
}

/// Adds a row for each parameter, with its help below.
void append_parameters(std::string& page, const std::vector<parameter>& parameters,
                       std::size_t page_width) {
  if (parameters.empty()) {
    page += "\nParameters: none\n";
    return;
  }
  const bool any_unit = std::any_of(parameters.begin(), parameters.end(),
                                    [](const parameter& p) { return !p.unit.empty(); });
  constexpr auto left = text_table::align::left;
  text_table table(
      {{"Parameter", left}, {"type", left}, {"default", left}, {any_unit ? "unit" : "", left}});
  for (const parameter& p : parameters) {
    table.add_row({"  " + p.name, describe_type(p), default_cell(p), p.unit});
  }
  const std::vector<std::string> lines = lines_of(table);
  page += fmt::format("\n{}\n", lines.front());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto help = wrapped("      " + parameters[i].help, 6, page_width);
    page += fmt::format("{}\n{}\n", lines[i + 1], help);
  }
}

/// A line of a list, for a kind of stage or policy.
struct list_line {
  std::string name;
  std::string note;
  std::string what;
  std::string origin;  ///< file of a plug-in; empty for the program's own
};

std::string list_text(const list_line& heading, std::vector<list_line> rows, std::size_t width) {
  text_table table(
      {{heading.name, text_table::align::left}, {heading.note, text_table::align::left}});
  std::ranges::stable_sort(rows, {}, &list_line::origin);  // the program's own first
  std::string last_origin;
  std::string page;
  for (const list_line& row : rows) table.add_row({row.name, row.note});
  const std::vector<std::string> lines = lines_of(table);
  std::size_t indent = 0;
  for (const auto& line : lines) indent = std::max(indent, line.size() + 2);
  const auto add = [&](const std::string& line, std::string_view what) {
    page += wrapped(fmt::format("{:{}}{}", line, indent, what), indent, width) + '\n';
  };
  add(lines.front(), heading.what);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].origin != last_origin) {
      last_origin = rows[i].origin;
      page += fmt::format("from plug-in {}:\n", last_origin);
    }
    add(lines[i + 1], rows[i].what);
  }
  return page;
}

std::string used_by(const policy_kind& kind) {
  std::vector<std::string_view> used;
  if (kind.needs_deadline) used.push_back("deadlines");
  if (kind.needs_times) used.push_back("expected times");
  if (kind.uses_priorities) used.push_back("priorities");
  return used.empty() ? "-" : fmt::format("{}", fmt::join(used, ", "));
}

}  // namespace

std::string describe_kind(const stage_kind& kind, std::size_t width) {
  std::string page = wrapped(fmt::format("{}: {}", kind.name, kind.headline), 0, width) + "\n";
  page += fmt::format("Runs on: {}\n", to_word(kind.on));
  if (!kind.origin.empty()) page += fmt::format("From: plug-in {}\n", kind.origin);

  std::vector<port> inputs = kind.inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i].help += input_note(kind, i);
  page += ports_text("Reads", inputs, width) + ports_text("Writes", kind.outputs, width);
  if (std::ranges::any_of(inputs, &port::rows)) {
    const char* const legend =
        "(rows): a stage with the key 'rows' computes only the first rows of these tensors.";
    page += '\n' + wrapped(legend, 0, width) + '\n';
  }
  append_parameters(page, kind.parameters, width);

  if (kind.manual) page += '\n' + kind.manual();
  if (!page.ends_with('\n')) page += '\n';
  return page;
}

std::string list_kinds(const stage_registry& registry, std::size_t width) {
  std::vector<list_line> rows;
  for (const stage_kind* kind : registry.all()) {
    rows.push_back({kind->name, std::string(to_word(kind->on)), kind->headline, kind->origin});
  }
  return list_text({"kind", "runs on", "what it does", ""}, std::move(rows), width);
}

std::string describe_policy(const policy_kind& kind, std::size_t width) {
  const auto line = [width](const std::string& text) { return wrapped(text, 0, width) + '\n'; };
  std::string page = line(fmt::format("{}: {}", kind.name, kind.description));
  page += fmt::format("Uses: {}\n", used_by(kind));
  if (!kind.source.empty()) page += line("Source: " + kind.source);
  if (!kind.origin.empty()) page += fmt::format("From: plug-in {}\n", kind.origin);
  append_parameters(page, kind.parameters, width);
  return page;
}

std::string list_policies(const std::vector<const policy_kind*>& kinds, std::size_t width) {
  std::vector<list_line> rows;
  for (const policy_kind* kind : kinds) {
    rows.push_back({kind->name, used_by(*kind), kind->description, kind->origin});
  }
  return list_text({"policy", "uses", "what goes first", ""}, std::move(rows), width);
}

}  // namespace graphline
