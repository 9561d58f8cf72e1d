#pragma once

// Random pipelines with `rows`, `when` and `otherwise`, and an interpreter that computes from their
// spec what each frame must do.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "framework/device/host/host_device.hpp"
#include "framework/record/run_record.hpp"
#include "framework/spec/pipeline_spec.hpp"
#include "framework/stage/stage_registry.hpp"

namespace graphline::testing_decisions {

inline constexpr std::int64_t most_rows = 5;
inline constexpr std::int64_t columns = 3;

/// Enqueues an operation that reads and writes `operands`.
using launcher = std::function<void(stream&, host_operation&, const std::vector<const void*>&)>;

/// Called with what a stage of the kind `cpu_number` wrote in a frame.
using observer =
    std::function<void(const std::string& stage, std::int64_t frame, std::int64_t number)>;

/// `table` and `cpu_table` read tables int64 [5, 3] and write one. Their rows are independent; the
/// device kind overwrites the rows beyond its bucket. `number` and `cpu_number` read tables and
/// numbers int64 [1], and write a number below their argument `modulus`. A number that they read
/// limits the rows of the tables that follow it. CPU stages add the frame's number. And a `copy`.
stage_registry make_registry(const std::string& backend, const launcher& launch,
                             const observer& seen = {});

/// These kinds on the `host` device.
stage_registry make_host_registry(const observer& seen = {});

/// Adds a stage without `rows`, `when` and `otherwise`.
stage_spec& add_stage(pipeline_spec& spec, const std::string& name, const std::string& kind,
                      const std::vector<std::string>& reads, std::int64_t salt,
                      std::int64_t modulus = 8);

/// Draws up to 16 stages over the inputs `x`, a table, and `one`, a number.
pipeline_spec draw(std::mt19937& random);

/// A line for each stage, for messages.
std::string lines_of(const pipeline_spec& spec);

/// A tensor after a frame.
struct written {
  bool missing = false;
  std::optional<std::int64_t> rows;  ///< as in `output_record`
  std::vector<std::int64_t> values;  ///< of the first rows
};

struct interpretation {
  /// By stage: `stage_record::rows` by frame, from the first warm-up frame; empty for a stage that
  /// always runs.
  std::map<std::string, std::vector<std::int32_t>> rows;
  std::map<std::string, std::vector<std::int64_t>> numbers;  ///< by stage of `cpu_number`: by frame
  std::map<std::string, written> tensors;                    ///< after the last frame
};

interpretation interpret(const pipeline_spec& spec, std::int64_t frames);

/// Compares decisions and outputs of a run that began with frame 0.
void expect_as_interpreted(const run_record& record, const interpretation& expected);

/// Expects that stages take no time in frames that do not run them, and that parts take none in
/// frames of another bucket.
void expect_no_time_where_skipped(const run_record& record);

}  // namespace graphline::testing_decisions
