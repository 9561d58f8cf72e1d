#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace graphline {

/// The first `bytes` bytes of the data that a shared library exports under a name, read from its
/// file, so that no code of it runs. Nothing where there is no such data, or the file is no sound
/// library of this machine's kind: whatever it holds is harmless.
std::optional<std::string> exported_data(const std::string& file, std::string_view name,
                                         std::size_t bytes);

}  // namespace graphline
