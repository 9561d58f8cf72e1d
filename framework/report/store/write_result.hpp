#pragma once

#include "framework/base/file/text_sink.hpp"
#include "framework/report/document.hpp"
#include "framework/report/json/record_json.hpp"
#include "framework/report/render/render.hpp"

namespace graphline::report {

/// A result file: what the document says and the record it was made of, without loss. Of any kind
/// but a calibration, which is its own record.
template <class Record>
void write_result(text_sink& to, const document& says, const Record& record) {
  write_json(to, says, record_json(&record));
}

}  // namespace graphline::report
