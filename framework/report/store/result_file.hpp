#pragma once

#include <span>
#include <string>
#include <string_view>

#include "framework/base/json_reader.hpp"

namespace graphline {

/// What a result file holds, by its schema.
struct result_kind {
  std::string_view name;     ///< of the schema, before the version: "graphline.run"
  std::string_view words;    ///< "a run"
  std::string_view command;  ///< of graphline, that writes it
  /// A sentence on what to do where this kind is not what is asked for; empty where nothing can be.
  std::string_view instead = {};
};

namespace result_kinds {
inline constexpr result_kind run{"graphline.run", "a run", "run"};
inline constexpr result_kind experiment{"graphline.experiment", "an experiment", "compare"};
inline constexpr result_kind calibration{"graphline.calibration", "a calibration of a device",
                                         "calibrate"};
inline constexpr result_kind capacity{"graphline.capacity", "a search for the highest rate",
                                      "capacity"};
inline constexpr result_kind roofline{"graphline.roofline", "a roofline", "roofline"};
}  // namespace result_kinds

/// A result file whose schema is one that was asked for.
struct result_file {
  nlohmann::ordered_json content;
  std::string schema;      ///< "graphline.run/1"
  std::size_t number = 0;  ///< of its kind among those asked for
};

/// Reads a result file of at most 1 GiB. `read`: the kinds that the caller reads, all of version
/// 1. `refused`: kinds of which more can be said than that they are not. Throws an `input_error`
/// that names the file and says what is wrong with it: line and column where it is no JSON, what
/// it is where it is something else.
result_file read_result_file(const std::string& path, std::span<const result_kind> read,
                             std::span<const result_kind> refused, wanted_key wanted);

/// Everything that is wrong with a file as a whole reads alike: throws an `input_error`.
[[noreturn]] void refuse_result(const std::string& path, std::string_view message);

}  // namespace graphline
