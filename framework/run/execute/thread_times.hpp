#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "framework/record/run_record.hpp"

namespace graphline {

/// What the system's scheduler says of the threads of this process, by their number.
using thread_clocks = std::map<int, thread_time>;

/// Now; empty where the system does not say. Reads a file for each thread: not for the path of a
/// frame.
thread_clocks read_thread_clocks();

/// A line of /proc/PID/task/TID/schedstat: nanoseconds on a CPU, nanoseconds ready and waiting for
/// one, and a count. False for anything else.
bool parse_schedstat(std::string_view text, thread_time& into);

/// What threads did between two readings, those of one name together; only those that ran or
/// waited.
std::vector<thread_time> between(const thread_clocks& before, const thread_clocks& after);

}  // namespace graphline
