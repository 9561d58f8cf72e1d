#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/report/render/terminal_style.hpp"

namespace graphline {

/// Columns a terminal takes to show a text of printable characters and escape sequences.
std::size_t text_width(std::string_view text);

/// `text` on lines of at most `width` columns, broken at spaces; lines after the first are indented
/// by `indent`. A longer word stands on a line of its own. No newline at the end.
std::string wrapped(std::string_view text, std::size_t indent = 0, std::size_t width = 80);

/// The same in a color, as wide as the terminal but for what is too wide to read, with a newline at
/// the end.
std::string paragraph(std::string_view text, std::size_t indent = 0, const terminal_style& as = {},
                      color in = color::plain);

/// A name fit for a table: control characters and invalid bytes as "?", a long one cut in its
/// middle, since names tend to differ at either end. Of the paths that PyTorch's exporter gives
/// nodes the end is kept, and of several joined by "+" the first and how many more there are.
std::string table_name(std::string_view name, std::size_t width);

/// What the names of stages in a table are cut to where there is no room.
inline constexpr std::size_t least_name = 10;

/// Text in aligned columns, two spaces apart, no rules and no spaces at the ends of lines.
class text_table {
 public:
  /// left: words. right: numbers with units of their own. number: decimal points under each other;
  /// words and "-" to the right.
  enum class align { left, right, number };
  struct column {
    std::string heading;
    text_table::align align = text_table::align::number;
    /// What its cells may be cut to where there is no room, as names: 0 for not at all.
    std::size_t least = 0;
    /// The greatest is left out first where there is no room; from 10 on before a name is cut for
    /// it, and without a word.
    int expendable = 0;
    /// Its cells differ from those of the column before it: where either is cut, it is around the
    /// place where they begin to.
    bool differs = false;
  };

  explicit text_table(std::vector<column> columns) : columns_(std::move(columns)) {}

  /// As many cells as there are columns. Cells of columns of words may be colored.
  void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  struct laid_out {
    std::string text;
    std::vector<std::size_t> columns;  ///< that it shows, by their places
  };

  /// Heading and rows, each ending in a newline. Where they do not fit into the width, names are
  /// cut, then columns are left out, all but the first, and named in a line below.
  laid_out lay_out(const terminal_style& as = {}) const;
  std::string text(const terminal_style& as = {}) const { return lay_out(as).text; }

 private:
  std::vector<column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace graphline
