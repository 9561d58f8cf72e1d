#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "framework/base/error.hpp"

namespace graphline {

/// Returns a small unique number of the calling thread. Numbers are never reused.
std::uint32_t thread_number() noexcept;

/// Allocates a number for a row that reports show as a thread but that is not a system thread.
std::uint32_t new_thread_number(std::string_view name);

/// Names the calling thread in reports and, cut to 15 bytes, in system and vendor tools. If memory
/// is exhausted, reports show its number instead.
void name_thread(std::string_view name) noexcept;

/// Returns the name of the thread with this number, or "thread 7" if it has no name.
std::string thread_name(std::uint32_t number);

/// Returns the error for a thread that could not be started: "WHAT: system's reason; remedy".
run_error thread_start_error(std::string_view what, const std::system_error& why);

}  // namespace graphline
