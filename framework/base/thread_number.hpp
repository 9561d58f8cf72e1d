#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "framework/base/error.hpp"

namespace graphline {

/// Returns the calling thread's number. Numbers are small, unique and never reused.
std::uint32_t thread_number() noexcept;

/// Allocates a number for a simulated thread, which reports show like a system thread.
std::uint32_t new_thread_number(std::string_view name);

/// Names the calling thread in reports and, cut to 15 bytes, in system and vendor tools.
void name_thread(std::string_view name) noexcept;

/// Returns the name of the thread with this number, or "thread 7" if it has no name.
std::string thread_name(std::uint32_t number);

/// Returns the error for a thread that failed to start: "WHAT: the system's reason; remedy".
run_error thread_start_error(std::string_view what, const std::system_error& why);

}  // namespace graphline
