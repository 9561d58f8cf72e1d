#pragma once

#include <memory>
#include <optional>

#include "framework/base/diagnostic.hpp"

namespace graphline {

/// What keeps a text from being YAML before its structure is looked at: bytes that are not UTF-8,
/// or control characters (YAML 1.2, section 5.1). Nothing if it is fine.
std::optional<diagnostic> find_unreadable(const std::shared_ptr<const source_text>& source);

}  // namespace graphline
