#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "framework/analysis/finding.hpp"
#include "framework/analysis/stats/distribution.hpp"
#include "framework/base/clock.hpp"
#include "framework/base/quantity.hpp"

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

/// One of several values that stand together, such as a parameter.
struct named_value {
  std::string key;
  std::variant<bool, std::string, quantity> value;
};

/// A value with its 95 % interval, an end of which may not be known.
struct estimate {
  quantity value;
  std::optional<double> low;
  std::optional<double> high;
};

/// Raw, in nanoseconds; in data only.
using raw_times = std::vector<nanoseconds>;

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

/// Measured times. For people their histogram, in data their percentiles and `in_order`.
struct samples {
  std::shared_ptr<const distribution> of;  ///< null where nothing was measured
  std::vector<nanoseconds> in_order = {};  ///< as measured; left out of data where empty
};

/// A value, or nothing where it is not known.
struct cell {
  using content =
      std::variant<std::monostate, bool, std::string, quantity, estimate, span_of, judgment,
                   samples, std::vector<std::string>, std::vector<named_value>, raw_times>;

  cell() = default;
  cell(content of) : value(std::move(of)) {}
  cell(std::string_view text) : value(std::string(text)) {}
  cell(const std::string& text) : value(text) {}
  cell(const char* text) : value(std::string(text)) {}
  cell(std::vector<std::string> list) : value(std::move(list)) {}
  cell(raw_times times) : value(std::move(times)) {}
  cell(bool yes) : value(yes) {}
  cell(quantity of) : value(of) {}
  cell(const estimate& of) : value(of) {}
  cell(const span_of& of) : value(of) {}
  cell(judgment of) : value(std::move(of)) {}
  cell(samples of) : value(std::move(of)) {}
  cell(std::vector<named_value> values) : value(std::move(values)) {}
  cell(const named_value& of) {
    std::visit([this](const auto& some) { value = some; }, of.value);
  }

  /// A number that may not be known.
  template <class T>
  cell(const std::optional<T>& number, unit in) {
    if (number) value = quantity{static_cast<double>(*number), in};
  }

  bool known() const noexcept { return value.index() != 0; }
  std::optional<quantity> number() const;  ///< of a quantity or an estimate

  content value;
};

/// A named value; in data only where it has no title. `note`: a few words beside it.
struct fact {
  std::string key;
  std::string title;
  cell value;
  std::string note;
};

struct facts {
  std::string key;  ///< of the object in data; empty: its facts stand at the top
  std::string title;
  std::vector<fact> list;
  unsigned where = everywhere;
};

struct column {
  std::string key;
  std::string title;
  std::optional<unit> in = {};  ///< of its numbers; nothing for words
  /// Left out where there is no room, the greatest first; 0 never, from 10 on before names are cut.
  int rank = 0;
  std::string help = {};  ///< what it is, for the notes
  unsigned where = everywhere;
  bool compared = false;  ///< between two results
  /// The columns that hold its range; beyond each other's, two values differ by more than that.
  std::pair<std::string, std::string> range = {};
  bool shared_scale = false;  ///< its histograms lie on one scale, to be compared down the column
  bool optional = false;  ///< in data not a key of a row where it is not known, rather than null
};

/// A column with what it holds of an item, so that both are said in one place.
template <class Item>
struct column_of {
  column is;
  cell (*value)(const Item&);
};

struct row {
  std::vector<cell> cells;  ///< as many as there are columns
  int level = 0;            ///< 1: a part of the last row of level 0
  bool apart = false;       ///< a gap before it: what follows is compared with something else
};

/// The first column names the rows. Without rows it is in data only.
struct table {
  std::string key;
  std::string title;
  std::string row_key;   ///< what a row is: "stage"
  std::string part_key;  ///< what a row of level 1 is: "part"; empty where there are none
  std::vector<column> columns;
  std::vector<row> rows;
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

/// Work under the ceilings of a device: FLOP/s over FLOP/B.
struct roofline_chart {
  struct ceiling {
    std::string name;
    double rate = 0;         ///< FLOP/s
    double ridge_point = 0;  ///< FLOP/B
  };
  struct point {
    std::string stage;
    std::string part;                  ///< empty for a whole stage
    std::size_t group = 0;             ///< which stage
    double intensity = 0;              ///< FLOP/B
    double rate = 0;                   ///< FLOP/s, achieved
    double measured = 0;               ///< ns
    std::optional<double> bound_rate;  ///< FLOP/s, at the roofline time
    std::optional<double> ratio;
    std::optional<double> share;  ///< of the critical path
    std::string words;            ///< all that is known of it
  };
  double bandwidth = 0;              ///< B/s
  std::vector<ceiling> ceilings;     ///< lowest first
  std::vector<point> points;         ///< stages in planned order, each with its parts
  std::vector<std::string> without;  ///< stages that cannot be drawn
};

struct chart {
  std::string key;
  std::string title;
  std::string help;
  std::variant<roofline_chart> drawn;
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
  std::string title_key = "pipeline";  ///< of the title in data; empty: it stands elsewhere
};

/// Whether a part is shown there; a chart is wherever people look.
bool is_in(place where, const document::part& part);

}  // namespace graphline::report
