#pragma once

#include <string_view>

#include "framework/base/file/text_sink.hpp"
#include "framework/record/experiment_record.hpp"

namespace graphline {

/// The first fields of the first line of `write_experiment_csv`, and so what every one begins with.
inline constexpr std::string_view experiment_csv_beginning = "id,configuration,member,";

/// The stamps of every trial, in the order in which trials ran: the rows of `write_run_csv`, each
/// after the id and the name of the configuration, that of the pipeline in it, a column for each
/// setting or parameter that varies (as the experiment names it, with "params." before the name of
/// a column that is there anyway; empty where a configuration does not set it), the block and the
/// trial (both from 0), and whether the trial counts in figures, failed, and was in a block in
/// which the machine was disturbed. Quoted as in RFC 4180, lines end in LF.
void write_experiment_csv(text_sink& to, const experiment_record& record);

}  // namespace graphline
