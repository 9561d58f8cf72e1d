// The file of an experiment's trials, as `graphline compare` opens it with and without --resume.

#include "framework/report/store/trial_store.hpp"

#include "framework/base/error.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/report/store/sample_plan.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace graphline;
  static const temporary_folder folder;
  static const std::string path = folder.path() / "input.trials.jsonl";
  static const auto planned = samples::sample_plan();
  fuzz::write(path, data, size);
  for (const auto how : {store_opening::resume, store_opening::fresh}) {
    fuzz::read_or_refuse<input_error>([&] { trial_store(path, planned, how).take_trials(); });
  }
  return 0;
}
