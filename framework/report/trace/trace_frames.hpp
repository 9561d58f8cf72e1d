#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "framework/record/run_record.hpp"
#include "framework/report/trace/trace_text.hpp"

namespace graphline {

// The processes of a trace, from the top.
inline constexpr int frames_process = 1;
inline constexpr int host_process = 2;
inline constexpr int device_process = 3;

/// Of the first row of frames; further rows and the lanes follow. No process has such a number, for
/// Perfetto takes a thread that has its process's number for the main one.
inline constexpr std::size_t first_thread = 4;

/// Of the colors that chrome://tracing knows by name; neighbors in time differ.
std::string_view color_of(std::size_t frame) noexcept;

/// Frames in as few rows as it takes for those of a row not to overlap, from 0.
struct frame_rows {
  std::vector<std::size_t> row;  ///< by frame
  std::size_t count = 0;
};
frame_rows rows_of(const std::vector<frame_record>& frames);

/// Frames from their begin to their end, row r of them on thread `first_thread` + r of
/// `frames_process`; what they waited before; how many were in flight and waited; those that were
/// dropped.
void write_frames(trace_text& to, const run_record& record, const frame_rows& rows);

}  // namespace graphline
