#pragma once

#include <functional>
#include <string>

#include "framework/report/render/terminal_style.hpp"

namespace graphline::samples {

/// Expects lines no longer than `width` and without spaces at their ends, and the same text in
/// color but for the color. `what`: what is shown with a failure.
void expect_to_fit(const std::string& what, std::size_t width,
                   const std::function<std::string(const terminal_style&)>& text_of);

}  // namespace graphline::samples
