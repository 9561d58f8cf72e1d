#pragma once

#include "framework/base/file/text_sink.hpp"
#include "framework/record/capacity_record.hpp"
#include "framework/record/experiment_record.hpp"
#include "framework/record/run_record.hpp"
#include "framework/report/document.hpp"

namespace graphline {

namespace report {

/// A result file: what the document says and the record it was made of, without loss. Of a run, an
/// experiment, a roofline or a search for the highest rate.
template <class Record>
void write_result(text_sink& to, const document& says, const Record& record);

}  // namespace report
}  // namespace graphline
