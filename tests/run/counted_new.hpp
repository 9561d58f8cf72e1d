#pragma once

// A program with counted_new.cpp has operators new that count, for all its threads.

#include <atomic>

namespace counted_new {

extern std::atomic<long> allocations;
extern std::atomic<long> bytes;  ///< of those without an alignment of their own

}  // namespace counted_new
