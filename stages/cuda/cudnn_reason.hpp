#pragma once

#include <string>

namespace graphline {

/// What a message of cuDNN's frontend gives as the reason, in one line and not a long one: of a log
/// of refusals the first reason of each engine, "engine 2: is_group_conv; engine 4: ...".
std::string reason_in(const std::string& message);

/// Whether a message says that a graph is not supported, rather than that something went wrong such
/// as that there was no memory. The frontend folds every status into a few codes of its own; that
/// of cuDNN ends the message, after a log that may name many more.
bool is_about_support(const std::string& message);

}  // namespace graphline
