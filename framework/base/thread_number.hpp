#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "framework/base/error.hpp"

namespace graphline {

/// A small number for the calling thread: its own for as long as it lives, and never given to
/// another one.
std::uint32_t thread_number() noexcept;

/// A number for what reports show as a thread of that name and is none of the system's.
std::uint32_t new_thread_number(std::string_view name);

/// Names the calling thread in reports and, cut to 15 bytes, in the system's and the vendor's
/// tools. Without memory for that, reports show its number.
void name_thread(std::string_view name) noexcept;

/// The name of the thread that has, or had, a number: "thread 7" for one that was not named.
std::string thread_name(std::uint32_t number);

/// The error where a thread could not be started: "WHAT: the system's reason; the remedy".
run_error thread_start_error(std::string_view what, const std::system_error& why);

}  // namespace graphline
