#pragma once

#include <string>
#include <string_view>

#include "framework/plan/experiment_plan.hpp"
#include "framework/report/json/json_part.hpp"

namespace graphline {

/// What the first line of every trial store begins with, of whatever version: by this it is known.
inline constexpr std::string_view store_beginning = R"({"schema":"graphline.trials/)";

/// The schema of the stores that this program writes and reads.
inline constexpr std::string_view store_schema = "graphline.trials/1";

/// The first line of a trial store, without its end: what the experiment is, down to the settings
/// of every pipeline that runs in it.
std::string store_header(const experiment_plan& planned);

/// Whether trials made under one header may go on under another: an empty text, or why not and what
/// to do, for the end of a message. Settings that only decide how long an experiment goes on and
/// how it is judged may differ.
std::string why_not_resumed(const json_part& stored, const json_part& now);

/// Trials asked for, of all configurations, and when the first was begun ("2026-11-21T08:00:00Z").
std::int64_t planned_trials(const json_part& header);
std::string begun_on(const json_part& header);

}  // namespace graphline
