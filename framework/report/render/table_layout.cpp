#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "framework/report/render/text_table.hpp"

namespace graphline {

namespace {

using rows = std::vector<std::vector<std::string>>;
constexpr std::size_t gap = 2;

bool has_digit(std::string_view cell) {
  return std::any_of(cell.begin(), cell.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Columns from the decimal point on; 0 without one.
std::size_t width_of_decimals(std::string_view cell) {
  const auto point = cell.find('.');
  return point == std::string_view::npos ? 0 : cell.size() - point;
}

/// Pads the numbers of a column so that, set to the right, their points stand under each other.
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

std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

/// A table on its way to a width: which columns it still has, and how wide they are.
class layout {
 public:
  /// `lines`: the heading, then the rows.
  layout(const std::vector<text_table::column>& columns, rows lines)
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

  std::size_t width() const { return width_of(shown_); }

  /// Leaves columns out and cuts names, the longest first, as far as it takes.
  void fit(std::size_t room) {
    while (width() > room && leave_one_out(true)) continue;
    const auto whole = widths_;
    while (!cut_names(room) && leave_one_out(false)) widths_ = whole;  // names have the more room
    cut_labels(room);
  }

  std::string text(const terminal_style& as) const {
    std::string result;
    const auto labels = label_count();
    for (std::size_t next = labels; next < shown_.size() || result.empty();) {
      std::vector<std::size_t> part(shown_.begin(),
                                    shown_.begin() + static_cast<std::ptrdiff_t>(labels));
      const auto first = next;
      while (next < shown_.size()) {
        part.push_back(shown_[next]);
        if (next > first && width_of(part) > as.width) {
          part.pop_back();
          break;
        }
        ++next;
      }
      result += (result.empty() ? "" : "\n") + lines_of(part, as);
    }
    return result + left_out(as);
  }

 private:
  std::size_t width_of(const std::vector<std::size_t>& shown) const {
    std::size_t width = gap * (shown.size() - std::min<std::size_t>(1, shown.size()));
    for (const auto i : shown) width += widths_[i];
    return width;
  }

  /// Columns that name a row: those of names that come first, at least one.
  std::size_t label_count() const {
    std::size_t count = 1;
    while (count < shown_.size() && columns_[shown_[count]].least > 0 &&
           columns_[shown_[count - 1]].least > 0) {
      ++count;
    }
    return std::min(count, shown_.size());
  }

  /// What a column of names can do with: its heading stands whole.
  std::size_t least_of(std::size_t i) const {
    if (columns_[i].least == 0) return widths_[i];
    return std::max(columns_[i].least, text_width(lines_.front()[i]));
  }

  bool cut_names(std::size_t room) {
    while (width() > room) {
      const auto spare = [this](std::size_t i) { return widths_[i] > least_of(i); };
      auto widest = shown_.end();
      for (auto i = shown_.begin(); i != shown_.end(); ++i) {
        if (spare(*i) && (widest == shown_.end() || widths_[*i] > widths_[*widest])) widest = i;
      }
      if (widest == shown_.end()) return false;
      --widths_[*widest];
    }
    return true;
  }

  /// So that the names of a row and one more column fit, cuts even the headings of names.
  void cut_labels(std::size_t room) {
    constexpr std::size_t least = 4;
    const std::vector<std::size_t> labels(
        shown_.begin(), shown_.begin() + static_cast<std::ptrdiff_t>(label_count()));
    std::size_t beside = 0;
    for (std::size_t i = labels.size(); i < shown_.size(); ++i) {
      beside = std::max(beside, gap + widths_[shown_[i]]);
    }
    while (width_of(labels) + beside > room) {
      const auto widest = *std::max_element(
          labels.begin(), labels.end(),
          [this](std::size_t a, std::size_t b) { return widths_[a] < widths_[b]; });
      if (columns_[widest].least == 0 || widths_[widest] <= least) return;
      --widths_[widest];
    }
  }

  /// The most expendable column, an extra one or one of the others; false where there is none.
  bool leave_one_out(bool extra) {
    auto found = shown_.end();
    for (auto i = shown_.begin(); i != shown_.end(); ++i) {
      const auto& column = columns_[*i];
      if (column.expendable == 0 || column.extra != extra) continue;
      if (found == shown_.end() || column.expendable > columns_[*found].expendable) found = i;
    }
    if (found == shown_.end()) return false;
    if (!extra) left_out_.push_back(*found);
    shown_.erase(found);
    return true;
  }

  std::string lines_of(const std::vector<std::size_t>& part, const terminal_style& as) const {
    std::string result;
    for (std::size_t row = 0; row < lines_.size(); ++row) {
      std::string joined;
      for (const auto i : part) {
        auto cell = lines_[row][i];
        if (text_width(cell) > widths_[i]) cell = table_name(cell, widths_[i]);
        pad(cell, columns_[i].align, widths_[i]);
        if (i != part.front()) joined += "  ";
        joined += row == 0 ? colored(cell, color::heading, as) : cell;
      }
      result += trimmed(std::move(joined)) + '\n';
    }
    return result;
  }

  std::string left_out(const terminal_style& as) const {
    std::string names;
    auto in_order = left_out_;
    std::sort(in_order.begin(), in_order.end());
    for (const auto i : in_order) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", lines_.front()[i]);
    }
    if (names.empty()) return names;
    return paragraph("too narrow to show: " + names, 2, as, color::faint);
  }

  const std::vector<text_table::column>& columns_;
  rows lines_;
  std::vector<std::size_t> shown_;
  std::vector<std::size_t> left_out_;  ///< and to be named
  std::vector<std::size_t> widths_;
};

rows with_heading(const std::vector<text_table::column>& columns, const rows& body) {
  rows lines(1);
  for (const auto& c : columns) lines.front().push_back(c.heading);
  lines.insert(lines.end(), body.begin(), body.end());
  return lines;
}

}  // namespace

std::string text_table::text(const terminal_style& as) const {
  layout made(columns_, with_heading(columns_, rows_));
  made.fit(as.width);
  return made.text(as);
}

}  // namespace graphline
