#pragma once

#include <string>
#include <utility>
#include <vector>

#include "framework/plan/experiment_plan.hpp"

namespace graphline {

/// What stages of an experiment take from files besides its text: plug-ins, and the files and
/// folders that parameters name, each once, with a checksum: of a file's bytes, of the names and
/// sizes of what is in a folder. "not there" where it cannot be read.
std::vector<std::pair<std::string, std::string>> data_checksums(const experiment_plan& planned);

}  // namespace graphline
