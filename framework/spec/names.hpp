#pragma once

#include <string_view>

#include "framework/base/diagnostic.hpp"
#include "framework/spec/node.hpp"

namespace graphline {

/// Whether `text` may name a pipeline, a stage, a tensor or a parameter: letters (of any script),
/// digits, "_", "-" and ".", at most 100 bytes, and not "." or "..", since names become file names.
bool is_name(std::string_view text) noexcept;

/// Reports what is no name, as "the name of a stage" where `what` says so. Answers `is_name`.
bool check_name(const named& name, std::string_view what, diagnostics& out);

/// Reports what cannot name a configuration or a member of an experiment, as "the name of a member"
/// where `what` says so: an empty text, control characters, more than 100 bytes. Such names are
/// only shown, so that all else may stand in them. Answers whether it is fine.
bool check_label(const named& name, std::string_view what, diagnostics& out);

}  // namespace graphline
