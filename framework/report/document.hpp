#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "framework/analysis/finding.hpp"
#include "framework/analysis/stats/distribution.hpp"
#include "framework/analysis/stats/percentile_interval.hpp"
#include "framework/base/clock.hpp"
#include "framework/base/units.hpp"
#include "framework/base/words.hpp"
#include "framework/report/charts.hpp"

namespace graphline::report {

// A result as a document, independent of format. `describe` makes it; renderers, which know only
// documents, turn it into text, pages, JSON, CSV and Markdown.

/// Where a part appears; data (JSON and CSV) has it under its key.
enum place : unsigned {
  in_text = 1,  ///< terminal and Markdown
  in_page = 2,
  in_data = 4,
  shown = in_text | in_page,
  everywhere = shown | in_data
};
inline constexpr auto not_in_text = in_page | in_data;

/// A value with its 95 % interval; an end may be unknown.
struct estimate {
  quantity value;
  std::optional<double> low;
  std::optional<double> high;
};

/// Raw times in nanoseconds and the like; in data only.
using whole_numbers = std::vector<std::int64_t>;

/// A range; an end may be unknown.
struct span_of {
  std::optional<double> low;
  std::optional<double> high;
  unit in = unit::none;
};

/// A word with a color for good or bad news.
struct judgment {
  enum class kind { good, bad, faint };
  std::string word;
  kind is = kind::faint;
};

/// One of several values in a cell, such as a parameter.
struct named_value {
  std::string key;
  /// Never a `judgment`, which only works around libstdc++ 12 (see `finding_items`).
  std::variant<bool, std::string, quantity, judgment> value;
};

/// Measured times: a histogram in text and page, figures in data.
struct sampled {
  std::shared_ptr<const distribution> of;  ///< null if not measured
  std::vector<percentile_interval> intervals = {};
};

/// A value, or empty if unknown.
struct cell {
  using content =
      std::variant<std::monostate, bool, std::string, quantity, estimate, span_of, judgment,
                   sampled, std::vector<std::string>, std::vector<named_value>, whole_numbers>;

  cell() = default;
  /// An alternative of `content`.
  template <class T>
  requires(std::is_class_v<T>&& std::constructible_from<content, T>) cell(T of)
      : value(std::move(of)) {}
  cell(std::string_view text) : value(std::string(text)) {}
  cell(const char* text) : value(std::string(text)) {}
  cell(bool yes) : value(yes) {}
  cell(const named_value& of);

  template <class T>
  requires(std::is_arithmetic_v<T> && !std::same_as<T, bool>) cell(T number, unit in = unit::none)
      : cell(quantity{static_cast<double>(number), in}) {}

  /// An enumerator as its word.
  template <class T>
  requires std::is_enum_v<T> cell(T word) : cell(to_word(word)) {}

  /// Empty without a value.
  template <class T>
  cell(const std::optional<T>& maybe) {
    if (maybe) *this = cell(*maybe);
  }
  template <class T>
  cell(const std::optional<T>& maybe, unit in) {
    if (maybe) *this = cell(*maybe, in);
  }

  bool known() const noexcept { return value.index() != 0; }
  std::optional<quantity> number() const;  ///< a quantity, or an estimate's value

  content value;
};

sampled samples_of(const std::optional<distribution>& times);

/// Empty for an empty text.
inline cell unless_empty(const std::string& text) {
  return text.empty() ? cell() : cell(text);
}

/// A named value; without a title in data only. `note`: a few words beside it.
struct fact {
  std::string key;
  std::string title;
  cell value;
  std::string note = {};
};

struct facts {
  std::string key;  ///< of the object in data; if empty, facts go to the top level
  std::string title;
  std::vector<fact> list;
  unsigned where = everywhere;
  bool folded = false;  ///< a list to look things up in, not figures
};

struct column {
  std::string key;
  std::string title = {};
  std::optional<unit> in = {};  ///< unit of its numbers; empty for words
  /// Columns with the greatest rank are omitted first if there is no room: 0 never, from 10 on
  /// before names are cut.
  int rank = 0;
  std::string help = {};  ///< explanation for the notes
  unsigned where = everywhere;
  bool compared = false;      ///< between two results
  bool shared_scale = false;  ///< its histograms share one scale
  bool is_signed = false;     ///< its times are differences
  bool decides = false;       ///< words: rows that differ in it have no change
  bool differs = false;       ///< words that differ from the column before it
  bool optional = false;      ///< in data, rows omit the key of an unknown value
};

/// A column in data only.
inline column data_column(std::string key, std::optional<unit> in = {}) {
  return {std::move(key), "", in, 0, "", in_data};
}

/// A column with the function that gives its value for an item.
template <class Item>
struct column_of {
  column is;
  std::function<cell(const Item&)> value;
};

struct row {
  std::vector<cell> cells;  ///< as many as there are columns
  int level = 0;            ///< 1: a part of the last row of level 0
  bool apart = false;       ///< preceded by a gap: compared with another reference
  unsigned where = everywhere;
};

/// The first column names the rows. A table without shown rows is in data only.
struct table {
  std::string key;
  std::string title;
  std::string row_key;        ///< of a row: "stage"
  std::string part_key = {};  ///< of a row of level 1: "part"; empty if none
  std::vector<column> columns = {};
  std::vector<row> rows = {};
  unsigned where = everywhere;
  std::optional<row> total = {};  ///< over all rows; in JSON its numbers, as the object "total"
  bool titled = false;            ///< a terminal shows its title, too
};

template <class Item>
std::vector<column> columns_of(const std::vector<column_of<Item>>& list) {
  std::vector<column> columns;
  for (const auto& one : list) columns.push_back(one.is);
  return columns;
}

template <class Item>
row row_of(const Item& item, const std::vector<column_of<Item>>& list, int level = 0) {
  row made{{}, level};
  for (const auto& one : list) made.cells.push_back(one.value(item));
  return made;
}

/// Adds these columns and a row for each item to `made`.
template <class Item>
table table_of(table made, const std::vector<column_of<Item>>& list,
               const std::vector<Item>& items) {
  made.columns = columns_of(list);
  for (const auto& item : items) made.rows.push_back(row_of(item, list));
  return made;
}

struct chart {
  using content = std::variant<roofline_chart, frames_chart, distributions_chart, timeline_chart,
                               comparisons_chart, sweep_chart, trials_chart>;

  std::string key;
  std::string title;
  std::string help;
  content drawn;
};

/// A few sentences on how a result was made or how to read it.
struct note {
  std::string text;
  unsigned where = shown;
};

/// "95 % interval 9.497 frame/s to 9.608 frame/s".
std::string interval_text(const estimate& of);

/// A value with its unit; "-" if unknown.
std::string shown_value(const cell& of);

struct document {
  using part = std::variant<facts, table, chart, note>;

  std::string kind;  ///< "roofline", of the schema graphline.roofline/1
  std::string title;
  std::string description;
  std::vector<std::string> lines;  ///< pipeline, device and settings
  std::vector<part> parts;
  std::vector<finding> findings;       ///< failures appear before all parts
  std::string table_of_csv;            ///< key of the table in a CSV file
  std::string headline = {};           ///< key of the fact that a comparison leads with
  std::string title_key = "pipeline";  ///< key of the title in data; empty to omit it
  bool exact = false;                  ///< counted rather than measured, so repeatable
};

/// Whether a part appears there. Charts appear in text and page.
bool is_in(place where, const document::part& part);

}  // namespace graphline::report
