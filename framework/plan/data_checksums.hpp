#pragma once

#include <string>
#include <utility>
#include <vector>

#include "framework/plan/experiment_plan.hpp"

namespace graphline {

/// The `data_files` of an experiment, each with a checksum: of a file's bytes, of the names and
/// sizes of what is in a folder. "not there" where it cannot be read.
std::vector<std::pair<std::string, std::string>> data_checksums(const experiment_plan& planned);

}  // namespace graphline
