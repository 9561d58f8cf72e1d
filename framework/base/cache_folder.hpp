#pragma once

#include <filesystem>

namespace graphline {

/// Where the program keeps what it found out about this machine: GRAPHLINE_CACHE, else the folder
/// graphline in XDG_CACHE_HOME, else in ~/.cache; empty when there is no home folder either.
std::filesystem::path cache_folder();

}  // namespace graphline
