#pragma once

#include <cstdint>
#include <vector>

#include "framework/record/run_record.hpp"

namespace graphline::samples {

/// Creates a run whose frames have these numbers of rows, or `skipped`. Frames begin every 2 ms:
/// - `find`, on the CPU: 100 us, in every frame
/// - `recognize`, on the device, with the capacity 4 and buckets of 1 and 4 rows: 100 us for each
///   row of the bucket and 1 us for each row of the frame; decided at 110 us, launched in 10 us.
///   Under `layers`, parts `conv` and `relu` take three quarters and one quarter of it.
/// - `decode`, on the CPU, with rows but without buckets: begins 20 us later, 10 us for each row
/// - `notify`, on the CPU, skipped unless there are rows: 5 us, after `decode`
///
/// A frame ends 5 us after its last stage. A stage that does not run is decided 10 us after the
/// stage before it.
run_record recognizer(const std::vector<std::int32_t>& rows,
                      timing_method timing = timing_method::event);

}  // namespace graphline::samples
