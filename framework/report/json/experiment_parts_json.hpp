#pragma once

#include <cstddef>
#include <vector>

#include "framework/record/experiment_record.hpp"
#include "framework/report/json/compact_json.hpp"
#include "framework/report/json/json_part.hpp"

namespace graphline {

// What trial stores and saved experiments both say of an experiment, and the way back, which throws
// an `input_error` that names what is missing or of the wrong kind.

void write_how(compact_json& to, const experiment_settings& how);
experiment_settings how_from(const json_part& from);

void write_pairs(compact_json& to, const std::vector<compared_pair>& pairs);
std::vector<compared_pair> pairs_from(const json_part& from);

/// Of a saved experiment: a name, assignments and members.
experiment_configuration configuration_from(const json_part& from);

/// A trial of one of so many configurations. `members`: how many pipelines each of them has.
trial_record trial_of(const std::vector<std::size_t>& members, const json_part& from);

}  // namespace graphline
