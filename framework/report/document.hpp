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

// A document is a result, independent of the output format. `describe` makes documents. Renderers
// turn them into text, pages, JSON, CSV and Markdown.

/// Outputs in which a part appears. "Data" means JSON and CSV, which identify a part by its key.
enum place : unsigned {
  in_text = 1,  ///< terminal and Markdown
  in_page = 2,
  in_data = 4,
  shown = in_text | in_page,
  everywhere = shown | in_data
};
inline constexpr auto not_in_text = in_page | in_data;

/// A value with its 95 % interval. An unknown end of the interval is empty.
struct estimate {
  quantity value;
  std::optional<double> low;
  std::optional<double> high;
};

/// Raw numbers, such as times in nanoseconds, for JSON and CSV.
using whole_numbers = std::vector<std::int64_t>;

/// A range. An unknown end is empty.
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

/// One of the named values in a cell, for example a parameter.
struct named_value {
  std::string key;
  /// Never a `judgment`. Listing it works around a bug of libstdc++ 12 (see `finding_items`).
  std::variant<bool, std::string, quantity, judgment> value;
};

/// Measured times: a histogram in text and page, figures in JSON and CSV.
struct sampled {
  std::shared_ptr<const distribution> of;  ///< null if not measured
  std::vector<percentile_interval> intervals = {};
};

/// A value; empty if unknown.
struct cell {
  using content =
      std::variant<std::monostate, bool, std::string, quantity, estimate, span_of, judgment,
                   sampled, std::vector<std::string>, std::vector<named_value>, whole_numbers>;

  cell() = default;
  /// Contains an alternative of `content`.
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

  template <class T>
  requires std::is_enum_v<T> cell(T word) : cell(to_word(word)) {}

  /// Contains the value of `maybe`; unknown if `maybe` is empty.
  template <class T>
  cell(const std::optional<T>& maybe) {
    if (maybe) *this = cell(*maybe);
  }
  template <class T>
  cell(const std::optional<T>& maybe, unit in) {
    if (maybe) *this = cell(*maybe, in);
  }

  bool known() const noexcept { return value.index() != 0; }
  std::optional<quantity> number()
      const;  ///< the number of a quantity or an estimate; otherwise empty

  content value;
};

sampled samples_of(const std::optional<distribution>& times);

/// Returns the text; unknown if it is empty.
inline cell unless_empty(const std::string& text) {
  return text.empty() ? cell() : cell(text);
}

/// A named value. Without a title, it appears in JSON and CSV only. `note`: text shown beside it.
struct fact {
  std::string key;
  std::string title;
  cell value;
  std::string note = {};
};

struct facts {
  std::string key;  ///< key of the JSON object; if empty, the facts become top-level members
  std::string title;
  std::vector<fact> list;
  unsigned where = everywhere;
  bool folded = false;  ///< reference material such as settings, not figures
};

struct column {
  std::string key;
  std::string title = {};
  std::optional<unit> in = {};  ///< unit of its numbers; empty for words
  /// If a table is too wide, columns with the greatest rank are omitted first, columns of rank 0
  /// last. Columns with a rank from 10 on are omitted before names are cut.
  int rank = 0;
  std::string help = {};  ///< explanation, shown in a note below the table
  unsigned where = everywhere;
  bool compared = false;      ///< `diff` compares its numbers
  bool shared_scale = false;  ///< its histograms share one scale
  bool is_signed = false;     ///< its times are differences, shown with a sign
  bool decides = false;       ///< rows that differ in its words are not comparable
  bool differs = false;       ///< its words differ from those in the column before it
  bool optional = false;      ///< JSON omits unknown values
};

/// Returns a column for JSON and CSV.
inline column data_column(std::string key, std::optional<unit> in = {}) {
  return {std::move(key), "", in, 0, "", in_data};
}

/// A column, and the function that returns its value for an item.
template <class Item>
struct column_of {
  column is;
  std::function<cell(const Item&)> value;
};

struct row {
  std::vector<cell> cells;  ///< one cell per column
  int level = 0;            ///< 1 if it is a part of the level-0 row above
  bool apart = false;       ///< a gap separates it from the row above
  unsigned where = everywhere;
};

/// The first column names the rows. A table without visible rows appears in JSON and CSV only.
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
  bool blanks = false;            ///< unknown values, which do not apply, are blank instead of "-"
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

/// Sets the columns of `made` and adds a row for each item.
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

/// Returns "95 % interval 9.497 to 9.608 frame/s".
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
  std::vector<finding> findings;       ///< text shows failures before all parts
  std::string table_of_csv;            ///< key of the table that CSV contains
  std::string headline = {};           ///< key of the fact that comparisons show first
  std::string title_key = "pipeline";  ///< key of the title in JSON; empty to omit it
  bool exact = false;      ///< the figures are counted, not measured, so they are repeatable
  bool predicted = false;  ///< by a run in virtual time
};

/// Returns true if the output `where` contains the part. `in_text` includes charts.
bool is_in(place where, const document::part& part);

}  // namespace graphline::report
