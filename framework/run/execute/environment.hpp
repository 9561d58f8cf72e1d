#pragma once

#include <string>
#include <utility>
#include <vector>

namespace graphline {

/// What a reader of a result must know of the machine and the program, as name and value: version,
/// build and commit, date (UTC), host name, operating system, processor with its clock where that
/// is fixed and its governor where it is not, cores, compiler, library versions. What is not known
/// is left out.
std::vector<std::pair<std::string, std::string>> describe_environment();

}  // namespace graphline
