#pragma once

#include <cstdint>

#include "framework/base/file/text_sink.hpp"
#include "framework/record/roofline_record.hpp"

namespace graphline {

/// The record and what was made of it as `graphline.roofline/1`, which docs/results.md explains.
void write_roofline_json(text_sink& to, const roofline_record& record);

/// About how large it becomes, for reserving it on the disk.
std::uint64_t expected_roofline_json_bytes(std::int64_t frames, std::size_t stages);

}  // namespace graphline
