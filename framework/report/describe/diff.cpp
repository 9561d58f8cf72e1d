#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "framework/analysis/diff/source_diff.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/sentences.hpp"

namespace graphline::report {

namespace {

/// Something of the result before and of the one after; null where it has none.
template <class T>
struct both {
  const T* before = nullptr;
  const T* after = nullptr;
};

std::optional<double> number_of(const cell* of) {
  const auto number = of == nullptr ? std::nullopt : of->number();
  return number ? std::optional(number->value) : std::nullopt;
}

/// after / before - 1; nothing unless both are known and there is something to be a part of.
cell change_of(const both<cell>& of) {
  const auto before = number_of(of.before);
  const auto after = number_of(of.after);
  if (!before || !after || *before == 0) return {};
  return quantity{*after / *before - 1, unit::change};
}

cell copy_of(const cell* of) {
  return of == nullptr ? cell() : *of;
}

template <class Part>
std::vector<const Part*> parts_of(const document& of) {
  std::vector<const Part*> list;
  for (const auto& part : of.parts) {
    if (const auto* some = std::get_if<Part>(&part)) list.push_back(some);
  }
  return list;
}

// ---- Tables -------------------------------------------------------------------------------------

struct named_row {
  std::string name;
  const row* of;
};

/// Rows of a level are joined within the row above that they belong to.
std::vector<named_row> named_rows(const table& of) {
  std::vector<named_row> rows;
  std::string whole;
  for (const auto& one : of.rows) {
    const auto name = shown_value(one.cells.front());
    if (one.level == 0) whole = name;
    rows.push_back({one.level == 0 ? name : whole + '\n' + name, &one});
  }
  return rows;
}

std::string key_of(const named_row& of) {
  return of.name;
}

std::string key_of(const fact& of) {
  return of.key;
}

/// The first's in its order, then what only the second has; by `key_of`.
template <class T>
std::vector<both<T>> joined(const std::vector<T>& before, const std::vector<T>& after) {
  std::vector<both<T>> list;
  std::map<std::string, std::size_t> places;
  for (const auto& one : before) {
    if (places.emplace(key_of(one), list.size()).second) list.push_back({&one, nullptr});
  }
  for (const auto& one : after) {
    const auto [place, is_new] = places.emplace(key_of(one), list.size());
    if (is_new) list.emplace_back();
    list[place->second].after = &one;
  }
  return list;
}

std::optional<double> number_in(const row& of, const table& in, const std::string& key) {
  const auto at = std::find_if(in.columns.begin(), in.columns.end(),
                               [&](const column& one) { return one.key == key; });
  return number_of(&of.cells[static_cast<std::size_t>(at - in.columns.begin())]);
}

/// Whether the ranges of two values lie apart.
cell beyond_range(const column& of, const table& in, const both<named_row>& rows) {
  if (rows.before == nullptr || rows.after == nullptr) return {};
  const auto ends = [&](const row& one) -> std::pair<double, double> {
    return std::minmax({number_in(one, in, of.range.first).value_or(0),
                        number_in(one, in, of.range.second).value_or(0)});
  };
  const auto first = ends(*rows.before->of);
  const auto second = ends(*rows.after->of);
  return first.second < second.first || second.second < first.first;
}

/// Whether the words that decide it are the same in both: else their numbers are of two kinds.
bool is_of_one_kind(const table& in, const both<named_row>& rows) {
  if (rows.before == nullptr || rows.after == nullptr) return false;
  for (std::size_t c = 0; c < in.columns.size(); ++c) {
    if (!in.columns[c].decides) continue;
    if (shown_value(rows.before->of->cells[c]) != shown_value(rows.after->of->cells[c])) {
      return false;
    }
  }
  return true;
}

table diff_of(const table& before, const table& after) {
  table made{before.key,          before.title, before.row_key, before.part_key,
             {before.columns[0]}, {},           before.where};
  std::vector<std::size_t> compared;
  for (std::size_t c = 0; c < before.columns.size(); ++c) {
    const auto& column = before.columns[c];
    if (!column.compared || !column.in) continue;
    compared.push_back(c);
    made.columns.push_back({column.key + "_before", column.title + " before", column.in});
    made.columns.push_back({column.key + "_after", "after", column.in});
    made.columns.push_back({column.key + "_change", "change %", unit::change});
    if (column.range.first.empty()) continue;
    made.columns.push_back({column.key + "_beyond_range", "beyond spread"});
  }
  const auto first = named_rows(before);
  const auto second = named_rows(after);
  for (const auto& pair : joined(first, second)) {
    const auto* some = pair.before == nullptr ? pair.after : pair.before;
    row made_row{{some->of->cells.front()}, some->of->level};
    const bool same_kind = is_of_one_kind(before, pair);
    for (const auto c : compared) {
      const both<cell> cells{pair.before ? &pair.before->of->cells[c] : nullptr,
                             pair.after ? &pair.after->of->cells[c] : nullptr};
      made_row.cells.push_back(copy_of(cells.before));
      made_row.cells.push_back(copy_of(cells.after));
      made_row.cells.push_back(same_kind ? change_of(cells) : cell());
      if (before.columns[c].range.first.empty()) continue;
      made_row.cells.push_back(beyond_range(before.columns[c], before, pair));
    }
    made.rows.push_back(std::move(made_row));
  }
  return made;
}

// ---- Facts --------------------------------------------------------------------------------------

/// What stands by its figures alone, of all facts that are shown.
std::vector<fact> figures_of(const document& of) {
  std::vector<fact> list;
  for (const auto* some : parts_of<facts>(of)) {
    if (some->folded || (some->where & shown) == 0) continue;
    for (const auto& one : some->list) {
      if (number_of(&one.value) && !one.title.empty()) list.push_back(one);
    }
  }
  return list;
}

table diff_of(const std::vector<fact>& before, const std::vector<fact>& after) {
  table made{"figures",
             "Figures",
             "name",
             "",
             {{"name", "figure"},
              {"unit", "", {}, 0, "", in_data},
              {"before", "before", unit::none},
              {"after", "after", unit::none},
              {"change", "change %", unit::change}},
             {}};
  for (const auto& pair : joined(before, after)) {
    const both<cell> cells{pair.before ? &pair.before->value : nullptr,
                           pair.after ? &pair.after->value : nullptr};
    const auto& some = *(pair.before ? pair.before : pair.after);
    made.rows.push_back({{some.title, symbol_of(some.value.number()->in), copy_of(cells.before),
                          copy_of(cells.after), change_of(cells)}});
  }
  return made;
}

/// What is nested as "params.batch".
std::vector<fact> flattened(const std::vector<fact>& list) {
  std::vector<fact> flat;
  for (const auto& one : list) {
    const auto name = one.title.empty() ? one.key : one.title;
    if (const auto* nested = std::get_if<std::vector<named_value>>(&one.value.value)) {
      for (const auto& inner : *nested) {
        const auto whole = name + '.' + inner.key;
        flat.push_back({whole, whole, inner, ""});
      }
    } else {
      flat.push_back({name, name, one.value, ""});
    }
  }
  return flat;
}

/// Facts that are not the same in both; dates of results are never the same.
void add_differences(table& to, const facts& before, const facts& after) {
  const auto first = flattened(before.list);
  const auto second = flattened(after.list);
  for (const auto& pair : joined(first, second)) {
    const auto* some = pair.before == nullptr ? pair.after : pair.before;
    const auto text = [](const fact* of) { return of == nullptr ? "-" : shown_value(of->value); };
    if (text(pair.before) == text(pair.after) ||
        (before.key == "environment" && some->key == "date")) {
      continue;
    }
    to.rows.push_back({{before.key + '.' + some->title, text(pair.before), text(pair.after)}});
  }
}

/// Words of rows that are compared.
void add_differences(table& to, const table& before, const table& after) {
  const auto first = named_rows(before);
  const auto second = named_rows(after);
  for (std::size_t c = 0; c < before.columns.size(); ++c) {
    const auto& column = before.columns[c];
    if (!column.compared || column.in) continue;
    for (const auto& pair : joined(first, second)) {
      if (pair.before == nullptr || pair.after == nullptr) continue;
      const auto one = shown_value(pair.before->of->cells[c]);
      const auto other = shown_value(pair.after->of->cells[c]);
      if (one != other) to.rows.push_back({{pair.before->name + ", " + column.title, one, other}});
    }
  }
}

std::vector<source_record> sources_of(const facts& of) {
  std::vector<source_record> files;
  for (const auto& one : of.list) files.push_back({one.title, shown_value(one.value)});
  return files;
}

/// Settings, device, environment and sources.
table differences(const document& before, const document& after) {
  table made{"differences",
             "Differs",
             "name",
             "",
             {{"name", "differs"}, {"before", "before"}, {"after", "after"}},
             {}};
  for (const auto* first : parts_of<table>(before)) {
    for (const auto* second : parts_of<table>(after)) {
      if (first->key == second->key) add_differences(made, *first, *second);
    }
  }
  for (const auto* first : parts_of<facts>(before)) {
    for (const auto* second : parts_of<facts>(after)) {
      if (first->key != second->key || !first->folded) continue;
      if (first->key != "sources") {
        add_differences(made, *first, *second);
        continue;
      }
      for (const auto& change : graphline::differences(sources_of(*first), sources_of(*second))) {
        made.rows.push_back(
            {{change.name, change.texts.before.value_or("-"), change.texts.after.value_or("-")}});
      }
    }
  }
  return made;
}

// ---- The document -------------------------------------------------------------------------------

/// "most changed: 'head', p50 403 us before, 202 us after, -50.0 %", by the first column that is
/// compared; as a part where its values have units of their own.
std::string answer(const table& rows) {
  const row* most = nullptr;
  double by = 0;
  for (const auto& one : rows.rows) {
    const auto before = number_of(&one.cells[1]);
    const auto after = number_of(&one.cells[2]);
    const auto change = number_of(&one.cells[3]);
    if (one.level > 0 || !before || !after || !change) continue;
    const double size = std::abs(rows.columns[1].in == unit::none ? *change : *after - *before);
    if (size < by) continue;
    by = size;
    most = &one;
  }
  const auto& in = rows.row_key;
  if (most == nullptr) return fmt::format("no {} was measured in both", in);
  if (by == 0) return fmt::format("each {} is as it was before", in);
  return fmt::format("most changed: '{}', {} {}, after {}, {}", shown_value(most->cells[0]),
                     rows.columns[1].title, shown_value(most->cells[1]),
                     shown_value(most->cells[2]),
                     to_text(std::get<quantity>(most->cells[3].value)));
}

/// "end to end p50 150 ms, after 85.0 ms, -43.3 %", by the fact that the documents name.
std::string answer(const document& before, const document& after) {
  const auto first = figures_of(before);
  const auto second = figures_of(after);
  for (const auto& pair : joined(first, second)) {
    if (pair.before == nullptr || pair.before->key != before.headline || !pair.after) continue;
    const auto change = change_of({&pair.before->value, &pair.after->value});
    return fmt::format("{} {}, after {}{}", pair.before->title, shown_value(pair.before->value),
                       shown_value(pair.after->value),
                       change.known() ? ", " + shown_value(change) : "");
  }
  return "no latency to compare: one of the runs has too few frames, or was overloaded";
}

/// Empty where it is not known.
std::string date_of(const document& of) {
  for (const auto* some : parts_of<facts>(of)) {
    for (const auto& one : some->list) {
      if (some->key == "environment" && one.key == "date") return shown_value(one.value);
    }
  }
  return "";
}

std::string file_line(std::string_view word, const std::string& file, const std::string& date) {
  return fmt::format("{:<8}{}{}{}", word, file, date.empty() ? "" : ", ", date);
}

/// What ended a result early, and what its figures may not be.
void add_troubles(document& to, const document& from, const std::string& file) {
  for (const auto& found : from.findings) {
    if (found.how == finding_severity::note) continue;
    to.findings.push_back(
        finding{"of_result", found.how}.with("file", file).with("why", sentence(found)));
  }
}

/// What changed in the tables, the largest change first in words.
void add_tables(document& made, const document& before, const document& after) {
  bool answered = !before.headline.empty();
  if (answered) made.lines.push_back(fmt::format("{}: {}", before.title, answer(before, after)));
  for (const auto* first : parts_of<table>(before)) {
    const auto is_compared = [](const column& of) { return of.compared && of.in; };
    if (std::none_of(first->columns.begin(), first->columns.end(), is_compared)) continue;
    for (const auto* second : parts_of<table>(after)) {
      if (first->key != second->key) continue;
      auto rows = diff_of(*first, *second);
      if (!answered) {
        answered = true;
        made.lines.push_back(fmt::format("{}: {}", before.title, answer(rows)));
      }
      made.parts.push_back(std::move(rows));
    }
  }
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
                             {{"of", "", "graphline." + before.kind + "/1", ""},
                              {"before", "", file_before, ""},
                              {"after", "", file_after, ""}},
                             in_data});
  if (judged != nullptr) {
    made.lines.push_back(fmt::format("{}: {}", before.title, judged->answer));
    made.parts.insert(made.parts.end(), judged->parts.begin(), judged->parts.end());
  } else {
    add_tables(made, before, after);
  }
  const auto date_before = date_of(before);
  const auto date_after = date_of(after);
  made.lines.push_back(file_line("before", file_before, date_before));
  made.lines.push_back(file_line("after", file_after, date_after));
  // Dates of this form are ordered as texts.
  if (!date_after.empty() && date_before > date_after) {
    made.lines.push_back("What stands as before is the newer of the two.");
  }
  if (judged == nullptr) made.parts.push_back(diff_of(figures_of(before), figures_of(after)));
  auto other = differences(before, after);
  if (other.rows.empty()) {
    made.parts.push_back(note{"Source, settings, device and environment are the same."});
  }
  made.parts.push_back(std::move(other));
  if (judged == nullptr) {
    made.parts.push_back(
        note{"One run each: how much runs vary is not known, so there is no "
             "verdict; 'graphline compare' gives one."});
  }
  add_troubles(made, before, file_before);
  add_troubles(made, after, file_after);
  return made;
}

}  // namespace graphline::report
