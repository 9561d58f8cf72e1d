#include "framework/report/render/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "framework/base/utf8.hpp"

namespace graphline {

namespace {

bool has_digit(std::string_view cell) {
  return std::any_of(cell.begin(), cell.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Returns the number of bytes from the decimal point on; 0 if there is no point.
std::size_t width_of_decimals(std::string_view cell) {
  const auto point = cell.find('.');
  return point == std::string_view::npos ? 0 : cell.size() - point;
}

/// Pads the right-aligned numbers of a column so that their decimal points align.
void align_points(std::vector<std::string*>& cells) {
  std::size_t widest = 0;
  for (const auto* cell : cells) {
    if (has_digit(*cell)) widest = std::max(widest, width_of_decimals(*cell));
  }
  for (auto* cell : cells) {
    if (has_digit(*cell)) cell->append(widest - width_of_decimals(*cell), ' ');
  }
}

void pad(std::string& cell, text_table::align align, std::size_t width) {
  const std::size_t missing = width - std::min(width, text_width(cell));
  cell.insert(align == text_table::align::left ? cell.size() : 0, missing, ' ');
}

/// Byte offset and width of the text before each character, and of the whole text.
struct measured_text {
  explicit measured_text(std::string_view of) : text(of) {
    std::size_t width = 0;
    for (std::size_t at = 0; at < of.size();) {
      const auto bytes = utf8_at(of, at).bytes;
      starts.push_back(at);
      widths.push_back(width);
      width += text_width(of.substr(at, bytes));
      at += bytes;
    }
    starts.push_back(of.size());
    widths.push_back(width);
  }
  std::size_t characters() const { return starts.size() - 1; }
  std::string_view character(std::size_t i) const {
    return text.substr(starts[i], starts[i + 1] - starts[i]);
  }

  std::string_view text;
  std::vector<std::size_t> starts;
  std::vector<std::size_t> widths;
};

/// Returns as many characters, starting at `from`, as fit into `width`. "…" marks each end that was
/// cut.
std::string window_of(const measured_text& of, std::size_t from, std::size_t width) {
  constexpr std::string_view mark = "…";
  std::string result(from > 0 ? mark : "");
  const auto room = width - (from > 0 ? 1 : 0);
  std::size_t to = of.characters();
  if (of.widths[to] - of.widths[from] > room) {
    while (to > from && of.widths[to] - of.widths[from] + 1 > room) --to;
  }
  result += of.text.substr(of.starts[from], of.starts[to] - of.starts[from]);
  return to < of.characters() ? result.append(mark) : result;
}

/// Cuts two texts to their widths. Both begin at the same character, which is chosen so that the
/// first difference is visible.
void cut_around_difference(std::string& one, std::string& other, std::size_t width_of_one,
                           std::size_t width_of_other) {
  const measured_text a(one);
  const measured_text b(other);
  const auto fits = [](const measured_text& of, std::size_t width) {
    return of.widths.back() <= width;
  };
  std::size_t same = 0;
  while (same < std::min(a.characters(), b.characters()) &&
         a.character(same) == b.character(same)) {
    ++same;
  }
  const auto width = std::min(width_of_one, width_of_other);
  const auto longest = std::max(a.widths.back(), b.widths.back());
  const auto is_far = [&](std::size_t from) {
    const auto before = a.widths[same] - a.widths[from];
    return before >= width / 3 && longest - a.widths[from] + 1 >= width;
  };
  std::size_t from = same;
  while (from > 0 && !is_far(from)) --from;
  auto cut_one = fits(a, width_of_one) ? one : window_of(a, from, width_of_one);
  auto cut_other = fits(b, width_of_other) ? other : window_of(b, from, width_of_other);
  one = std::move(cut_one);
  other = std::move(cut_other);
}

/// Chooses the columns of a table and their widths, so that the table fits a width.
class table_layout {
 public:
  /// `lines`: the heading, then the rows.
  table_layout(const std::vector<text_table::column>& columns,
               std::vector<std::vector<std::string>> lines)
      : columns_(columns), lines_(std::move(lines)), shown_(columns.size()) {
    std::iota(shown_.begin(), shown_.end(), std::size_t{0});
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      std::vector<std::string*> body;
      for (std::size_t row = 1; row < lines_.size(); ++row) body.push_back(&lines_[row][i]);
      if (columns_[i].align == text_table::align::number) align_points(body);
      std::size_t width = 0;
      for (const auto& line : lines_) width = std::max(width, text_width(line[i]));
      widths_.push_back(width);
    }
  }

  /// Omits extra columns, then cuts the longest names, then omits other columns, until the table
  /// fits.
  void fit(std::size_t room) {
    while (width() > room && leave_one_out(extra_column)) continue;
    const auto whole = widths_;
    while (!cut_names(room) && leave_one_out(0)) widths_ = whole;  // cuts the whole names again
  }

  const std::vector<std::size_t>& shown() const noexcept { return shown_; }

  std::string text(const terminal_style& as) const {
    std::string result;
    for (std::size_t row = 0; row < lines_.size(); ++row) {
      std::string joined;
      auto cells = lines_[row];
      for (const auto i : shown_) {
        if (columns_[i].differs) {
          cut_around_difference(cells[i - 1], cells[i], widths_[i - 1], widths_[i]);
        }
      }
      for (const auto i : shown_) {
        auto& cell = cells[i];
        if (text_width(cell) > widths_[i]) cell = table_name(cell, widths_[i]);
        if (row == 0) cell = colored(cell, color::heading, as);
        pad(cell, columns_[i].align, widths_[i]);
        joined += (i == shown_.front() ? "" : "  ") + cell;
      }
      joined.erase(joined.find_last_not_of(' ') + 1);
      result += joined + '\n';
    }
    if (left_out_.empty()) return result;
    return result + paragraph("too narrow to show: " + left_out_, 2, as, color::faint);
  }

 private:
  std::size_t width() const {
    std::size_t width = 2 * (shown_.size() - 1);
    for (const auto i : shown_) width += widths_[i];
    return width;
  }

  /// Returns the minimum width of a column. Names may be cut, but not the heading.
  std::size_t least_of(std::size_t i) const {
    if (columns_[i].least == 0) return widths_[i];
    return std::max(columns_[i].least, text_width(lines_.front()[i]));
  }

  bool cut_names(std::size_t room) {
    std::vector<std::size_t> least;
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      least.push_back(least_of(i));
      // No name needs to be wider than the terminal.
      widths_[i] = std::min(widths_[i], std::max(least[i], room));
    }
    while (width() > room) {
      const auto spare = [&](std::size_t i) { return widths_[i] - std::min(widths_[i], least[i]); };
      const auto widest =
          *std::max_element(shown_.begin(), shown_.end(), [&](std::size_t a, std::size_t b) {
            return std::pair(spare(a) > 0, widths_[a]) < std::pair(spare(b) > 0, widths_[b]);
          });
      if (spare(widest) == 0) return false;
      --widths_[widest];
    }
    return true;
  }

  /// Returns the heading of a column. If columns share a heading, the text becomes "change % of
  /// p95", where p95 is the nearest unique heading on the left.
  std::string title_of(std::size_t column) const {
    const auto& headings = lines_.front();
    const auto is_unique = [&](std::size_t i) {
      return std::ranges::count(headings, headings[i]) == 1;
    };
    if (is_unique(column)) return headings[column];
    std::size_t owner = column;
    while (owner > 0 && !is_unique(owner)) --owner;
    return fmt::format("{} of {}", headings[column], headings[owner]);
  }

  /// Omits the column with the greatest `expendable`; of several, the last. The first column stays.
  /// Returns false if the greatest value is below `least_expendable`.
  bool leave_one_out(int least_expendable) {
    if (shown_.size() < 2) return false;
    const auto found =
        std::max_element(shown_.begin() + 1, shown_.end(), [this](std::size_t a, std::size_t b) {
          return std::pair(columns_[a].expendable, a) < std::pair(columns_[b].expendable, b);
        });
    const auto& column = columns_[*found];
    if (column.expendable < least_expendable) return false;
    if (column.expendable < extra_column) {
      left_out_ += (left_out_.empty() ? "" : ", ") + title_of(*found);
    }
    shown_.erase(found);
    return true;
  }

  static constexpr int extra_column = 10;  ///< omitted before names are cut, and without a note

  const std::vector<text_table::column>& columns_;
  std::vector<std::vector<std::string>> lines_;
  std::vector<std::size_t> shown_;
  std::vector<std::size_t> widths_;
  std::string left_out_;
};

/// Returns "…b.0/attn/MatMul+2" for "/b.0/attn/MatMul+/b.0/attn/Add+/b.0/Add". PyTorch's layer
/// names differ at the end.
std::string end_of_path(std::string_view first, std::size_t others, std::size_t width) {
  const auto count = others > 0 ? fmt::format("+{}", others) : "";
  if (text_width(first) + count.size() <= width) return std::string(first) + count;
  std::size_t from = 0;
  while (from < first.size() && text_width(first.substr(from)) + count.size() + 1 > width) {
    from += utf8_at(first, from).bytes;
  }
  return fmt::format("…{}{}", first.substr(from), count);
}

}  // namespace

std::size_t text_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (const auto escape = escape_at(text.substr(at)); escape > 0) {
      at += escape;
      continue;
    }
    const auto character = utf8_at(text, at);
    width += character.code ? display_width(*character.code) : 1;
    at += character.bytes;
  }
  return width;
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string result;
  std::size_t used = 0;
  bool at_start = true;
  while (true) {
    const auto end = std::min(text.find(' '), text.size());
    const auto word = text.substr(0, end);
    const auto taken = text_width(word);
    if (!at_start && used + 1 + taken > width) {
      result.erase(result.find_last_not_of(' ') + 1);
      result += '\n' + std::string(indent, ' ');
      used = indent;
    } else if (!at_start) {
      result += ' ';
      ++used;
    }
    result += word;
    used += taken;
    at_start = false;
    if (end == text.size()) return result;
    text.remove_prefix(end + 1);
  }
}

