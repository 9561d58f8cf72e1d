#include "framework/report/store/write_result.hpp"

#include "framework/report/json/compact_json.hpp"
#include "framework/report/json/record_json.hpp"
#include "framework/report/render/render.hpp"

namespace graphline::report {

template <class Record>
void write_result(text_sink& to, const document& says, const Record& record) {
  const last_entry raw{"record", [&record](text_sink& sink) {
                         compact_json text(sink);
                         write_record(text, record);
                         text.finish();
                       }};
  write_json(to, says, &raw);
}
template void write_result(text_sink&, const document&, const run_record&);
template void write_result(text_sink&, const document&, const roofline_record&);
template void write_result(text_sink&, const document&, const capacity_record&);
template void write_result(text_sink&, const document&, const experiment_record&);

}  // namespace graphline::report
