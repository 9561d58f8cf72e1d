#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "framework/plan/experiment_plan.hpp"
#include "framework/plan/plan.hpp"

namespace graphline {

/// What stages of a plan take from files besides its text: the plug-ins that they are from, and the
/// files and folders that their parameters name.
std::set<std::string> data_files(const plan& p);

/// The same of all plans of an experiment.
std::set<std::string> data_files(const experiment_plan& planned);

/// The `data_files` of an experiment, each with a checksum: of a file's bytes, of the names and
/// sizes of what is in a folder. "not there" where it cannot be read.
std::vector<std::pair<std::string, std::string>> data_checksums(const experiment_plan& planned);

}  // namespace graphline