std::string paragraph(std::string_view text, std::size_t indent, const terminal_style& as,
                      color in) {
  constexpr std::size_t readable = 100;
  return colored(wrapped(text, indent, std::min(as.width, readable)), in, as) + '\n';
}

std::string table_name(std::string_view name, std::size_t width) {
  const auto shown = printable(name);
  auto total = text_width(shown);
  if (total <= width) return shown;
  constexpr std::size_t longest_path = 1000;
  constexpr std::size_t least_end = 8;
  const auto first = std::string_view(shown).substr(0, shown.find("+/"));
  if (first.starts_with('/') && first.size() <= longest_path && width >= least_end) {
    std::size_t others = 0;
    for (auto at = shown.find("+/"); at != shown.npos; at = shown.find("+/", at + 1)) ++others;
    return end_of_path(first, others, width);
  }
  std::vector<std::size_t> starts;
  for (std::size_t at = 0; at < shown.size(); at += utf8_at(shown, at).bytes) starts.push_back(at);
  starts.push_back(shown.size());
  const auto width_of = [&](std::size_t i) {
    return text_width(std::string_view(shown).substr(starts[i], starts[i + 1] - starts[i]));
  };
  // Removes characters from the middle until the rest and the mark fit.
  constexpr std::string_view mark = "…";
  total += text_width(mark);
  const std::size_t characters = starts.size() - 1;
  std::size_t head = characters / 2;
  std::size_t tail = head;
  while (total > width && (head > 0 || tail < characters)) {
    total -= head > characters - tail ? width_of(--head) : width_of(tail++);
  }
  return shown.substr(0, starts[head]).append(mark).append(shown, starts[tail]);
}

text_table::laid_out text_table::lay_out(const terminal_style& as) const {
  std::vector<std::vector<std::string>> lines(1);
  for (const auto& c : columns_) lines.front().push_back(c.heading);
  lines.insert(lines.end(), rows_.begin(), rows_.end());
  table_layout made(columns_, std::move(lines));
  made.fit(as.width);
  return {made.text(as), made.shown()};
}

}  // namespace graphline
