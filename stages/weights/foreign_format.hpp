#pragma once

#include <string>
#include <string_view>

namespace graphline {

/// What a file is that somebody named as weights but is no safetensors file, told by its first
/// bytes (64 suffice), with the remedy: "a JPEG picture, not a safetensors file; ...". Empty where
/// it is of no format that is known here.
std::string describe_foreign_format(std::string_view beginning);

}  // namespace graphline
