#pragma once

#include <functional>
#include <string_view>

#include "framework/base/file/text_sink.hpp"

namespace graphline {

/// What every text that `write_gzip` writes begins with.
inline constexpr std::string_view gzip_beginning = "\x1f\x8b";

/// Writes what `text` writes in the gzip format (RFC 1952). Throws `run_error` where there is no
/// memory to compress with.
void write_gzip(text_sink& to, const std::function<void(text_sink&)>& text);

}  // namespace graphline
