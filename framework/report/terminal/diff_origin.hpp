#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "framework/analysis/diff/result_diff.hpp"
#include "framework/report/terminal/look.hpp"

namespace graphline {

// What the tables of two results have in common.

/// Where subjects differ, a line that says so, for `noun` "pipelines" or "experiments"; else empty.
std::string subjects_line(const origin_diff& origin, std::string_view noun, const look& as = {});

/// "two_models on host: ", as far as that is the same in both.
std::string subject_prefix(const origin_diff& origin);

/// Two lines: which files they are and from when; more where the first is the newer one, or where
/// the machine was disturbed.
std::string file_lines(const origin_diff& origin, const look& as = {});

/// After an empty line, which of the two did not come to its end, and why; empty where both did.
std::string ending_lines(const origin_diff& origin, const before_after<bool>& interrupted,
                         const before_after<std::optional<std::string>>& failure,
                         const look& as = {});

/// A table of what is not the same in settings, device and environment, then what is not in the
/// files that the results were made from, a line for each key; or a line that all is the same.
std::string differences_table(const origin_diff& origin, const look& as = {});

/// "74.1 ms before, 60.2 ms after, -18.8 %", of durations in nanoseconds.
std::string durations_in_words(const figure_change& change);

/// The change in percent with its sign; "-" where there is none.
std::string percent_cell(const figure_change& change);

}  // namespace graphline
