#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/report/render/terminal_style.hpp"

namespace graphline {

/// Returns the width in terminal columns. `text`: printable characters and escape sequences.
std::size_t text_width(std::string_view text);

/// Wraps `text` at spaces to `width` columns. Lines after the first are indented by `indent`. A
/// word that is too long has its own line. The text does not end with a newline.
std::string wrapped(std::string_view text, std::size_t indent = 0, std::size_t width = 80);

/// Wraps `text` to the width of the terminal, or to 100 columns if that is less.
std::string paragraph(std::string_view text, std::size_t indent = 0, const terminal_style& as = {},
                      color in = color::plain);

/// Returns a name for a table. Control characters and invalid bytes become "?". Long names are cut
/// in the middle, because names often differ at the ends. Node paths of PyTorch's exporter keep
/// their end. If "+" joins paths, the first and the number of the others are kept.
std::string table_name(std::string_view name, std::size_t width);

/// Minimum width of names that tables cut.
inline constexpr std::size_t least_name = 10;

/// Text in aligned columns, two spaces apart, without rules or trailing spaces.
class text_table {
 public:
  /// `left` is for words, `right` for numbers with their units. `number` aligns numbers at the
  /// decimal point, and words and "-" on the right.
  enum class align { left, right, number };
  struct column {
    std::string heading;
    text_table::align align = text_table::align::number;
    /// Minimum width of names in the cells; 0 forbids cutting.
    std::size_t least = 0;
    /// If a table is too wide, columns with the greatest value are omitted first. Columns with 10
    /// or more are omitted before names are cut, and without a note.
    int expendable = 0;
    /// Cells differ from those in the column before; both columns are cut around the difference.
    bool differs = false;
  };

  explicit text_table(std::vector<column> columns) : columns_(std::move(columns)) {}

  /// Adds a row with a cell for each column. Cells with words may be colored.
  void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  struct laid_out {
    std::string text;
    std::vector<std::size_t> columns;  ///< indices of the shown columns
  };

  /// Returns heading and rows, each with a newline. Cuts names to fit the width, then omits columns
  /// other than the first, and lists the omitted columns in a line below.
  laid_out lay_out(const terminal_style& as = {}) const;
  std::string text(const terminal_style& as = {}) const { return lay_out(as).text; }

 private:
  std::vector<column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace graphline
