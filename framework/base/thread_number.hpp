#pragma once

#include <cstdint>
#include <string>

namespace graphline {

/// A small number for the calling thread: its own for as long as it lives, and never given to
/// another one.
std::uint32_t thread_number() noexcept;

/// Names the calling thread in reports and, cut to 15 bytes, in the system's and the vendor's
/// tools.
void name_thread(const std::string& name);

/// The name of the thread that has, or had, a number: "thread 7" for one that was not named.
std::string thread_name(std::uint32_t number);

}  // namespace graphline
