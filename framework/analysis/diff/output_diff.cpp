#include "framework/analysis/diff/output_diff.hpp"

#include <algorithm>
#include <cmath>

namespace graphline {

namespace {

const output_record* output_named(const std::vector<output_record>& outputs,
                                  const std::string& tensor) {
  const auto found = std::ranges::find(outputs, tensor, &output_record::tensor);
  return found == outputs.end() ? nullptr : &*found;
}

/// Compares the saved values of two outputs of the same type.
void add_distance(output_change& to, const output_record& before, const output_record& after) {
  if (before.values.size() != after.values.size()) return;
  double largest_value = 0;
  for (std::size_t i = 0; i < before.values.size(); ++i) {
    const double a = before.values[i];
    const double b = after.values[i];
    if (!std::isfinite(a) || !std::isfinite(b)) continue;
    ++to.compared;
    to.largest = std::max(to.largest.value_or(0), std::abs(b - a));
    largest_value = std::max({largest_value, std::abs(a), std::abs(b)});
  }
  if (to.largest && largest_value > 0) to.relative = *to.largest / largest_value;
}

output_change compare(const output_record& before, const output_record& after) {
  output_change result{.tensor = before.tensor,
                       .finite_before = before.finite,
                       .finite_after = after.finite,
                       .rows_before = before.rows,
                       .rows_after = after.rows};
  if (before.type != after.type) {
    result.found = output_fate::other_type;
  } else if (before.rows != after.rows) {
    result.found = output_fate::other_rows;
  } else if (before.rows != 0 && before.checksum != after.checksum) {
    result.found = output_fate::differs;
    add_distance(result, before, after);
  }
  return result;
}

}  // namespace

std::vector<output_change> compare(const std::vector<output_record>& before,
                                   const std::vector<output_record>& after) {
  std::vector<output_change> result;
  for (const auto& output : before) {
    const auto* other = output_named(after, output.tensor);
    result.push_back(other ? compare(output, *other)
                           : output_change{output.tensor, output_fate::only_before});
  }
  for (const auto& output : after) {
    if (output_named(before, output.tensor)) continue;
    result.push_back({output.tensor, output_fate::only_after});
  }
  return result;
}

}  // namespace graphline
