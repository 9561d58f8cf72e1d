#pragma once

// A program with counted_new.cpp has operators new that count, for all its threads.

#include <atomic>

namespace counted_new {

extern std::atomic<long> allocations;
extern std::atomic<long> bytes;    ///< of those without an alignment of their own
extern std::atomic<long> largest;  ///< a larger one of these fails

}  // namespace counted_new
