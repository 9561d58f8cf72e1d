#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "framework/analysis/diff/output_diff.hpp"
#include "framework/analysis/diff/source_diff.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/heading.hpp"
#include "framework/report/sentences.hpp"

namespace graphline::report {

namespace {

/// Matching items of both results. A pointer is null if its result lacks the item.
template <class T>
struct both {
  const T* before = nullptr;
  const T* after = nullptr;
  const T& either() const { return before != nullptr ? *before : *after; }
};

/// Matches items by `key`. Returns the items of `before` in order, then the items found only in
/// `after`.
template <class T, class Key>
std::vector<both<T>> joined(const std::vector<T>& before, const std::vector<T>& after, Key key) {
  std::vector<both<T>> list;
  std::map<std::string, std::size_t> places;
  for (const auto& one : before) {
    if (places.emplace(std::invoke(key, one), list.size()).second) list.push_back({&one, nullptr});
  }
  for (const auto& one : after) {
    const auto [place, is_new] = places.emplace(std::invoke(key, one), list.size());
    if (is_new) list.emplace_back();
    list[place->second].after = &one;
  }
  return list;
}

template <class Part>
std::vector<const Part*> parts_of(const document& of) {
  std::vector<const Part*> list;
  for (const auto& part : of.parts) {
    if (const auto* some = std::get_if<Part>(&part)) list.push_back(some);
  }
  return list;
}

/// Calls `visit` with each pair of parts (facts or tables) that have the same key.
template <class Part, class Visit>
void for_both(const document& before, const document& after, Visit visit) {
  for (const auto* first : parts_of<Part>(before)) {
    for (const auto* second : parts_of<Part>(after)) {
      if (first->key == second->key) visit(*first, *second);
    }
  }
}

std::optional<double> number_of(const cell& of) {
  const auto number = of.number();
  return number ? std::optional(number->value) : std::nullopt;
}

/// Returns after / before - 1; empty unless both are known and `before` is not 0.
cell change_of(const cell& of_before, const cell& of_after) {
  const auto before = number_of(of_before);
  const auto after = number_of(of_after);
  if (!before || !after || *before == 0) return {};
  return {*after / *before - 1, unit::change};
}

// ---- Tables -------------------------------------------------------------------------------------

struct named_row {
  std::string name;
  const row* of;
};

/// Returns the rows with their names. The name of a part begins with the name of its level-0 row.
std::vector<named_row> named_rows(const table& of) {
  std::vector<named_row> rows;
  std::string whole;
  for (const auto& one : of.rows) {
    const auto name = shown_value(one.cells.front());
    if (one.level == 0) whole = name;
    rows.push_back({one.level == 0 ? name : whole + '\n' + name, &one});
  }
  if (of.total) rows.push_back({shown_value(of.total->cells.front()), &*of.total});
  return rows;
}

/// Returns true if the numbers of both rows are comparable: the columns with `decides` are equal.
bool is_of_one_kind(const table& in, const row& before, const row& after) {
  for (std::size_t c = 0; c < in.columns.size(); ++c) {
    if (!in.columns[c].decides) continue;
    if (shown_value(before.cells[c]) != shown_value(after.cells[c])) return false;
  }
  return true;
}

bool has_numbers_to_compare(const column& of) {
  return of.compared && of.in;
}

table diff_of(const table& before, const table& after) {
  table made{before.key,          before.title, before.row_key, before.part_key,
             {before.columns[0]}, {},           before.where};
  for (const auto& column : before.columns) {
    if (!has_numbers_to_compare(column)) continue;
    made.columns.push_back({column.key + "_before", column.title + " before", column.in});
    made.columns.push_back({column.key + "_after", "after", column.in});
    made.columns.push_back({column.key + "_change", "change %", unit::change});
  }
  const auto rows_before = named_rows(before);
  const auto rows_after = named_rows(after);
  for (const auto& pair : joined(rows_before, rows_after, &named_row::name)) {
    const auto* first = pair.before ? pair.before->of : nullptr;
    const auto* second = pair.after ? pair.after->of : nullptr;
    const bool same_kind = first && second && is_of_one_kind(before, *first, *second);
    row line{{pair.either().of->cells.front()}, pair.either().of->level};
    for (std::size_t c = 0; c < before.columns.size(); ++c) {
      const auto& column = before.columns[c];
      if (!has_numbers_to_compare(column)) continue;
      line.cells.push_back(first ? first->cells[c] : cell());
      line.cells.push_back(second ? second->cells[c] : cell());
      line.cells.push_back(same_kind ? change_of(first->cells[c], second->cells[c]) : cell());
    }
    const bool empty = std::none_of(line.cells.begin() + 1, line.cells.end(),
                                    [](const cell& of) { return of.number().has_value(); });
    if (line.level == 0 || !empty) made.rows.push_back(std::move(line));
  }
  return made;
}

// ---- Facts --------------------------------------------------------------------------------------

/// Returns the numeric facts that text or page show.
std::vector<fact> figures_of(const document& of) {
  std::vector<fact> list;
  for (const auto* some : parts_of<facts>(of)) {
    if (some->folded || (some->where & shown) == 0) continue;
    for (const auto& one : some->list) {
      if (number_of(one.value) && !one.title.empty()) list.push_back(one);
    }
  }
  return list;
}

table diff_of(const std::vector<fact>& before, const std::vector<fact>& after) {
  using b = const both<fact>&;
  const auto value = [](const fact* of) { return of ? of->value : cell(); };
  return table_of<both<fact>>(
      {"figures", "Figures", "name"},
      {{{"name", "figure"}, [](b x) { return x.either().title; }},
       {data_column("unit"), [](b x) { return symbol_of(x.either().value.number()->in); }},
       {{"before", "before", unit::none}, [=](b x) { return value(x.before); }},
       {{"after", "after", unit::none}, [=](b x) { return value(x.after); }},
       {{"change", "change %", unit::change},
        [=](b x) { return change_of(value(x.before), value(x.after)); }}},
      joined(before, after, &fact::key));
}

/// Returns facts as pairs of name and text. Nested values get names like "params.batch". Omits the
/// date, which always differs.
name_texts texts_of(const facts& of) {
  name_texts flat;
  for (const auto& one : of.list) {
    const auto own = one.title.empty() ? one.key : one.title;
    const auto name = of.key.empty() ? own : of.key + '.' + own;
    if (const auto* nested = std::get_if<std::vector<named_value>>(&one.value.value)) {
      for (const auto& inner : *nested) {
        flat.emplace_back(name + '.' + inner.key, shown_value(inner));
      }
    } else if (name != "environment.date") {
      flat.emplace_back(name, shown_value(one.value));
    }
  }
  return flat;
}

std::vector<source_record> sources_of(const facts& of) {
  std::vector<source_record> files;
  for (const auto& one : of.list) files.push_back({one.title, shown_value(one.value)});
  return files;
}

/// Returns true if the document contains checksums of files.
bool has_files(const document& of) {
  const auto list = parts_of<facts>(of);
  return std::any_of(list.begin(), list.end(), [](const facts* x) { return x->key == "files"; });
}

/// Returns a table of the differences in settings, device, environment, checksums and sources.
table differences(const document& before, const document& after) {
  table made{"differences",
             "Differs",
             "name",
             "",
             {{"name", "differs"},
              {"before", "before"},
              {.key = "after", .title = "after", .differs = true}}};
  const auto add = [&](const name_texts& first, const name_texts& second) {
    for (const auto& pair : joined(first, second, &name_texts::value_type::first)) {
      const auto one = pair.before ? pair.before->second : "-";
      const auto other = pair.after ? pair.after->second : "-";
      if (one != other) made.rows.push_back({{pair.either().first, one, other}});
    }
  };
  for_both<facts>(before, after, [&](const facts& first, const facts& second) {
    if (!first.folded) return;
    if (first.key != "sources") return add(texts_of(first), texts_of(second));
    for (const auto& [name, texts] :
         graphline::differences(sources_of(first), sources_of(second))) {
      made.rows.push_back({{name, texts.before.value_or("-"), texts.after.value_or("-")}});
    }
  });
  return made;
}

// ---- Outputs of runs ----------------------------------------------------------------------------

std::string words_of(const output_change& of) {
  switch (of.found) {
    case output_fate::same:
      return "the same";
    case output_fate::other_type:
      return "of another shape or type, so not compared";
    case output_fate::other_rows: {
      const auto rows = [](const std::optional<std::int64_t>& of) {
        return of ? counted(*of, "row") : std::string("without rows");
      };
      return fmt::format("{} before, {} after", rows(of.rows_before), rows(of.rows_after));
    }
    case output_fate::only_before:
      return "only before";
    case output_fate::only_after:
      return "only after";
    case output_fate::differs:
      break;
  }
  if (!of.largest) return "differs by checksum; the files hold no values to tell by how much";
  const auto values = counted(of.compared, "value");
  if (*of.largest == 0)
    return fmt::format("differs by checksum, but not in {} saved of it", values);
  auto text = fmt::format("differs by up to {:.2g}", *of.largest);
  if (of.relative) text += fmt::format(", {:.2g} of the largest value", *of.relative);
  return text + fmt::format(" (of {} compared)", values);
}

std::string not_finite(const output_change& of) {
  if (of.finite_before && of.finite_after) return "";
  return fmt::format("; holds NaN or infinity {}", of.finite_after    ? "before"
                                                   : of.finite_before ? "after"
                                                                      : "in both");
}

table output_table(const std::vector<output_change>& outputs) {
  using o = const output_change&;
  return table_of<output_change>(
      {"outputs", "Outputs", ""},
      {{{"tensor", "output"}, [](o x) { return x.tensor; }},
       {{"words", "", {}, 0, "", shown}, [](o x) { return words_of(x) + not_finite(x); }},
       {data_column("found"), [](o x) { return x.found; }},
       {data_column("values_compared"), [](o x) { return x.compared; }},
       {data_column("largest_difference"), [](o x) { return cell(x.largest); }},
       {data_column("of_largest_value"), [](o x) { return cell(x.relative); }},
       {{.key = "rows_before", .where = in_data, .optional = true},
        [](o x) { return cell(x.rows_before); }},
       {{.key = "rows_after", .where = in_data, .optional = true},
        [](o x) { return cell(x.rows_after); }},
       {data_column("finite_before"), [](o x) { return x.finite_before; }},
       {data_column("finite_after"), [](o x) { return x.finite_after; }}},
      outputs);
}

// ---- The document -------------------------------------------------------------------------------

/// Returns why a run has no latency; empty if it has one.
std::string why_no_headline(const document& of, const std::vector<fact>& figures) {
  if (std::ranges::find(figures, of.headline, &fact::key) != figures.end()) return "";
  const bool overloaded =
      std::ranges::find(of.findings, "overloaded", &finding::key) != of.findings.end();
  return overloaded ? "was overloaded" : "has too few frames";
}

/// Returns the change of `headline`: "end to end p50 150 ms, after 85.0 ms, -43.3 %".
std::string answer(const document& before, const document& after) {
  const auto first = figures_of(before);
  const auto second = figures_of(after);
  const auto one = std::ranges::find(first, before.headline, &fact::key);
  const auto other = std::ranges::find(second, before.headline, &fact::key);
  if (one != first.end() && other != second.end()) {
    const auto change = change_of(one->value, other->value);
    return fmt::format("{} {}, after {}{}", one->title, shown_value(one->value),
                       shown_value(other->value), change.known() ? ", " + shown_value(change) : "");
  }
  const auto why = why_no_headline(before, first);
  return fmt::format("no latency to compare: the run {} {}", why.empty() ? "after" : "before",
                     why.empty() ? why_no_headline(after, second) : why);
}

/// Adds the failures and warnings of a result. `file`: its file name.
void add_troubles(document& to, const document& from, const std::string& file) {
  for (const auto& found : from.findings) {
    if (found.how == finding_severity::note) continue;
    to.findings.push_back(
        finding{"of_result", found.how}.with("file", file).with("why", sentence(found)));
  }
}

/// Adds a table of changes for each table that both documents contain.
void add_tables(document& made, const document& before, const document& after) {
  if (before.headline.empty()) {
    made.lines.push_back(before.title);
  } else {
    made.lines.push_back(fmt::format("{}: {}", before.title, answer(before, after)));
  }
  for_both<table>(before, after, [&](const table& first, const table& second) {
    if (std::ranges::any_of(first.columns, has_numbers_to_compare)) {
      made.parts.push_back(diff_of(first, second));
    }
  });
}

}  // namespace

document diff(const document& before, const document& after, const std::string& file_before,
              const std::string& file_after, const judged_tables* judged) {
  document made{"diff", before.title, before.description, {}, {}, {}, "", "", before.title_key};
  if (before.title != after.title) {
    made.lines.push_back(
        fmt::format("different subjects: {} before, {} after", before.title, after.title));
  }
  made.parts.push_back(facts{"",
                             "",
                             {{"of", "", "graphline." + before.kind + "/1"},
                              {"before", "", file_before},
                              {"after", "", file_after}},
                             in_data});
  if (judged != nullptr) {
    made.lines.push_back(fmt::format("{}: {}", before.title, judged->answer));
    made.parts.insert(made.parts.end(), judged->parts.begin(), judged->parts.end());
  } else {
    add_tables(made, before, after);
  }
  made.lines.push_back("before  " + file_before);
  made.lines.push_back("after   " + file_after);
  if (judged == nullptr && !before.exact) {
    made.parts.push_back(diff_of(figures_of(before), figures_of(after)));
  }
  auto other = differences(before, after);
  if (other.rows.empty()) {
    made.parts.push_back(
        note{before.exact ? "The parameters are the same."
             : has_files(before) && has_files(after)
                 ? "Source, settings, device, environment and input files are the same."
                 : "Source, settings, device and environment are the same. "
                   "Models and data files are not compared."});
  }
  made.parts.push_back(std::move(other));
  if (judged == nullptr && !before.exact) {
    made.parts.push_back(
        note{"One run each: how much runs vary is not known, so there is no "
             "verdict; 'graphline compare' gives one."});
  }
  add_troubles(made, before, file_before);
  add_troubles(made, after, file_after);
  return made;
}

document diff(const analyzed_run& before, const analyzed_run& after) {
  auto made = diff(describe(before.record, before.analysis), describe(after.record, after.analysis),
                   before.file, after.file);
  made.parts.push_back(output_table(compare(before.record.outputs, after.record.outputs)));
  return made;
}

}  // namespace graphline::report
