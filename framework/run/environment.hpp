#pragma once

#include <string>
#include <utility>
#include <vector>

namespace graphline {

/// What a reader of a result must know of the machine and the program, as name and value: version,
/// date (UTC), operating system, processor, cores, compiler, library versions.
std::vector<std::pair<std::string, std::string>> describe_environment();

}  // namespace graphline
