#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "framework/plan/experiment_plan.hpp"
#include "framework/record/experiment_record.hpp"
#include "framework/report/json/json_part.hpp"

namespace graphline {

/// The first line of a trial store: what the experiment is, down to the settings
/// of every pipeline that runs in it.
std::string store_header(const experiment_plan& planned);

/// Whether trials made under one header may go on under another: an empty text, or why not and what
/// to do, for the end of a message. Settings that only decide how long an experiment goes on and
/// how it is judged may differ.
std::string why_not_resumed(const json_part& stored, const json_part& now);

/// What a trial store holds, without its trials being read.
struct store_outline {
  nlohmann::ordered_json header;
  std::size_t trials = 0;
  bool ended = false;  ///< says that the experiment ended
};

/// Whether a file begins as every trial store does, of whatever version.
bool is_trial_store(const std::string& path);

/// Throws an `input_error` when the store is of another version or its first line is damaged.
store_outline outline_of(const std::string& path);

/// The trials of a store, and where the next one goes.
struct stored_trials {
  std::vector<trial_record> trials;
  std::uint64_t bytes = 0;  ///< up to the end of the last trial
  bool ended = false;       ///< a line after them says that the experiment ended
  bool followed = false;    ///< by that line, or by one that was not written to its end
};

/// Reads every trial. `members`: how many pipelines each configuration has. A last line that is not
/// whole is passed over. Throws an `input_error` that names the line that is damaged.
stored_trials read_trials(const std::string& path, const std::vector<std::size_t>& members);

}  // namespace graphline
