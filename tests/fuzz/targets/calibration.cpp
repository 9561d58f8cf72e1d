// A calibration, as commands find it in the cache and `graphline report` shows it.

#include "framework/analysis/roofline/ceilings.hpp"
#include "framework/base/error.hpp"
#include "framework/report/describe/describe.hpp"
#include "framework/report/render/render.hpp"
#include "framework/report/store/calibration_store.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/report/sample_calibrations.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace graphline;
  static const temporary_folder folder;
  static const calibration_store store(folder.path());
  static const auto sample = samples::host_calibration();
  static const std::string path = [] {
    const auto name = store.path_of(sample.device);
    std::filesystem::create_directories(std::filesystem::path(name).parent_path());
    return name;
  }();
  fuzz::write(path, data, size);
  fuzz::read_or_refuse<input_error>([&] {
    const auto found = store.find(sample.device);
    figures_of(*found);
    stale_reasons(*found, sample.device, sample.environment);
    report::as_text(report::describe(*found));
  });
  return 0;
}
