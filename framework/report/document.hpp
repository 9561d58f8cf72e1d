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

// A document contains a result, independent of the format of the output. `describe` makes the
// document. Renderers turn it into text, pages, JSON, CSV and Markdown.

/// Outputs in which a part appears. "Data" means JSON and CSV, which contain a part under its key.
enum place : unsigned {
  in_text = 1,  ///< terminal and Markdown
  in_page = 2,
  in_data = 4,
  shown = in_text | in_page,
  everywhere = shown | in_data
};
inline constexpr auto not_in_text = in_page | in_data;

/// A value with its 95 % interval. An end of the interval is empty if it is unknown.
struct estimate {
  quantity value;
  std::optional<double> low;
  std::optional<double> high;
};

/// Raw numbers, such as times in nanoseconds. They appear only in JSON and CSV.
using whole_numbers = std::vector<std::int64_t>;

/// A range. An end is empty if it is unknown.
struct span_of {
  std::optional<double> low;
  std::optional<double> high;
  unit in = unit::none;
};

/// A word, colored as good or bad news.
struct judgment {
  enum class kind { good, bad, faint };
  std::string word;
  kind is = kind::faint;
};

/// One of several values that a cell contains under names, for example a parameter.
struct named_value {
  std::string key;
  /// Never holds a `judgment`. Listing it works around libstdc++ 12 (see `finding_items`).
  std::variant<bool, std::string, quantity, judgment> value;
};

/// Measured times. Text and page show them as a histogram; JSON and CSV contain the figures.
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
  /// Holds an alternative of `content`.
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

  /// Holds the word of an enumerator.
  template <class T>
  requires std::is_enum_v<T> cell(T word) : cell(to_word(word)) {}

  /// Holds the value of `maybe`; unknown if `maybe` is empty.
  template <class T>
  cell(const std::optional<T>& maybe) {
    if (maybe) *this = cell(*maybe);
  }
  template <class T>
  cell(const std::optional<T>& maybe, unit in) {
    if (maybe) *this = cell(*maybe, in);
  }

  bool known() const noexcept { return value.index() != 0; }
  std::optional<quantity> number() const;  ///< empty unless it holds a quantity or an estimate

  content value;
};

sampled samples_of(const std::optional<distribution>& times);

/// Returns an unknown value if `text` is empty.
inline cell unless_empty(const std::string& text) {
  return text.empty() ? cell() : cell(text);
}

/// A named value; without a title, it appears only in JSON and CSV. `note`: words shown beside it.
struct fact {
  std::string key;
  std::string title;
  cell value;
  std::string note = {};
};

struct facts {
  std::string key;  ///< key of the JSON object; if empty, its facts go to the top level
  std::string title;
  std::vector<fact> list;
  unsigned where = everywhere;
  bool folded = false;  ///< reference material such as settings, not figures
};

struct column {
  std::string key;
  std::string title = {};
  std::optional<unit> in = {};  ///< unit of its numbers; empty for words
  /// If a table is too wide, columns with the greatest rank are omitted first, and columns of rank
  /// 0 last. Ranks from 10 on are omitted before any name is cut.
  int rank = 0;
  std::string help = {};  ///< explanation, shown in a note below the table
  unsigned where = everywhere;
  bool compared = false;      ///< `diff` compares its numbers between two results
  bool shared_scale = false;  ///< its histograms share one scale
  bool is_signed = false;     ///< its times are differences, shown with a sign
  bool decides = false;       ///< it contains words; rows that differ in them have no change
  bool differs = false;       ///< it contains words that differ from those in the column before it
  bool optional = false;      ///< JSON omits its key in rows where the value is unknown
};

/// Returns a column that appears only in JSON and CSV.
inline column data_column(std::string key, std::optional<unit> in = {}) {
  return {std::move(key), "", in, 0, "", in_data};
}

/// A column, and the function that returns the column's value for an item.
template <class Item>
struct column_of {
  column is;
  std::function<cell(const Item&)> value;
};

struct row {
  std::vector<cell> cells;  ///< one cell per column
  int level = 0;            ///< 1 if it is a part of the last row of level 0
  bool apart = false;       ///< a gap separates it from the row above
  unsigned where = everywhere;
};

/// The first column names the rows. A table with no visible rows appears only in JSON and CSV.
struct table {
  std::string key;
  std::string title;
  std::string row_key;        ///< what a row of level 0 is: "stage"
  std::string part_key = {};  ///< what a row of level 1 is: "part"; empty if there is none
  std::vector<column> columns = {};
  std::vector<row> rows = {};
  unsigned where = everywhere;
  std::optional<row> total = {};  ///< over all rows; JSON contains its numbers as object "total"
  bool titled = false;            ///< the terminal shows the title as well
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

/// Sets the columns of `made`, and adds a row for each item.
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

/// A few sentences that explain how a result was made or how to read it.
struct note {
  std::string text;
  unsigned where = shown;
};

/// Returns the interval as "95 % interval 9.497 to 9.608 frame/s".
std::string interval_text(const estimate& of);

/// Returns a value with its unit; "-" if it is unknown.
std::string shown_value(const cell& of);

struct document {
  using part = std::variant<facts, table, chart, note>;

  std::string kind;  ///< "roofline" for the schema graphline.roofline/1
  std::string title;
  std::string description;
  std::vector<std::string> lines;  ///< pipeline, device and settings
  std::vector<part> parts;
  std::vector<finding> findings;       ///< failures appear before all parts
  std::string table_of_csv;            ///< key of the table that CSV contains
  std::string headline = {};           ///< key of the fact that a comparison leads with
  std::string title_key = "pipeline";  ///< key of the title in JSON; empty to omit it
  bool exact = false;                  ///< counted rather than measured, so repeatable
};

/// Returns true if the output `where` contains the part. Charts count as contained in text.
bool is_in(place where, const document::part& part);

}  // namespace graphline::report
