#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/analysis/diff/saved_result.hpp"
#include "framework/report/json/json_part.hpp"

namespace graphline {

// What result files of several kinds have in common, read back. Everything throws an `input_error`
// that names the key.

/// Every plain value of an object and of those in it, as names and texts; names within `params` are
/// "params.NAME". Lists are texts as they stand.
saved_facts facts_of(const json_part& object);

/// `subject_key`: "pipeline" or "experiment"; left out where the caller knows the subject. Device
/// and environment may be missing: an experiment that ended before its first trial does not know
/// them.
saved_origin origin_of(const json_part& result, std::string_view subject_key = {});

/// A file that the user wrote.
source_record source_of(const json_part& from);

/// The one under "source", which results of earlier versions do not have, and no result of a
/// pipeline made in C++.
std::vector<source_record> sources_of_run(const std::optional<json_part>& record);

/// A duration that stands in milliseconds, in nanoseconds.
nanoseconds time_of(const json_part& milliseconds);

/// The times of a distribution that `distribution_json` wrote; nothing where there are none.
std::optional<distribution> times_of(const json_part& from);

}  // namespace graphline
