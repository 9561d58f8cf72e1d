#pragma once

#include <optional>
#include <string_view>

#include "framework/spec/node.hpp"

namespace graphline {

/// The parameter that a scalar stands for: "batch" for an unquoted $batch, else nothing.
std::optional<std::string_view> parameter_reference(const node& n) noexcept;

/// True for a reference in a file that no value took the place of. That has been reported where the
/// parameters were resolved, so typed reading stays quiet about it.
bool is_unresolved(const node& n) noexcept;

/// Whether the value or anything in it is unresolved.
bool holds_unresolved(const node& n) noexcept;

}  // namespace graphline
