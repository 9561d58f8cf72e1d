#pragma once

#include <iterator>
#include <string_view>
#include <variant>

#include "framework/plan/cost_summary.hpp"
#include "framework/record/calibration_record.hpp"
#include "framework/record/capacity_record.hpp"
#include "framework/record/experiment_record.hpp"
#include "framework/record/ranks_record.hpp"
#include "framework/record/roofline_record.hpp"
#include "framework/record/run_record.hpp"
#include "framework/record/validation_record.hpp"

namespace graphline {

// Kinds of result files that `report` and `diff` read. A new kind needs a record with `fields`, a
// line in both lists here, and a function `describe`.

using any_record = std::variant<run_record, experiment_record, roofline_record, calibration_record,
                                capacity_record, validation_record, cost_summary, ranks_record>;

struct result_kind {
  std::string_view name;       ///< schema without version
  std::string_view words;      ///< "a run"
  std::string_view command;    ///< command that writes the result
  bool bare = false;           ///< the file is the record; it has no key "record"
  std::string_view also = "";  ///< other commands that write it
};

/// In the order of `any_record`.
inline constexpr result_kind result_kinds[] = {
    {"graphline.run", "a run", "run", false, ", predict"},
    {"graphline.experiment", "an experiment", "compare", false, ", overhead, search"},
    {"graphline.roofline", "a roofline", "roofline"},
    {"graphline.calibration", "a calibration of a device", "calibrate", true},
    {"graphline.capacity", "a search for the highest rate", "capacity"},
    {"graphline.validation", "a validation of predictions", "predict --validate"},
    {"graphline.inspect", "what a pipeline amounts to", "inspect"},
    {"graphline.ranks", "a run on several ranks", "run"}};
static_assert(std::size(result_kinds) == std::variant_size_v<any_record>);

template <class Records>
struct pointers_to;
template <class... Record>
struct pointers_to<std::variant<Record...>> {
  using type = std::variant<const Record*...>;
};

/// A pointer to a record of any kind.
using record_view = pointers_to<any_record>::type;

}  // namespace graphline
