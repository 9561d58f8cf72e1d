#include <fmt/format.h>

#include <algorithm>

#include "framework/analysis/experiment/comparison_text.hpp"
#include "framework/base/quantity.hpp"
#include "framework/base/utf8.hpp"
#include "framework/report/terminal/experiment_cells.hpp"
#include "framework/report/terminal/experiment_parts.hpp"
#include "framework/report/terminal/heading.hpp"
#include "framework/report/terminal/shape.hpp"

namespace graphline {

namespace {

using column = text_table::column;
using enum text_table::align;

std::optional<double> as_double(const std::optional<nanoseconds>& ns) {
  return ns ? std::optional(static_cast<double>(*ns)) : std::nullopt;
}

/// Intervals in percent under each other: "-19.4 to -18.1".
class interval_column {
 public:
  explicit interval_column(const experiment_summary& summary)
      : decimals_(change_decimals(summary)) {
    for (const auto& found : summary.comparisons) {
      if (found.figure != figure::p50 || !found.ratio_range) continue;
      low_ = std::max(low_, percent(found.ratio_range->low).size());
      high_ = std::max(high_, percent(found.ratio_range->high).size());
    }
  }

  std::string percent(double ratio) const { return percent_change(ratio, decimals_); }

  std::string cell(const comparison& found) const {
    if (!found.ratio_range) return "-";
    return fmt::format("{:>{}} to {:>{}}", percent(found.ratio_range->low), low_,
                       percent(found.ratio_range->high), high_);
  }

 private:
  int decimals_;
  std::size_t low_ = 0;
  std::size_t high_ = 0;
};

class verdict_report {
 public:
  verdict_report(const experiment_record& record, const experiment_summary& summary,
                 const experiment_rows& rows, const look& as)
      : summary_(summary), rows_(rows), as_(as), intervals_(summary) {
    double most = 0;
    for (const auto& who : rows.members()) most = std::max(most, p50(who).value_or(0));
    unit_ = unit_for(most);
    tail_ = percentile_name(record.how.tail);
    for (const auto& found : summary.comparisons) {
      to_decide_ = to_decide_ || (found.figure == figure::p50 && more_to_decide(&found));
    }
  }

  /// Where nothing is compared: the figures alone.
  std::string figures() const {
    auto columns = rows_.name_columns();
    columns.push_back({fmt::format("p50 {}", unit_.name)});
    columns.push_back({fmt::format("{} {}", tail_, unit_.name)});
    columns.push_back({"frame/s"});
    text_table table(std::move(columns));
    for (const auto& who : rows_.members()) {
      auto cells = rows_.name_cells(who);
      cells.push_back(in_unit(p50(who), unit_));
      cells.push_back(in_unit(tail(who), unit_));
      cells.push_back(throughput(who));
      table.add_row(std::move(cells));
    }
    return with_title("end to end", std::move(table));
  }

  verdict_part answer() const {
    const bool many = rows_.labels().many();
    const bool in_words = to_decide_ && (many || answer_table(true).width() > as_.width);
    auto table = answer_table(to_decide_ && !in_words);
    const bool shapes = table.has_extra(as_);
    return {with_title(many ? "end to end" : "end to end, the median frame", std::move(table)) +
                (in_words ? trials_to_decide() : ""),
            shapes};
  }

  /// Side by side where there is room for both.
  std::string tail_and_throughput() const {
    if (rows_.labels().many()) return "";  // they stand beside the p50
    auto both = other_figures(true, true);
    if (both.width() <= as_.width) return with_title("slow frames, and throughput", both);
    return with_title("slow frames", other_figures(true, false)) +
           with_title("throughput", other_figures(false, true));
  }

 private:
  /// After an empty line; nothing of a table that has nothing but names.
  std::string with_title(std::string_view text, text_table table) const {
    table.drop_empty_columns();
    if (table.column_count() <= rows_.name_columns().size()) return "";
    return "\n" + toned(text, tone::heading, as_) + "\n" + table.text(as_);
  }

  text_table answer_table(bool to_decide) const {
    const bool many = rows_.labels().many();
    auto columns = rows_.name_columns();
    for (const auto& c : {column{fmt::format("p50 {}", unit_.name)}, column{"change"},
                          column{"95 % interval", left}, column{"verdict", left}}) {
      columns.push_back(c);
    }
    if (many) {
      columns.push_back({fmt::format("{} {}", tail_, unit_.name)});
      columns.push_back({"verdict", left});
      columns.push_back({"frame/s"});
      columns.push_back({"verdict", left, 0, 1, true});
    }
    if (to_decide) columns.push_back({"more"});
    const auto shapes = many ? std::vector<std::string>() : shapes_of_rows();
    if (!shapes.empty()) columns.push_back({"shape", left, 0, 1, true});
    text_table table(std::move(columns));
    std::size_t row_number = 0;
    fill(table, [&](std::vector<std::string>& cells, const experiment_row& row) {
      cells.push_back(in_unit(p50(row.who), unit_));
      const auto* found = comparison_of(row, figure::p50);
      const bool baseline = row.pair == nullptr && rows_.is_baseline(row.who);
      cells.push_back(baseline ? "baseline" : change(row, found));
      cells.push_back(found == nullptr ? "" : intervals_.cell(*found));
      cells.push_back(verdict_cell(found));
      if (many) {
        cells.push_back(in_unit(tail(row.who), unit_));
        cells.push_back(verdict_cell(comparison_of(row, figure::tail)));
        cells.push_back(throughput(row.who));
        cells.push_back(verdict_cell(comparison_of(row, figure::throughput)));
      }
      if (to_decide) {
        const auto more = more_to_decide(found);
        cells.push_back(more ? fmt::format("+{}", *more) : "");
      }
      if (!shapes.empty()) cells.push_back(shapes[row_number++]);
    });
    return table;
  }

