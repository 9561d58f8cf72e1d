#include "framework/analysis/roofline/ceiling_label.hpp"
#include "framework/analysis/roofline/ceilings.hpp"
#include "framework/report/json/calibration_json.hpp"
#include "framework/report/store/result_parts.hpp"
#include "framework/report/store/saved_readers.hpp"

namespace graphline {

saved_calibration saved_calibration_of(const json_part& result) {
  const auto record = calibration_record_from(result);
  saved_calibration calibration;
  calibration.origin = origin_of(result);
  calibration.origin.subject = record.device.name;
  for (const auto& ceiling : record.ceilings) {
    calibration.origin.settings.emplace_back(label_of(ceiling.what, ceiling.arithmetic),
                                             ceiling.how);
  }
  calibration.ceilings = figures_of(record);
  calibration.interrupted = record.interrupted;
  return calibration;
}

}  // namespace graphline
