#pragma once

#include <cstdint>
#include <string>

#include "framework/record/overhead_record.hpp"
#include "framework/report/json/json_beginning.hpp"

namespace graphline {

/// The result file `graphline.overhead/1`: per timing method what it reports and costs, and every
/// trial's end-to-end samples, from which the rest can be computed again.
/// Starts with `json_beginning`.
std::string overhead_json(const overhead_record& record);

/// About how large the result of so many trials of each method becomes, for reserving it on the
/// disk.
std::uint64_t expected_overhead_json_bytes(std::int64_t trials, std::int64_t frames);

}  // namespace graphline
