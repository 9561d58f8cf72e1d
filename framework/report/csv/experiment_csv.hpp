#pragma once

#include <cstdint>
#include <string_view>

#include "framework/base/file/text_sink.hpp"
#include "framework/plan/experiment_plan.hpp"
#include "framework/record/experiment_record.hpp"

namespace graphline {

/// The first fields of the first line of `write_experiment_csv`, and so what every one begins with.
inline constexpr std::string_view experiment_csv_beginning = "configuration,member,block,";

/// The stamps of every trial, in the order in which trials ran: the rows of `write_run_csv`, each
/// with the name of the configuration, that of the pipeline in it and the block (from 0, as frames
/// are counted) before it. Trials that did not run to their end are in it too, with the frames they
/// have. Quoted as in RFC 4180, lines end in LF.
void write_experiment_csv(text_sink& to, const experiment_record& record);

/// About how large it becomes, for reserving it on the disk.
std::uint64_t expected_experiment_csv_bytes(const experiment_plan& planned);

}  // namespace graphline
