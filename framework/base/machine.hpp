#pragma once

#include <cstdint>

namespace graphline {

/// CPUs that this program may keep busy at a time, at least 1: those that its affinity names, or
/// as many whole ones as its control groups give it the time of, where that is fewer. Further
/// threads would be stopped again and again.
int usable_cores();

/// Bytes of memory that this program may have in all: the machine's, or what its control groups
/// limit it to.
std::uint64_t memory_in_all();

/// Of these, bytes that can be allocated without swapping.
std::uint64_t available_memory();

}  // namespace graphline
