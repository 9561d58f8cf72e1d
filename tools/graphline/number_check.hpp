#pragma once

#include <CLI/App.hpp>
#include <cstdint>

namespace graphline {

/// For an option that takes a number of this range; adds nothing to what --help says of it.
CLI::Validator whole_number_from(std::int64_t least, std::int64_t most);
CLI::Validator number_from(double least, double most);

}  // namespace graphline
