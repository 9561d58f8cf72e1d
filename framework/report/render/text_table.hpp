#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/report/render/terminal_style.hpp"

namespace graphline {

/// Returns the terminal columns of a text of printable characters and escape sequences.
std::size_t text_width(std::string_view text);

/// Wraps `text` at spaces to `width` columns. Lines after the first are indented by `indent`. A
/// word that is too long gets a line of its own. There is no newline at the end.
std::string wrapped(std::string_view text, std::size_t indent = 0, std::size_t width = 80);

/// Wraps `text` to the width of the terminal, or to a readable limit. Ends with a newline.
std::string paragraph(std::string_view text, std::size_t indent = 0, const terminal_style& as = {},
                      color in = color::plain);

/// Returns a name for a table. Control characters and invalid bytes become "?". A long name is cut
/// in the middle, since names tend to differ at the ends. Node paths of PyTorch's exporter keep
/// their end. Names joined by "+" keep the first and the number of the others.
std::string table_name(std::string_view name, std::size_t width);

/// Tables may cut names to this width, but not further.
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
    /// Width to which names in its cells may be cut; 0 forbids cutting.
    std::size_t least = 0;
    /// If a table is too wide, columns with the greatest value are omitted first. Columns with 10
    /// or more are omitted before any name is cut, and without a note.
    int expendable = 0;
    /// Cells differ from those in the column before; both are cut around their difference.
    bool differs = false;
  };

  explicit text_table(std::vector<column> columns) : columns_(std::move(columns)) {}

  /// Adds a row with a cell for each column. Cells of columns of words may be colored.
  void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  struct laid_out {
    std::string text;
    std::vector<std::size_t> columns;  ///< indices of the shown columns
  };

  /// Returns heading and rows, each with a newline. To fit the width, cuts names, then omits
  /// columns other than the first and names them in a line below.
  laid_out lay_out(const terminal_style& as = {}) const;
  std::string text(const terminal_style& as = {}) const { return lay_out(as).text; }

 private:
  std::vector<column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace graphline
