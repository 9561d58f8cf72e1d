#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>

#include "framework/analysis/experiment/experiment_summary.hpp"
#include "framework/base/quantity.hpp"
#include "framework/record/experiment_record.hpp"
#include "framework/report/json/json_text.hpp"
#include "framework/report/terminal/experiment_rows.hpp"

namespace graphline {

/// What the parts of `experiment_data` are made from. Refers to all of it.
struct experiment_source {
  const experiment_record& record;
  const experiment_summary& summary;
  const experiment_rows& rows;
  time_unit unit;  ///< of the end-to-end times

  const member_summary& of(const configuration_member& who) const {
    return summary.configurations[who.configuration].members[who.member];
  }
  /// The place in "members".
  std::size_t place_of(const configuration_member& who) const;
};

/// By pair, then figure: {"pair": [who, reference], "figure", "value", "reference", "difference",
/// "difference_range", "ratio", "ratio_range", "verdict", "more", "cells": {"value", "reference",
/// "change", "interval", "difference", "difference_interval"}}.
nlohmann::ordered_json comparison_data(const experiment_source& from);

/// For each pipeline whose stages are timed {"pipeline", "where": [who...], "stages": [{"name",
/// "unit" or null, "cells": by where, "p50": by where}...], "changes": [{"who", "reference",
/// "stage", "difference", "ratio", "ratio_range", "verdict", "cells"}...]}.
nlohmann::ordered_json stage_data(const experiment_source& from);

/// Null where nothing is swept, else {"key", "title", "of_stages" (not end to end), "unit",
/// "points": [{"value", "text", "intensity", "time", "least", "bound", "ratio"}...], "headings",
/// "rows", "notes"}.
nlohmann::ordered_json sweep_data(const experiment_source& from);

/// {"who": [...], "block": [...], "begun": [...], "p50": [...]}: every pipeline of all
/// trials that have frames, in the order they ran. Blocks count from 0.
nlohmann::ordered_json trial_data(const experiment_source& from);

/// Cumulative distributions of the end-to-end time: all counted frames in at most `most_steps`
/// points, each "so many frames took at most so long", and percentiles as [name, cell].
nlohmann::ordered_json distribution_data(const experiment_source& from);
inline constexpr std::size_t most_steps = 300;

}  // namespace graphline