  /// Histograms of the end-to-end times, all on one scale, by row; empty with too few frames.
  std::vector<std::string> shapes_of_rows() const {
    std::vector<const distribution*> samples;
    for (const auto& group : rows_.groups()) {
      for (const auto& row : group) {
        const auto& times = of(row.who).end_to_end;
        samples.push_back(times ? &*times : nullptr);
      }
    }
    return shapes_of(samples, scale::shared, as_);
  }

  /// The last column of the answer, in words.
  std::string trials_to_decide() const {
    std::vector<std::string> items;
    for (const auto& group : rows_.groups()) {
      for (const auto& row : group) {
        const auto more = more_to_decide(comparison_of(row, figure::p50));
        if (!more) continue;
        const auto& labels = rows_.labels();
        items.push_back(fmt::format("+{} trials for {} against {}", *more,
                                    printable(labels.of(row.who)),
                                    printable(labels.of(row.pair->reference))));
      }
    }
    return paragraph("more: " + listed(items), 2, as_);
  }

  const member_summary& of(const configuration_member& who) const {
    return summary_.configurations[who.configuration].members[who.member];
  }

  std::optional<double> p50(const configuration_member& who) const {
    const auto& times = of(who).end_to_end;
    return times ? as_double(times->percentile(0.5)) : std::nullopt;
  }
  std::optional<double> tail(const configuration_member& who) const {
    return as_double(of(who).tail);
  }
  std::string throughput(const configuration_member& who) const {
    const auto value = of(who).throughput;
    return value ? three_digits(*value, 3) : "-";
  }

  const comparison* comparison_of(const experiment_row& row, figure what) const {
    return row.pair == nullptr ? nullptr : find_comparison(summary_, *row.pair, what);
  }

  std::string change(const experiment_row& row, const comparison* found) const {
    if (found != nullptr) return intervals_.percent(found->ratio) + " %";
    return row.pair == nullptr ? "" : "-";
  }

  std::string verdict_cell(const comparison* found) const {
    if (found == nullptr) return "";
    return found->ratio_range ? verdict_word(found->verdict, as_) : "-";
  }

  text_table other_figures(bool with_tail, bool with_throughput) const {
    auto columns = rows_.name_columns();
    const auto add_columns = [&](std::string figure) {
      columns.push_back({std::move(figure)});
      columns.push_back({"change"});
      columns.push_back({"verdict", left});
    };
    if (with_tail) add_columns(fmt::format("{} {}", tail_, unit_.name));
    if (with_throughput) add_columns("frame/s");
    text_table table(std::move(columns));
    fill(table, [&](std::vector<std::string>& cells, const experiment_row& row) {
      const auto add = [&](std::string value, figure what) {
        const auto* found = comparison_of(row, what);
        cells.push_back(std::move(value));
        cells.push_back(change(row, found));
        cells.push_back(verdict_cell(found));
      };
      if (with_tail) add(in_unit(tail(row.who), unit_), figure::tail);
      if (with_throughput) add(throughput(row.who), figure::throughput);
    });
    return table;
  }

  template <class Function>
  void fill(text_table& table, Function add_cells) const {
    bool first = true;
    for (const auto& group : rows_.groups()) {
      if (!first) table.add_row(std::vector<std::string>(table.column_count()));
      first = false;
      for (const auto& row : group) {
        auto cells = rows_.name_cells(row.who);
        add_cells(cells, row);
        table.add_row(std::move(cells));
      }
    }
  }

  const experiment_summary& summary_;
  const experiment_rows& rows_;
  const look& as_;
  interval_column intervals_;
  time_unit unit_;
  std::string tail_;
  bool to_decide_ = false;
};

}  // namespace

int change_decimals(const experiment_summary& summary) {
  int decimals = 1;
  for (const auto& found : summary.comparisons) {
    if (found.figure != figure::p50 || !found.ratio_range) continue;
    // An interval of 0.04 to 0.06 % would read "0.0 to 0.1".
    if (found.ratio_range->high - found.ratio_range->low < 0.002) decimals = 2;
  }
  return decimals;
}

std::optional<std::int64_t> more_to_decide(const comparison* found) {
  if (found == nullptr || !found->ratio_range || !found->more_trials) return std::nullopt;
  std::int64_t step = 1;
  while (*found->more_trials >= 100 * step) step *= 10;
  return (*found->more_trials + step / 2) / step * step;
}

verdict_part verdict_tables(const experiment_record& record, const experiment_summary& summary,
                            const experiment_rows& rows, const look& as) {
  const verdict_report report(record, summary, rows, as);
  if (summary.comparisons.empty()) return {report.figures(), false};
  auto part = report.answer();
  part.text += report.tail_and_throughput();
  return part;
}

}  // namespace graphline
