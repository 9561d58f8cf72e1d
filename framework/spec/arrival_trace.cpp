#include "framework/spec/arrival_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "framework/base/text_file.hpp"
#include "framework/base/utf8.hpp"

namespace graphline {
namespace {

constexpr std::size_t largest = std::size_t{64} << 20;
constexpr double longest = 0x1p53;  // ns, as in records
constexpr std::pair<std::string_view, double> units[] = {
    {"due_ns", 1}, {"due_us", 1e3}, {"due_ms", 1e6}, {"due_s", 1e9}};

std::string_view trimmed(std::string_view line) {
  constexpr std::string_view blanks = " \t\r";
  const auto first = line.find_first_not_of(blanks);
  return first == line.npos ? "" : line.substr(first, line.find_last_not_of(blanks) - first + 1);
}

/// Reads the lines of a trace one after another.
class trace_reader {
 public:
  /// Returns the problem of a line, with its remedy; empty if it is fine.
  std::string take(std::string_view line) {
    if (line.empty()) return "";
    if (!std::exchange(begun_, true)) {
      for (const auto& [name, ns] : units) {
        if (line != name) continue;
        unit_ = ns;
        return "";
      }
    }
    double value = 0;
    const auto [end, problem] = std::from_chars(line.data(), line.data() + line.size(), value);
    if (end != line.data() + line.size() || problem == std::errc::invalid_argument) {
      return "this is not a number; write one time on each line, and only the first line may be "
             "due_ns, due_us, due_ms or due_s";
    }
    const double ns = value * unit_;
    if (problem != std::errc() || !(std::abs(ns) <= longest)) {
      return fmt::format("{} is too long or not finite; times must be at most 104 days", line);
    }
    if (ns < 0) return fmt::format("{} is negative; count times from the start of the load", line);
    const auto due = static_cast<nanoseconds>(std::llround(ns));
    if (!due_.empty() && due < due_.back()) {
      return fmt::format("{} is earlier than the time before it; sort the times", line);
    }
    due_.push_back(due);
    return "";
  }

  std::vector<nanoseconds> times() && { return std::move(due_); }

 private:
  bool begun_ = false;
  double unit_ = 1e9;
  std::vector<nanoseconds> due_;
};

}  // namespace

arrival_trace trace_of(std::vector<nanoseconds> due) {
  const auto later = due.end() - std::ranges::upper_bound(due, due.front());
  const auto span = static_cast<double>(due.back() - due.front());
  return {std::move(due), later == 0 ? 0 : span / static_cast<double>(later)};
}

std::shared_ptr<const arrival_trace> read_arrival_trace(const std::string& path, const place& where,
                                                        diagnostics& out) {
  std::shared_ptr<const source_text> source;
  try {
    source = read_text_file(path, largest);
  } catch (const unreadable_file& problem) {
    out.error(where, fmt::format("arrival file {} cannot be read: {}", quote(path, 200),
                                 problem.reason()));
    return nullptr;
  }
  trace_reader trace;
  std::size_t number = 0;
  for (std::string_view left = source->text(); !left.empty();) {
    const auto length = std::min(left.find('\n'), left.size());
    ++number;
    if (const auto problem = trace.take(trimmed(left.substr(0, length))); !problem.empty()) {
      out.error(where,
                fmt::format("arrival file {}, line {}: {}", quote(path, 200), number, problem));
      return nullptr;
    }
    left.remove_prefix(std::min(length + 1, left.size()));
  }
  auto due = std::move(trace).times();
  if (due.empty()) {
    out.error(where, fmt::format("arrival file {} has no times; write one on each line",
                                 quote(path, 200)));
    return nullptr;
  }
  return std::make_shared<const arrival_trace>(trace_of(std::move(due)));
}

}  // namespace graphline
