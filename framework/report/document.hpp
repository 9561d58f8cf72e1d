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

// What a result says, before any format: `describe` makes a document of it, renderers make text,
// pages, JSON, CSV and Markdown of a document and know nothing else.

/// Where something is shown; in data (JSON and CSV) by its key.
enum place : unsigned {
  in_text = 1,  ///< terminal and Markdown
  in_page = 2,
  in_data = 4,
  shown = in_text | in_page,
  everywhere = shown | in_data
};
inline constexpr auto not_in_text = in_page | in_data;

/// A value with its 95 % interval, an end of which may not be known.
struct estimate {
  quantity value;
  std::optional<double> low;
  std::optional<double> high;
};

/// Such as raw times, in nanoseconds; in data only.
using whole_numbers = std::vector<std::int64_t>;

/// From where to where a value lies; an end may not be known.
struct span_of {
  std::optional<double> low;
  std::optional<double> high;
  unit in = unit::none;
};

/// A word that is good or bad news.
struct judgment {
  enum class kind { good, bad, faint };
  std::string word;
  kind is = kind::faint;
};

/// One of several values that stand together, such as a parameter.
struct named_value {
  std::string key;
  /// `judgment` is never held: without it libstdc++ 12 would destroy what a copy that ran out of
  /// memory never made (see `finding_items`).
  std::variant<bool, std::string, quantity, judgment> value;
};

/// Measured times: their histogram for people, their figures in data.
struct sampled {
  std::shared_ptr<const distribution> of;  ///< null where nothing was measured
  std::vector<percentile_interval> intervals = {};
};

/// A value, or nothing where it is not known.
struct cell {
  using content =
      std::variant<std::monostate, bool, std::string, quantity, estimate, span_of, judgment,
                   sampled, std::vector<std::string>, std::vector<named_value>, whole_numbers>;

  cell() = default;
  /// One of the alternatives.
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

  /// A word of the language.
  template <class T>
  requires std::is_enum_v<T> cell(T word) : cell(to_word(word)) {}

  /// What may not be known.
  template <class T>
  cell(const std::optional<T>& maybe) {
    if (maybe) *this = cell(*maybe);
  }
  template <class T>
  cell(const std::optional<T>& maybe, unit in) {
    if (maybe) *this = cell(*maybe, in);
  }

  bool known() const noexcept { return value.index() != 0; }
  std::optional<quantity> number() const;  ///< of a quantity or an estimate

  content value;
};

sampled samples_of(const std::optional<distribution>& times);

/// Nothing for an empty text.
inline cell unless_empty(const std::string& text) {
  return text.empty() ? cell() : cell(text);
}

/// A named value; in data only where it has no title. `note`: a few words beside it.
struct fact {
  std::string key;
  std::string title;
  cell value;
  std::string note = {};
};

struct facts {
  std::string key;  ///< of the object in data; empty: its facts stand at the top
  std::string title;
  std::vector<fact> list;
  unsigned where = everywhere;
  bool folded = false;  ///< a list to look things up in, rather than figures
};

struct column {
  std::string key;
  std::string title = {};
  std::optional<unit> in = {};  ///< of its numbers; nothing for words
  /// Left out where there is no room, the greatest first; 0 never, from 10 on before names are cut.
  int rank = 0;
  std::string help = {};  ///< what it is, for the notes
  unsigned where = everywhere;
  bool compared = false;      ///< between two results
  bool shared_scale = false;  ///< its histograms lie on one scale, to be compared down the column
  bool is_signed = false;     ///< its times are differences
  bool decides = false;       ///< words: where two rows differ in it, no change is given of them
  bool differs = false;       ///< words: they differ from those of the column before it
  bool optional = false;  ///< in data not a key of a row where it is not known, rather than null
};

/// A column that people do not see.
inline column data_column(std::string key, std::optional<unit> in = {}) {
  return {std::move(key), "", in, 0, "", in_data};
}

/// A column with what it holds of an item, so that both are said in one place.
template <class Item>
struct column_of {
  column is;
  std::function<cell(const Item&)> value;
};

struct row {
  std::vector<cell> cells;  ///< as many as there are columns
  int level = 0;            ///< 1: a part of the last row of level 0
  bool apart = false;       ///< a gap before it: what follows is compared with something else
  unsigned where = everywhere;
};

/// The first column names the rows. Where none is shown, the table is in data only.
struct table {
  std::string key;
  std::string title;
  std::string row_key;        ///< what a row is: "stage"
  std::string part_key = {};  ///< what a row of level 1 is: "part"; empty where there are none
  std::vector<column> columns = {};
  std::vector<row> rows = {};
  unsigned where = everywhere;
  std::optional<row> total = {};  ///< of all rows; in JSON its numbers, as the object "total"
  bool titled = false;            ///< its title stands above it in a terminal too
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

/// `made` with these columns, and a row for each item.
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

/// A few sentences on how something was made or is to be read.
struct note {
  std::string text;
  unsigned where = shown;
};

/// "95 % interval 9.497 frame/s to 9.608 frame/s".
std::string interval_text(const estimate& of);

/// A value by itself, with its unit; "-" where it is not known.
std::string shown_value(const cell& of);

struct document {
  using part = std::variant<facts, table, chart, note>;

  std::string kind;  ///< "roofline", of the schema graphline.roofline/1
  std::string title;
  std::string description;
  std::vector<std::string> lines;  ///< what ran, where and how
  std::vector<part> parts;
  std::vector<finding> findings;       ///< failures stand before all parts
  std::string table_of_csv;            ///< the key of the table that a CSV file holds
  std::string headline = {};           ///< the key of the fact that a comparison goes by
  std::string title_key = "pipeline";  ///< of the title in data; empty: it stands elsewhere
  bool exact = false;                  ///< counted, not measured: it is the same each time
};

/// Whether a part is shown there; a chart is wherever people look.
bool is_in(place where, const document::part& part);

}  // namespace graphline::report
